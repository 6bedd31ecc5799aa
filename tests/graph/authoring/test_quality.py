"""The report finds what it should find, and the shipped graph is held to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.assets import GRAPHS
from kgqa.graph.authoring.compiling import SourceGraph, read_folder
from kgqa.graph.authoring.quality import Report, draw, examine

DATA = GRAPHS


def built(folder: Path, text: str) -> SourceGraph:
    (folder / "a.txt").write_text(f"domain: test\n{text}", encoding="utf-8")
    return read_folder(folder, DATA / "relations.toml")


def test_finds_each_fault(tmp_path: Path) -> None:
    report = examine(
        built(
            tmp_path,
            "trowel\n  also: hand tool\n  ko: 모종삽\n  IsA: tool\n  DistinctFrom: tool\n"
            "tool\n  IsA: trowel\n"
            "hand tool\n  ko: 수공구\n  Antonym: qwrtz\n  SimilarTo: qwrtz\n"
            "lonely\n  ko: 외로운\n",
        )
    )
    assert report.faults["no facts"] == ["lonely"]
    assert report.faults["no Korean label"] == ["tool", "qwrtz"]
    assert [line.split("  (")[0] for line in report.faults["under 3 facts"]] == ["tool", "qwrtz"]
    assert any("Antonym" in line and "SimilarTo" in line for line in report.faults["contradictions"])
    assert any("each IsA the other" in line for line in report.faults["contradictions"])
    assert report.faults["connectivity"] == ["under 99% in one component"]
    assert report.remarks["tails without a block, most used first"] == ["   1 qwrtz"]
    assert report.remarks["words no dictionary knows"] == ["qwrtz (qwrtz)"]
    assert not report.clean


def test_a_clean_graph(tmp_path: Path) -> None:
    ring = "".join(
        f"{one}\n  ko: {one}\n  AtLocation: {two}\n  UsedFor: {two}\n"
        for one, two in (("dog", "house"), ("house", "garden"), ("garden", "dog"))
    )
    report = examine(built(tmp_path, ring))
    assert report.clean and report.share_connected == 1.0 and report.mean_path == 1.0
    assert report.domains == {"test": (3, 6)}
    assert "none: contradictions: 0" in report.text()


def test_long_lists_say_that_they_are_cut() -> None:
    report = Report(faults={"no facts": [str(n) for n in range(30)]})
    assert "... and 10 more" in report.text(20)
    assert "more" not in report.text(None)


def test_facts_are_drawn_by_domain_and_alike_each_time(tmp_path: Path) -> None:
    graph = built(tmp_path, "trowel\n  ko: 모종삽\n  UsedFor: plant flowers; dig\n  AtLocation: garden\n")
    drawn = draw(graph, 2, seed=1)
    assert drawn == draw(graph, 2, seed=1) and list(drawn) == ["test"]
    assert len(drawn["test"]) == 2 and len(draw(graph, 9)["test"]) == 3
    assert "trowel | is found at | garden" in draw(graph, 9)["test"]


@pytest.mark.xdist_group("everyday")
def test_the_shipped_graph_has_no_fault(everyday_sources: SourceGraph) -> None:
    """What `kgqa graph build graph_data/everyday --check` finds, all of it."""
    report = examine(everyday_sources, samples=10)
    assert report.clean, report.text()
    assert report.concepts >= 15_000 and report.facts >= 100_000

"""The report finds what it should find, and the shipped graph is held to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_data.build.compile import SourceGraph, add_scale, read_folder
from graph_data.build.quality import (
    Report,
    circular,
    draw,
    examine,
    indistinguishable,
    near_duplicates,
    out_of_order,
)
from graph_data.build.tables import Order, Scale
from kgqa.settings import GRAPHS
from kgqa.types import InputError

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


def test_what_is_alike(tmp_path: Path) -> None:
    graph = built(
        tmp_path,
        "call a friend\n  ko: 친구에게 전화하다\n  type: action\n  HasAgent: child\n"
        "call your friends\n  ko: 친구들에게 전화하다\n  type: action\n  HasInstrument: phone\n"
        "stop a flood\n  ko: 홍수를 막다\n  type: action\n  HasInstrument: dam\n"
        "keep out the flood\n  ko: 홍수를 막다\n  type: action\n  HasInstrument: sandbag\n"
        "build a dam\n  ko: 홍수를 막다\n  type: action\n  HasAgent: beaver\n"
        "wash\n  ko: 씻다\n  type: action\n  HasInstrument: soap\n"
        "rose\n  ko: 장미\n  type: plant\n  HasA: thorn\n"
        "red rose\n  ko: 장미\n  type: plant\n  IsA: rose\n",
    )
    assert near_duplicates(graph) == [
        "call a friend / call your friends",
        "stop a flood / keep out the flood",
    ]
    assert near_duplicates(graph) == examine(graph).faults["one thing, two concepts"]


def test_pairs_that_nothing_tells_apart(tmp_path: Path) -> None:
    text = "viola\n  IsA: instrument\n  DistinctFrom: cello\ncello\n  IsA: instrument\n  HasProperty: big\n"
    assert [line.split("  (")[0] for line in indistinguishable(built(tmp_path, text))] == ["viola / cello"]
    assert not indistinguishable(built(tmp_path, f"{text}viola\n  AtLocation: string quartet\n"))


def test_typicality_is_tested_by_order(tmp_path: Path) -> None:
    graph = built(tmp_path, "dig\n  HasInstrument: shovel *2; excavator\n")
    kept = Order("dig", "HasInstrument", ("shovel", "excavator", "spoon"))
    turned = Order("dig", "HasInstrument", ("excavator", "shovel"))
    graph.orders = [kept, turned, Order("swim", "HasInstrument", ("fin",))]
    assert out_of_order(graph) == [
        "dig HasInstrument: excavator 1, shovel 2",
        "swim HasInstrument: fin 0",
    ]
    assert "typicality out of order: 2" in examine(graph).text()


def test_nothing_is_more_than_itself(tmp_path: Path) -> None:
    text = "ant\n  IsA: animal\ncat\n  LargerThan: ant\ndog\n  LargerThan: cat\nlorry\n  LargerThan: dog\n"
    graph = built(tmp_path, text)
    assert not circular(graph)
    add_scale(graph, Scale("LargerThan", (("lorry",), ("dog",), ("ant",))))
    assert [sorted(line.removeprefix("LargerThan: ").split(", ")) for line in circular(graph)] == [
        ["ant", "cat", "dog", "lorry"]
    ]
    with pytest.raises(InputError, match=r"scales.toml: no concept or relation yeti"):
        add_scale(graph, Scale("LargerThan", (("ant",), ("yeti",))))


def test_a_scale_compares_things_two_levels_apart(tmp_path: Path) -> None:
    names = ["flea", "ant", "mouse", "rat", "cat"]
    graph = built(tmp_path, "".join(f"{name}\n  IsA: animal\n" for name in names))
    add_scale(graph, Scale("LargerThan", (("ant", "flea"), ("mouse",), ("cat", "rat"))))
    larger = {
        (graph.concepts[fact.head].label, graph.concepts[fact.tail].label)
        for fact in graph.facts
        if fact.relation == "LargerThan"
    }
    assert larger == {("cat", "ant"), ("rat", "ant"), ("cat", "flea")}

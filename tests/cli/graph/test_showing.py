"""What is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from graph_commands import refused, run

from kgqa.cli.graph.showing import print_json, print_table, show_manifest
from kgqa.graph.meanings import is_kind
from kgqa.graph.storage.store import GraphStore
from kgqa.graph.storage.writer import write_store
from kgqa.types import Triple

MANIFEST = {
    "name": "garden",
    "hash": "ab",
    "edges": 1200,
    "entities": 3,
    "labels": 4,
    "languages": ["", "en", "ko"],
    "graphs": [""],
    "self_loops_dropped": 2,
    "skipped": {"empty list": 1},
    "relations": [{"name": f"r{i}", "label": f"r {i}", "words": "", "count": i} for i in range(31)],
    "warnings": ["one hub"],
}


def test_letters_stay_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"label": "모종삽"})
    out = capsys.readouterr().out
    assert "모종삽" in out and json.loads(out)


def test_empty_columns_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["label", "from"], [["[bold]x", ""], ["y", ""]])
    out = capsys.readouterr().out
    assert "from" not in out and "[bold]x" in out


def test_a_manifest_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    show_manifest(MANIFEST, Path("there"), as_json=False)
    said = capsys.readouterr()
    assert "there: 1,200 facts, 3 concepts" in said.out and "languages: en, ko" in said.out
    assert "left out: 1 empty list\nleft out: 2 fact from a concept to itself\n" in said.out
    assert "and 1 more relations" in said.out and said.err == "warning: one hub\n"


def test_an_endpoint(capsys: pytest.CaptureFixture[str]) -> None:
    show_manifest({"name": "there", "holds_facts": False}, None, as_json=False)
    assert "default graph is empty" in capsys.readouterr().out


def test_what_is_set_is_kept_and_shown(tmp_path: Path) -> None:
    folder = str(tmp_path / "store")
    write_store([Triple("bee", "art", "insect"), Triple("bee", "mass", '"90 mg"')], folder)
    told = run("describe", folder, "--relation", "art", "--means", "kind, narrows", "--incomplete")
    assert "kind, narrows" in told and "may be so" in told and "in mg" in told
    graph = GraphStore.open(folder)
    assert not graph.is_complete and any(map(is_kind, graph.relations))
    assert "kind, narrows" in run("info", folder)
    assert "may be so" not in run("describe", folder, "--complete")
    run("describe", folder, "--relation", "ART", "--means", "")
    assert not any(map(is_kind, GraphStore.open(folder).relations))
    assert "no relation" in refused("describe", folder, "--relation", "size", "--means", "kind")
    assert "no meaning" in refused("describe", folder, "--relation", "art", "--means", "sort")

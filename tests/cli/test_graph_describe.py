"""What is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from graph_commands import refused, run

from kgqa.cli.graph import print_json, print_table, show_manifest
from kgqa.graph.relation_types import is_type_relation
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
    output = capsys.readouterr()
    assert "there: 1,200 facts, 3 concepts" in output.out and "languages: en, ko" in output.out
    assert "left out: empty list (1)\nleft out: fact from a concept to itself (2)\n" in output.out
    assert "and 1 more relations" in output.out and output.err == "warning: one hub\n"


def test_an_endpoint(capsys: pytest.CaptureFixture[str]) -> None:
    show_manifest({"name": "there", "holds_facts": False}, None, as_json=False)
    assert "default graph is empty" in capsys.readouterr().out


def test_what_is_set_is_kept_and_shown(tmp_path: Path) -> None:
    folder = str(tmp_path / "store")
    write_store([Triple("bee", "art", "insect"), Triple("bee", "mass", '"90 mg"')], folder)
    reported = run("describe", folder, "--relation", "art", "--type", "kind, narrows", "--open-world")
    assert "kind, narrows" in reported and "may be true" in reported and "in mg" in reported
    graph = GraphStore.open(folder)
    assert not graph.closed_world and any(map(is_type_relation, graph.relations))
    assert "kind, narrows" in run("info", folder)
    assert "may be true" not in run("describe", folder, "--closed-world")
    run("describe", folder, "--relation", "ART", "--type", "")
    assert not any(map(is_type_relation, GraphStore.open(folder).relations))
    assert "no relation" in refused("describe", folder, "--relation", "size", "--type", "kind")
    assert "unknown relation type" in refused("describe", folder, "--relation", "art", "--type", "sort")

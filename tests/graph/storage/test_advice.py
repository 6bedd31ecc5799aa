"""Warnings about what will not be usable."""

from __future__ import annotations

from pathlib import Path

from kgqa.graph.storage.store import Label, write_store
from kgqa.types import Triple


def warnings(folder: Path, *statements: Triple | Label) -> list[str]:
    found: list[str] = write_store(statements, folder / "g")["warnings"]
    return found


def test_no_facts(tmp_path: Path) -> None:
    assert "No facts" in warnings(tmp_path)[0]


def test_no_labels(tmp_path: Path) -> None:
    triple = Triple("http://x/Q1", "UsedFor", "http://x/Q2")
    assert "no label" in warnings(tmp_path, triple)[0]
    labels = [Label("http://x/Q1", "spade"), Label("http://x/Q2", "dig")]
    assert warnings(tmp_path, triple, *labels) == []


def test_hub_and_mute_relations(tmp_path: Path) -> None:
    found = warnings(tmp_path, *(Triple("thing", "http://x/p1", f"thing {i}") for i in range(2000)))
    assert "2,000 of 2,000" in found[0]
    assert "http://x/p1" in found[1]

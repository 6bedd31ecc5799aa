"""A store folder appears whole or not at all."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgqa.graph.storage.store import GraphStore
from kgqa.graph.storage.writer import write_store
from kgqa.types import InputError, Label, Triple


def failing() -> Iterator[Triple]:
    yield Triple("a", "r", "b")
    raise InputError("x.nt:2: broken")


def test_failure_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        write_store(failing(), tmp_path / "g")
    assert list(tmp_path.iterdir()) == []


def test_failure_leaves_the_old_store(tmp_path: Path) -> None:
    write_store([Triple("a", "r", "b")], tmp_path / "g")
    with pytest.raises(InputError):
        write_store(failing(), tmp_path / "g")
    assert GraphStore.open(tmp_path / "g").edge_count == 1
    assert [path.name for path in tmp_path.iterdir()] == ["g"]


def test_replaces_a_store_but_no_other_folder(tmp_path: Path) -> None:
    write_store([Triple("a", "r", "b")], tmp_path / "g")
    opened = GraphStore.open(tmp_path / "g")
    write_store([Triple("a", "r", "b"), Triple("a", "r", "c")], tmp_path / "g", about={"licence": "CC0"})
    assert GraphStore.open(tmp_path / "g").manifest["licence"] == "CC0"
    assert opened.labels(opened.ids(["b"])) == ["b"]  # the old mapping stays readable
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="other files"):
        write_store([], tmp_path / "home")
    (tmp_path / "home" / "manifest.json").write_text('{"name": "a web page"}')  # as many folders have
    (tmp_path / "g" / "letter.txt").write_text("dear")
    for folder in (tmp_path / "home", tmp_path / "g"):
        with pytest.raises(InputError, match="other files than a graph store"):
            write_store([Triple("a", "r", "b")], folder)
        assert (folder / "letter.txt").read_text() == "dear"


def test_what_a_killed_import_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".g-1234.part").mkdir()
    write_store([Triple("a", "r", "b")], tmp_path / "g")
    assert [path.name for path in tmp_path.iterdir()] == ["g"]


def write_many(folder: Path, count: int) -> None:
    for _ in range(3):
        write_store([Triple("a", "r", str(i)) for i in range(count)], folder)


def test_two_writers_do_not_corrupt(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.starmap_async(write_many, [(tmp_path / "g", n) for n in (5, 9)], 1).get(timeout=120)
    assert GraphStore.open(tmp_path / "g").edge_count in (5, 9)
    assert [path.name for path in tmp_path.iterdir()] == ["g"]


def warnings(folder: Path, *statements: Triple | Label) -> list[str]:
    found: list[str] = write_store(statements, folder / "g")["warnings"]
    return found


def test_literals_are_no_things_without_labels(tmp_path: Path) -> None:
    number = "http://www.w3.org/2001/XMLSchema#integer"
    facts = [Triple(f"http://x/t{i}", "http://x/age", f'"{i}"^^<{number}>') for i in range(40)]
    labels = [Label(f"http://x/t{i}", f"thing {i}") for i in range(18)]
    relation = Label("http://x/age", "age")
    (reported,) = warnings(tmp_path, *facts, *labels, relation)
    assert reported.startswith("22 of 40 concepts have no label")


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


def test_a_disk_that_is_full_is_told_in_one_line_by_whatever_meets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("8 requested and 0 written")  # numpy's `tofile`, without a number

    monkeypatch.setattr("kgqa.graph.storage.writer.sort_by_head", full)
    with pytest.raises(InputError, match="8 requested and 0 written; make room"):
        write_store([Triple("a", "r", "b")], tmp_path / "g")
    assert list(tmp_path.iterdir()) == []

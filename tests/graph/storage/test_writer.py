"""A store folder appears whole or not at all."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kgqa.graph.formats.source_files import Batch
from kgqa.graph.storage.store import GraphStore
from kgqa.graph.storage.writer import Names, Scratch, sort_by_head, sort_by_tail, write_store
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


# Names to ids, and label columns.


def test_names_in_order_of_appearance(tmp_path: Path) -> None:
    names = Names(tmp_path / "names.bin")
    assert names.add(["b", "a", "b"]).tolist() == [0, 1, 0]
    assert names.add(["c", "a", "é", "c"]).tolist() == [2, 1, 3, 2]
    assert (names.find("c"), names.find("z")) == (2, -1)
    names.close()
    assert (tmp_path / "names.bin").read_text(encoding="utf-8") == "bacé"
    assert names.lengths().tolist() == [1, 1, 1, 2]


def test_relation_labels_in_the_wanted_language(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path / "scratch")
    labels = [Label("r", "relation", "fr"), Label("r", "Beziehung", "de"), Label("a", "A"), Label("a", "A")]
    scratch.add(Batch(["a", "a"], ["r", "r"], ["b", "a"], labels=labels))
    scratch.close()
    assert (scratch.edge_count, scratch.self_loops) == (1, 1)
    assert scratch.write_labels(scratch.used_entities(), tmp_path, "de", ["r", "none"]) == {
        "r": ["Beziehung"]
    }
    assert (tmp_path / "label_text.bin").read_bytes() == b"A"


def test_a_name_that_all_share_is_better_than_another_name(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path / "scratch")
    labels = [
        Label("a", "dandelion", "en", preferred=False),
        Label("a", "Taraxacum", "la"),
        Label("b", "foxglove", "en"),
        Label("b", "Digitalis", "la"),
        Label("c", "harebell", "en", preferred=False),
        Label("c", "Glockenblume", "de"),
    ]
    scratch.add(Batch(["a", "b"], ["r", "r"], ["b", "c"], labels=labels))
    scratch.close()
    scratch.write_labels(scratch.used_entities(), tmp_path, "en", [])
    texts = (tmp_path / "label_text.bin").read_bytes()
    assert texts == b"TaraxacumdandelionfoxgloveDigitalisharebellGlockenblume"


def test_what_is_called_so_everywhere_goes_before_latin(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path / "scratch")
    labels = [
        Label("a", "Lindesia", "la"),
        Label("a", "Linden", "mul"),
        Label("b", "Linde", "de"),
        Label("b", "Tilia", "la"),
    ]
    scratch.add(
        Batch(["a", "b", "c"], ["r", "r", "r"], ["b", "c", "a"], labels=[*labels, Label("c", "Lind", "sv")])
    )
    scratch.close()
    scratch.write_labels(scratch.used_entities(), tmp_path, "en", [])
    assert (tmp_path / "label_text.bin").read_bytes() == b"LindenLindesiaTiliaLindeLind"
    foreign, foreign_only = scratch.foreign_labels(tmp_path, "en")
    assert foreign.tolist() == [False, False, False, True, False] and foreign_only.tolist() == [
        False,
        False,
        True,
    ]


def test_what_has_a_label_alone_is_known_too(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path / "scratch")
    labels = [
        Label("r", "relation"),
        Label("p", "unused"),
        Label("x", "Lone"),
        Label("y", "also", preferred=False),
    ]
    scratch.add(Batch(["a"], ["r"], ["b"], labels=labels))
    scratch.close()
    named = scratch.named_entities(["p"])
    assert [bool(named[scratch.names.find(name)]) for name in "rpxy"] == [False, False, True, False]


# Sorting part by part gives what sorting at once gives.


@pytest.mark.parametrize("weighted", [True, False])
def test_parts_and_whole_agree(tmp_path: Path, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    heads, tails = ([f"e{i}" for i in rng.integers(0, 40, 500)] for _ in range(2))
    relations = [f"r{i}" for i in rng.integers(0, 3, 500)]
    weights = rng.random(500).tolist() if weighted else []
    scratch = Scratch(tmp_path / "scratch")
    scratch.add(Batch(heads, relations, tails, weights))
    scratch.close()
    size = len(scratch.names)
    found = {}
    for part in (7, 10_000):
        folder = tmp_path / str(part)
        folder.mkdir()
        degrees = sort_by_head(scratch, np.arange(size), size, folder, part)
        sort_by_tail(folder, size, part)
        found[part] = {path.name: path.read_bytes() for path in folder.iterdir()} | {
            "degrees": degrees.tolist()
        }
    assert found[7] == found[10_000]
    distinct = {(h, r, t) for h, r, t in zip(heads, relations, tails, strict=True) if h != t}
    assert len(found[7]["in_edge.bin"]) == 4 * len(distinct)

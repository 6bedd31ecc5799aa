"""Names to ids, and label columns."""

from __future__ import annotations

from pathlib import Path

from kgqa.graph.formats.source_files import Batch
from kgqa.graph.storage.writer import Names, Scratch
from kgqa.types import Label


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

"""Readable names of relations."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.graph.storage import relation_names
from kgqa.graph.storage.relation_names import in_english, known_relations, name_relations
from kgqa.types import Relation


def test_given_before_table_before_name(tmp_path: Path) -> None:
    stated = Relation("http://x/eats", "eats", "likes to eat")
    found = name_relations(
        ["http://x/eats", "http://x/livesIn", "http://x/p"], [stated], {"http://x/p": ["pee", "see"]}
    )
    assert found[0] == stated
    assert found[1].label == "lives in"
    assert (found[2].label, found[2].words) == ("pee", "pee or see")


def test_joined_and_inverse() -> None:
    names = ["http://x/address!http://x/streetAddress", "http://x/heads", "http://x/eats!http://x/since"]
    found = name_relations(names, inverses={"http://x/heads": "http://x/headedBy"})
    assert [relation.label for relation in found] == ["street address", "heads", "eats since"]
    assert found[1].inverse == "headed by"


def test_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relation_names, "RELATIONS", tmp_path / "relations.toml")
    assert known_relations() == {}
    relation_names.RELATIONS.write_text('[UsedFor]\nlabel = "used for"\nwords = "is used for"\n')
    assert known_relations()["usedfor"].words == "is used for"


def test_german_labels_are_read_by_their_parts_where_most_are_german() -> None:
    labels = ["Betreiber", "Art", "gegründet von", "Endbahnhof", "Xylomat"]
    assert in_english(labels) == ["operator", "type", "founded by", "end station", ""]
    assert in_english(["art", "made by", "name", "sponsor"]) == ["", "", "", ""]


def test_korean_labels_are_read_whatever_stands_beside_them() -> None:
    assert in_english(["지도교수", "선수 과목", "made by"]) == ["supervisor", "prerequisite", ""]


def test_a_relation_keeps_its_label_and_the_words_it_has() -> None:
    labels = {"p1": ("지도교수",), "p2": ("고향",)}
    first, second = name_relations(["p1", "p2"], labels=labels)
    assert (first.label, first.words, second.words) == ("지도교수", "supervisor", "hometown")

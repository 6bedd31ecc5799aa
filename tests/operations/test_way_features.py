from dataclasses import replace

import numpy as np
import pytest
from ship import said

from kgqa.operations.way_features import _other_measure, nested_in, way_features
from kgqa.operations.ways import sources_of, ways
from kgqa.types import Link, NodeRole, Relation, Subgraph


def test_a_kind_beside_a_name_says_what_is_asked_for() -> None:
    question = "Which person sails the Gull?"
    asked = said(question, "Gull", "person")
    assert sources_of(asked) == [0]
    found = ways(asked)
    fits = dict(
        zip([way.ends for way in found], way_features(question, asked, found).fits.tolist(), strict=True)
    )
    assert fits[(1,)] == 1 and fits[(4,)] == -1
    assert sources_of(said("Which ship?", "ship")) == [3]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does the captain of the Gull live?", ("captain", "live")),
        ("Who lives in the port the Gull left?", ("port left", "lives")),
        ("Where was the Gull's captain born?", ("captain", "born")),
        ("Who is the captain of the Gull?", ("", "")),
        ("Who built the Gull?", ("", "")),
    ],
)
def test_a_thing_named_by_what_it_is_to_another(question: str, expected: tuple[str, str]) -> None:
    assert nested_in(question, said(question, "Gull"), [0]) == expected


def test_a_fact_has_the_doer_where_the_question_has_it() -> None:
    labels = ("Ada", "Ben", "Cleo")
    asked = Subgraph(
        labels,
        labels,
        np.zeros(3, dtype=np.int32),
        np.full(3, 0.5, dtype=np.float32),
        np.array([(0, 0, 1), (2, 0, 0)], dtype=np.int32),
        np.ones(2, dtype=np.float32),
        (Relation("mentored", "mentored by"),),
    )
    for question, right in (
        ("Who was mentored by Ada?", "Cleo"),
        ("Who did Ada mentor?", "Cleo"),
        ("Who mentored Ada?", "Ben"),
    ):
        at = question.index("Ada")
        linked = replace(
            asked,
            roles=np.array([NodeRole.QUESTION, NodeRole.OTHER, NodeRole.OTHER], dtype=np.int32),
            links=(Link(NodeRole.QUESTION, at, at + 3, 0),),
        )
        found = ways(linked)
        values = way_features(question, linked, found).voice.tolist()
        voice = dict(zip([way.ends for way in found], values, strict=True))
        assert voice[labels.index(right),] == 1 and min(voice.values()) == -1, question


def test_a_kind_is_an_answer_where_nothing_else_is_asked() -> None:
    for question, to_kind in (
        ("What is the Gull?", 0),
        ("What is the Gull for?", 1),
        ("What sort is the Gull?", -1),
    ):
        asked = said(question, "Gull")
        found = ways(asked)
        at = [way.ends for way in found].index((3,))
        assert way_features(question, asked, found).to_kind[at] == to_kind, question


def test_another_measure_is_not_what_is_asked_for() -> None:
    weight, height = Relation("w", "has the weight"), Relation("h", "height")
    other = _other_measure("How tall is the Gull?")
    assert other(weight) and not other(height) and not other(Relation("n", "number"))
    assert not _other_measure("Who built the Gull?")(weight)

from dataclasses import replace

import numpy as np
import pytest
from ship import said

from kgqa.answering.ways.features import _other_measure, nested_in, way_features
from kgqa.answering.ways.ways import sources_of, ways
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
        ("Where is the captain of the Gull?", ("captain", "where")),
        ("Where is the Gull's captain?", ("captain", "where")),
        ("Which songs were written by the Gull's captain?", ("captain", "songs written")),
        ("What is the Gull's phone number?", ("", "")),
        ("What does the strait that the Gull crosses lead to?", ("strait crosses", "lead")),
        ("Where does the man who sails the Gull live?", ("man sails", "live")),
        ("Who owns the port in which the Gull lies?", ("port lies", "owns")),
    ],
)
def test_a_thing_named_by_what_it_is_to_another(question: str, expected: tuple[str, str]) -> None:
    assert nested_in(question, said(question, "Gull"), [0]) == expected


def test_the_ending_of_a_possessive_may_be_linked_with_the_name() -> None:
    question = "Where was the Gull's captain born?"
    asked = said(question, "Gull")
    (link,) = asked.links
    linked = replace(asked, links=(replace(link, end=link.end + 2),))
    assert nested_in(question, linked, [0]) == ("captain", "born")


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


NAMES = ("Karvin", "sour milk", "Lom Dairy", "Lom", "Lake Moss")


def dairy(question: str, name: str) -> Subgraph:
    """A cheese, what it is made from, who makes it, where that is, and on which lake."""
    at = question.index(name)
    node = NAMES.index(name)
    return Subgraph(
        NAMES,
        NAMES,
        np.array([NodeRole.QUESTION if n == node else NodeRole.OTHER for n in range(5)], dtype=np.int32),
        np.full(5, 0.5, dtype=np.float32),
        np.array([(0, 0, 1), (0, 1, 2), (2, 2, 3), (2, 3, 4)], dtype=np.int32),
        np.ones(4, dtype=np.float32),
        (
            Relation("from", "made from"),
            Relation("by", "produced by"),
            Relation("in", "situated in"),
            Relation("near", "beside"),
        ),
        (Link(NodeRole.QUESTION, at, at + len(name), node),),
    )


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Who makes Karvin?", 0.0),
        ("Who is the maker of Karvin?", 0.0),
        ("What is Karvin made from?", 1.0),
        ("Where do they make Karvin?", 1.0),
        ("What is made by the owner of Karvin?", 0.0),
    ],
)
def test_who_makes_a_thing_is_not_told_by_what_it_is_made_from(question: str, told: float) -> None:
    asked = dairy(question, "Karvin")
    found = ways(asked)
    features = way_features(question, asked, found)
    by_end = dict(zip([way.ends[0] for way in found], features.shared.tolist(), strict=True))
    assert by_end[1] == told


def test_where_a_maker_is_asks_for_a_place_over_two_facts() -> None:
    question = "Where is the maker of Karvin?"
    asked = dairy(question, "Karvin")
    found = ways(asked)
    nested = way_features(question, asked, found).nested.tolist()
    best = max(range(len(found)), key=lambda n: nested[n])
    assert NAMES[found[best].ends[0]] == "Lom"


def test_what_stands_between_is_known_by_its_name() -> None:
    question = "Where is the dairy that Karvin has to thank situated?"
    asked = dairy(question, "Karvin")
    found = ways(asked)
    told = dict(
        zip([way.ends[0] for way in found], way_features(question, asked, found).shared.tolist(), strict=True)
    )
    assert told[3] > 0.5


def test_names_of_ends_say_what_they_are() -> None:
    question = "On which lake does Lom Dairy lie?"
    asked = dairy(question, "Lom Dairy")
    found = ways(asked)
    covers = dict(
        zip([way.ends[0] for way in found], way_features(question, asked, found).covers.tolist(), strict=True)
    )
    assert covers[4] == 0.5 and covers[3] == 0.0


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Who produced Karvin?", 1.0),
        ("When was Karvin produced?", 0.0),
        ("Where is it produced, Karvin?", 0.0),
    ],
)
def test_who_did_it_is_neither_time_nor_place(question: str, told: float) -> None:
    asked = dairy(question, "Karvin")
    found = ways(asked)
    by_end = dict(
        zip([way.ends[0] for way in found], way_features(question, asked, found).shared.tolist(), strict=True)
    )
    assert by_end[2] == told


def test_a_kind_in_a_clause_is_not_asked_for() -> None:
    question = "Who sails the ship beside the Gull?"
    asked = said(question, "Gull", "ship")
    assert not way_features(question, asked, ways(asked)).fits.any()


def test_a_narrower_kind_is_none_of_the_things_that_are_asked_for() -> None:
    question = "Which ship sails to Port Ellin?"
    asked = said(question, "Port Ellin", "ship")
    edges = np.array(
        [(0, 0, 2), (0, 2, 4), (4, 2, 3)], dtype=np.int32
    )  # the Gull is a "1902", which is a ship
    asked = replace(asked, edges=edges, weights=np.ones(3, dtype=np.float32))
    found = ways(asked)
    fits = dict(
        zip([way.ends for way in found], way_features(question, asked, found).fits.tolist(), strict=True)
    )
    assert fits[(0,)] == 1 and fits[(4,)] == -1

"""Yes/no questions that a fact states: the graph is not contradicted, and what it leaves open stays open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kgqa.qa.state import QAState
from kgqa.qa.verify import STATED, stating, verify
from kgqa.types import NO, YES, Candidate, Link, NodeRole, Passage, Question, Relation, Source, Subgraph

ENDS = {
    "Paris": "Paris",
    "France": "France",
    "ostrich": "ostriches",
    "fly": "fly",
    "hour": "hour",
    "minute": "minute",
    "honey": "honey",
    "bee": "bees",
    "spider": "spiders",
    "eight legs": "eight legs",
}
RELATIONS = (
    Relation("/r/AtLocation", "at location", "is found at", "is the place of"),
    Relation("/r/NotCapableOf", "not capable of", "cannot"),
    Relation("/r/LongerThan", "longer than", "is longer than", "is shorter than"),
    Relation("/r/CreatedBy", "created by", "is made by"),
    Relation("/r/HasA", "has a", "has"),
)
FACTS = [
    ("Paris", 0, "France"),
    ("ostrich", 1, "fly"),
    ("hour", 2, "minute"),
    ("honey", 3, "bee"),
    ("spider", 4, "eight legs"),
]


def graph_of(question: str) -> Subgraph:
    """The facts of `FACTS` with the question's words linked."""
    names = tuple(ENDS)
    found = [(n, question.casefold().find(ENDS[name].casefold())) for n, name in enumerate(names)]
    links = tuple(
        Link(NodeRole.QUESTION, start, start + len(ENDS[names[n]]), n) for n, start in found if start >= 0
    )
    edges = np.array([(names.index(h), r, names.index(t)) for h, r, t in FACTS], dtype=np.int32)
    return replace(
        Subgraph(),
        nodes=names,
        labels=names,
        relations=RELATIONS,
        edges=edges,
        weights=np.ones(len(edges), dtype=np.float32),
        roles=np.full(len(names), int(NodeRole.QUESTION), dtype=np.int8),
        links=links,
    )


@pytest.mark.parametrize(
    ("question", "states"),
    [
        ("Is Paris in France?", [True]),
        ("Is Paris not in France?", [False]),
        ("Can ostriches fly?", [False]),
        ("Do spiders have eight legs?", [True]),
        ("Do spiders have six legs?", [False]),
        ("Do spiders not have six legs?", [True]),
        ("Do spiders have six eyes?", []),
        ("Do spiders break six legs?", []),
        ("Is an hour longer than a minute?", [True]),
        ("Is a minute longer than an hour?", [False]),  # a comparative, the other way around
        ("Is a minute shorter than an hour?", [True]),
        ("Is an hour shorter than a minute?", [False]),
        ("Is an hour not shorter than a minute?", [True]),
        ("Is Paris larger than France?", []),  # another relation
        ("Is Paris the capital of France?", []),
        ("Is France a Paris?", []),  # a place of it
        ("Is Paris a France?", []),
        ("Should ostriches fly?", []),
        ("Is honey made by bees?", [True]),
        ("Does honey make bees?", []),
    ],
)
def test_a_fact_states_what_is_asked_in_the_same_words(question: str, states: list[bool]) -> None:
    assert [agrees for _, agrees in stating(question, graph_of(question))] == states


def state_of(question: str, passage: str, guess: Candidate) -> QAState:
    asked = Question(question, (), Passage(passage) if passage else None)
    return QAState(
        asked, (graph_of(question),), candidates=(guess,), best=guess, source=guess.source, confidence=0.4
    )


@pytest.mark.parametrize("passage", ["", "Anna read a book."])
def test_what_the_graph_states_is_not_guessed_otherwise(passage: str, fleet) -> None:
    guess = Candidate(NO, Source.KNOWLEDGE, 0.5)
    (state,) = verify((state_of("Is Paris in France?", passage, guess),), fleet.graph)
    assert (state.best.text, state.source, state.confidence) == (YES, Source.KNOWLEDGE, STATED)
    assert [path.steps for path in state.evidence.paths] == [(0,)] and guess.text == state.candidates[1].text


@pytest.mark.parametrize("source", [Source.PASSAGE, Source.NONE])
def test_a_passage_about_it_comes_first(source: Source, fleet) -> None:
    guess = Candidate(NO if source is Source.PASSAGE else "", source, 0.5)
    state = state_of("Can ostriches fly?", "Their ostriches fly by plane.", guess)
    assert verify((state,), fleet.graph) == (state,)

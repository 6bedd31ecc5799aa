"""Comparisons and classes answered by chains of facts."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from kgqa.graph.linking.linker import Linker
from kgqa.graph.retrieval.subgraph import retrieve_subgraphs
from kgqa.graph.storage.store import GraphStore
from kgqa.qa.state import HeadScores, QAState
from kgqa.qa.verify import verify
from kgqa.types import Candidate, Label, Passage, Question, Relation, Source, Triple

SIZES = ["whale", "elephant", "dog", "mouse"]
RELATIONS = {
    "LargerThan": "is larger than",
    "ColderThan": "is colder than",
    "FasterThan": "is faster than",
    "IsA": "is a kind of",
    "NotIsA": "is no kind of",
}


@pytest.fixture(scope="module")
def graph() -> GraphStore:
    facts = [Triple(f"x:{a}", "x:LargerThan", f"x:{b}") for a, b in pairwise(SIZES)]
    facts += [Triple("x:ice", "x:ColderThan", "x:soup"), Triple("x:cheetah", "x:FasterThan", "x:dog")]
    facts += [Triple("x:loop", "x:FasterThan", "x:ring"), Triple("x:ring", "x:FasterThan", "x:loop")]
    facts += [Triple("x:dog", "x:IsA", "x:mammal", 2.0), Triple("x:dog", "x:IsA", "x:pet")]
    facts += [Triple("x:mammal", "x:IsA", "x:animal"), Triple("x:animal", "x:NotIsA", "x:plant")]
    names = sorted({end for fact in facts for end in (fact.head, fact.tail)})
    labels = [Label(name, name[2:]) for name in names]
    relations = [Relation(f"x:{name}", words.split()[-2], words) for name, words in RELATIONS.items()]
    graph = GraphStore.from_triples(facts, labels, relations)
    graph.closed_world = False
    return graph


def state_of(graph: GraphStore, question: str, passage: str = "") -> QAState:
    asked = Question(question, (), Passage(passage))
    (subgraph,) = retrieve_subgraphs(asked, graph, Linker(graph), max_nodes=20)
    best = Candidate("no", Source.KNOWLEDGE, 0.6)
    return QAState(asked, (subgraph,), HeadScores(), best=best, candidates=(best,), source=best.source)


@pytest.mark.parametrize(
    ("question", "answer", "facts"),
    [
        ("Is a whale bigger than a mouse?", "yes", 3),
        ("Is a mouse bigger than a whale?", "no", 3),
        ("Is a mouse smaller than an elephant?", "yes", 2),
        ("Which is smaller, an elephant or a mouse?", "mouse", 2),
        ("Which is larger, an elephant or a mouse?", "elephant", 2),
        ("which is usually larger, an elephant or a mouse", "elephant", 2),
        ("Is soup hotter than ice?", "yes", 1),
        ("Can a cheetah run faster than a dog?", "yes", 1),
        ("Are dogs animals?", "yes", 2),
        ("Is a dog a kind of mammal", "yes", 1),
        ("Is a dog a plant?", "no", 3),
        ("What is a dog?", "mammal", 1),
    ],
)
def test_chains_answer(graph: GraphStore, question: str, answer: str, facts: int) -> None:
    (state,) = verify((state_of(graph, question),), graph)
    assert state.best is not None and (state.best.text, state.best.source) == (answer, Source.KNOWLEDGE)
    (path,) = state.evidence.paths
    assert len(path.steps) == facts and len(state.evidence.triples(path)) == facts
    # the query marks the answer as computed: leave-one-out answers again, and keeps the chain as its evidence
    assert state.evidence.query.startswith("ASK {") and state.evidence.query.count(" .") == facts


@pytest.mark.parametrize(
    "question",
    [
        "Is a loop faster than a ring?",  # the facts contradict each other
        "Is a whale heavier than a mouse?",  # another scale
        "Is a tired whale bigger than a mouse?",  # not any whale
        "Do whales live longer than a mouse?",
        "Is a whale as big as a mouse?",
        "Is a cheetah larger than a dog?",  # no fact
        "Is a dog a loop?",
        "Is a dog not an animal?",
        "Is a dog hungry?",
        "What is a dog made of?",
        "What is a tired dog?",
    ],
)
def test_what_facts_do_not_order_is_left_open(graph: GraphStore, question: str) -> None:
    state = state_of(graph, question)
    assert verify((state,), graph) == (state,)


def test_a_passage_that_answers_is_not_overruled(graph: GraphStore) -> None:
    state = state_of(graph, "Is a mouse bigger than a dog?", "The toy mouse was bigger than the dog.")
    read = replace(state, best=Candidate("yes", Source.PASSAGE, 0.7), source=Source.PASSAGE)
    assert verify((read,), graph) == (read,)

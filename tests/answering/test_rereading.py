from pathlib import Path

import numpy as np
import pytest
import torch

from kgqa.answering.answerer import Answerer
from kgqa.answering.decision import Decision, Rereading
from kgqa.answering.draft import Draft, HeadScores
from kgqa.answering.rereading import reordered, second_readings, supposed, with_added
from kgqa.types import Candidate, NodeRole, Passage, Question, Relation, Source, Subgraph

QUESTION = Question("What did I dig with?", passage=Passage("I want to plant flowers so I dug the ground."))


def known(name: str, score: float) -> Candidate:
    return Candidate(name, Source.KNOWLEDGE, score, concept=name)


def names(candidates: list[Candidate]) -> list[str]:
    return [candidate.text for candidate in candidates]


@pytest.fixture
def answerer(model_folder: Path, tools_file: Path) -> Answerer:
    return Answerer.load(str(model_folder), str(tools_file))


def test_what_is_far_less_likely_than_the_best_is_not_read_again(answerer: Answerer) -> None:
    settings = answerer.reader.settings.model_copy(update={"reread": 4})
    (graph,) = answerer.retrieve(QUESTION)
    one, other = [name for name, label in zip(graph.nodes, graph.labels, strict=True) if label][:2]
    concepts = (known(one, 0.6), known(other, 0.3), known(one, 0.001))
    drafts = {
        n: Draft(QUESTION, (graph,), HeadScores(concepts=found))
        for n, found in enumerate([concepts, (concepts[0], concepts[2])])
    }
    read = second_readings(drafts, settings, answerer.reader.score, Decision())
    assert list(read) == [0] and len(read[0]) == 2


def test_a_second_reading_reorders_what_it_read_and_keeps_the_sum() -> None:
    first = [known("a", 0.5), known("b", 0.3), known("c", 0.2)]
    again = reordered(first, torch.tensor([-5.0, -0.1]), Rereading())
    assert names(again)[0] == "b" and abs(sum(c.score for c in again) - 1) < 1e-5
    assert next(c for c in again if c.text == "c").score == 0.2


def test_ends_of_added_facts_are_among_those_read_again() -> None:
    candidates = [known(name, 1.0 - at / 10) for at, name in enumerate("abcdef")]
    assert names(with_added(candidates, {"f"}, 4)) == ["a", "f", "b", "c", "d", "e"]
    assert with_added(candidates, {"a"}, 4) == tuple(candidates)


def test_an_added_fact_decides_where_its_relation_is_asked_for_of_what_is_named() -> None:
    graph = Subgraph(
        nodes=("dig", "spoon", "work", "sofa"),
        labels=("dig", "spoon", "work", "sofa"),
        roles=np.array([NodeRole.QUESTION, NodeRole.OTHER, NodeRole.OTHER, NodeRole.OTHER], dtype=np.int32),
        edges=np.array([[0, 0, 1], [0, 1, 2], [3, 0, 1]], dtype=np.int32),
        relations=(Relation("x:with", "has instrument"), Relation("x:is", "kind of")),
    )
    assert supposed("What do you dig with?", graph, {"dig", "spoon", "work"}) == {"spoon"}
    assert not supposed("What do you dig with?", graph, {"sofa", "spoon"})
    again = reordered(
        [known("spade", 0.9), known("spoon", 0.1)], torch.tensor([-0.1, -2.5]), Rereading(), {"spoon"}
    )
    assert names(again) == ["spoon", "spade"]

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.answerer import Answerer
from kgqa.second_reading import second_reading
from kgqa.types import Candidate, Passage, Question, Source

PASSAGE = Passage("I want to plant flowers so I dug the ground.")


@pytest.fixture
def answerer(model_folder: Path, tools_file: Path) -> Answerer:
    return Answerer.load(str(model_folder), str(tools_file))


def test_what_is_far_less_likely_than_the_best_is_not_read_again(answerer: Answerer) -> None:
    answerer.reading = answerer.reading.model_copy(update={"reread": 4})
    question = Question("What did I dig with?", passage=PASSAGE)
    (graph,) = answerer.retrieve(question)
    one, other = [name for name, label in zip(graph.nodes, graph.labels, strict=True) if label][:2]
    concepts = [
        Candidate(name, Source.KNOWLEDGE, score, concept=name)
        for name, score in ((one, 0.6), (other, 0.3), (one, 0.001))
    ]
    assert len(second_reading(answerer, [question], [[graph]], [concepts], [0])[0]) == 2
    assert not second_reading(answerer, [question], [[graph]], [[concepts[0], concepts[2]]], [0])

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

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


def test_rows_alike_are_read_once_and_scored_as_if_each_were(
    answerer: Answerer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answerer.reading = answerer.reading.model_copy(update={"reread": 4})
    question = Question("What did I dig with?", passage=PASSAGE)
    (graph,) = answerer.retrieve(question)
    likely = [name for name, label in zip(graph.nodes, graph.labels, strict=True) if label][:2]
    concepts = [Candidate(name, Source.KNOWLEDGE, 0.5, concept=name) for name in likely]
    nearly = replace(graph, scores=graph.scores + np.float32(1e-4))
    read: list[int] = []
    score = answerer.score
    monkeypatch.setattr(answerer, "score", lambda batch: (read.append(batch.num_rows), score(batch))[1])
    (alone,) = second_reading(answerer, [question], [[graph]], [concepts], [0]).values()
    both = second_reading(answerer, [question] * 2, [[graph], [nearly]], [concepts] * 2, [0, 1])
    assert read == [2, 2]
    assert torch.allclose(both[0], alone, atol=1e-5) and torch.equal(both[0], both[1])
    other = replace(graph, weights=graph.weights + 1)
    second_reading(answerer, [question] * 2, [[graph], [other]], [concepts] * 2, [0, 1])
    assert sum(read[2:]) > 2

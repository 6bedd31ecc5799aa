from pathlib import Path

import numpy as np
import pytest

from kgqa.answerer import Answerer
from kgqa.explain import answer_json, influences, path_sentences, sentence, without_edges
from kgqa.types import Answer, Candidate, Evidence, EvidencePath, Passage, Question, Source, Subgraph


def test_facts_in_words(digging: Subgraph) -> None:
    assert sentence(digging, 0) == "trowel is used for plant flowers"
    path = EvidencePath((1, 2), (True, False), 1.0)
    evidence = Evidence(paths=(path,), subgraph=digging)
    assert path_sentences(evidence, path)[1] == "excavator is used for dig foundation"


def test_a_struck_out_fact_is_gone_and_nothing_else(digging: Subgraph) -> None:
    less = without_edges(digging, [1])
    assert len(less.edges) == 2 and less.nodes == digging.nodes
    assert np.array_equal(less.edges[1], digging.edges[2])


def test_the_json_answer_has_its_stable_keys(digging: Subgraph) -> None:
    path = EvidencePath((0,), (False,), 0.5)
    best = Candidate("trowel", Source.KNOWLEDGE, 0.8, concept="ev:trowel")
    answer = Answer(
        Question("what", id="7"),
        "trowel",
        Source.KNOWLEDGE,
        0.8,
        (best,),
        Evidence(paths=(path,), subgraph=digging),
    )
    found = answer_json(answer)
    assert list(found) == [
        "id",
        "question",
        "answer",
        "source",
        "confidence",
        "candidates",
        "evidence",
        "timing_ms",
        "model",
        "graph",
    ]
    (triple,) = found["evidence"]["paths"][0]["triples"]
    assert triple["head"] == "trowel" and triple["iri"][0] == "ev:trowel"
    assert found["candidates"][0]["concept"] == "ev:trowel"


def test_influence_is_the_change_when_a_fact_is_taken_away(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    question = Question("What did I dig with?", ("trowel", "bee"), Passage("I plant flowers."))
    answer = answerer.answer(question)
    for found in influences(answerer, answer):
        assert -1 <= found.change <= 1 and found.sentence
    if answer.text == "trowel":
        assert influences(answerer, answer)
    assert pytest.approx(1.0) == sum(c.score for c in answer.candidates)

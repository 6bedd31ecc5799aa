from __future__ import annotations

from pathlib import Path

import pytest
import torch

from kgqa.answerer import Answerer
from kgqa.types import Passage, Question, Subgraph
from kgqa.verifying.matching import matched
from kgqa.verifying.verdicts import Signs, open_questions, probability, verified, verify

PASSAGE = Passage("It was late. I want to plant flowers so I dug the ground.")
QUESTION = Question("Did I dig the ground?", passage=PASSAGE)


@pytest.fixture
def answerer(model_folder: Path, tools_file: Path) -> Answerer:
    return Answerer.load(str(model_folder), str(tools_file))


def opened(question: str, passage: str) -> list[str]:
    return [text for _, text in open_questions(question, matched(question, passage, Subgraph()))]


def test_a_question_without_each_of_the_words_that_the_passage_says() -> None:
    assert opened("Did Tom eat the bread?", "Tom ate the soup and left the bread.") == [
        "Who did eat the bread?",
        "What did Tom the bread?",
        "What did Tom eat?",
    ]
    assert opened("Was it raining?", "Tom ate the soup.") == []


def test_what_is_said_and_not_denied_is_likelier_true() -> None:
    said = Signs(0, 0, 0, 0, 0, 3.0)
    assert probability(said) > 0.7 > 0.5 > probability(said._replace(contrary=1, denied=1, found=-3.0))


def test_yes_and_no_share_what_the_gate_gives_them(answerer: Answerer) -> None:
    (graph,) = answerer.retrieve(QUESTION)
    gate = torch.tensor([[0.0, -1.0, 0.2, 1.0, 1.2], [3.0, 0.0, 0.0, 1.0, 1.0]])
    before = gate.clone()
    sentences = verify(answerer, [QUESTION, QUESTION], [[graph], [graph]], gate)
    assert list(sentences) == [0] and torch.equal(gate[1], before[1])
    assert torch.allclose(gate[0, 3:].logsumexp(0), before[0, 3:].logsumexp(0)) and gate[0, 3] > gate[0, 4]
    assert PASSAGE.text[slice(*sentences[0])].startswith("I want to plant flowers")


def test_a_reader_without_verdicts_is_left_alone(answerer: Answerer) -> None:
    gate = torch.zeros(1, 3)
    assert verify(answerer, [QUESTION], [[Subgraph()]], gate) == {}


def test_the_sentence_of_a_long_passage_stands_where_it_was(answerer: Answerer) -> None:
    long = Passage("The weather was fine all day. " * 30 + PASSAGE.text)
    (one,) = verified(answerer, [Question(QUESTION.text, passage=long)], [Subgraph()])
    assert long.text[slice(*one.sentence)].startswith("I want to plant flowers")

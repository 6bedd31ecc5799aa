"""A stranger's graph is asked about with the shipped reader, with no retraining; text alone cannot answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.answerer import MODELS, Answerer
from kgqa.explain import without_edges
from kgqa.types import Passage, Question, Source

BEES = Path(__file__).parent.parent / "graph_data" / "examples" / "beekeeping.ttl"
QUESTIONS = [
    ("I wanted to calm the bees.", "What did I use?", "smoker"),
    ("She wanted to open the hive.", "What tool did she use?", "hive tool"),
    ("They had to uncap the comb.", "What did they do it with?", "uncapping fork"),
    ("He had to spin out the honey.", "What did he use?", "honey extractor"),
    ("We tried to brush off the bees.", "What did we use?", "goose wing"),
    ("My uncle wanted to catch a swarm.", "What did he need?", "skep"),
]


@pytest.fixture(scope="module")
def answerer() -> Answerer:
    if not (MODELS / "kgqa-everyday" / "reader.json").exists():
        pytest.skip("the released reader is not in this checkout")
    return Answerer.load("kgqa-everyday", str(BEES))


def asked() -> list[Question]:
    return [Question(question, passage=Passage(passage)) for passage, question, _ in QUESTIONS]


def ranks(answers) -> list[int]:
    found = []
    for answer, (_, _, gold) in zip(answers, QUESTIONS, strict=True):
        texts = [c.text for c in answer.candidates if c.source is Source.KNOWLEDGE]
        found.append(texts.index(gold) + 1 if gold in texts else 99)
    return found


def test_answers_come_from_the_strangers_graph_with_their_path(answerer: Answerer) -> None:
    answers = answerer.answer_many(asked())
    assert sum(rank == 1 for rank in ranks(answers)) >= 3, [a.text for a in answers]
    for answer in answers:
        if answer.source is Source.KNOWLEDGE:
            assert answer.evidence.paths
            assert all(t.head.startswith("http://example.org/beekeeping#") for t in answer.evidence.subgraph.triples)


def test_text_alone_cannot(answerer: Answerer) -> None:
    """The same reader on the same concepts, with the facts taken away."""
    questions = asked()
    bare = [[without_edges(g, range(len(g.edges))) for g in answerer.retrieve(q)] for q in questions]
    assert sum(rank == 1 for rank in ranks(answerer.read(questions, bare))) <= 3

"""The two rivals that have learnt nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kgqa.graph.load import open_graph
from kgqa.types import KnowledgeGraph, NodeRole, Question, Source, Subgraph
from training.experiments.baselines import LexicalPaths, RetrievalAlone, StemOverlap, closeness

FACTS = """head\trelation\ttail
trowel\tused for\tdigging
trowel\tmade by\tOslo Works
spade\tmade by\tOslo Works
trowel\tweight\t300 grams
spade\tweight\t1800 grams
Oslo Works\theadquarters\tBergen
"""


@pytest.fixture
def graph(tmp_path: Path) -> KnowledgeGraph:
    (tmp_path / "tools.tsv").write_text(FACTS, encoding="utf-8")
    return open_graph(tmp_path / "tools.tsv")


def test_the_neighbour_whose_relation_shares_a_stem(graph: KnowledgeGraph) -> None:
    maker, use, unknown = StemOverlap(graph).answer_many(
        [Question("Who is the maker of the trowel?"), Question("What uses has a trowel?"), Question("Why?")]
    )
    assert (maker.text, use.text, unknown.text) == ("Oslo Works", "digging", None)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("By whom is the trowel made?", "Oslo Works"),
        ("Where are the headquarters of what the trowel is made by?", "Bergen"),
        ("Is the trowel made by Oslo Works?", "yes"),
        ("Is the spade used for digging?", "no"),
        ("How many things are made by Oslo Works?", "2"),
        ("Which has more weight, the trowel or the spade?", "spade"),
        ("Which is smaller in weight, the trowel or the spade?", "trowel"),
        ("What is the xylophone of the trowel?", None),
    ],
)
def test_paths_by_letters(graph: KnowledgeGraph, question: str, answer: str | None) -> None:
    (found,) = LexicalPaths(graph).answer_many([Question(question)])
    assert found.text == answer


def test_open_questions_are_answered_by_relevance(digging: Subgraph) -> None:
    reader = object.__new__(RetrievalAlone)
    answer = reader.read([Question("what did i dig with")], [[digging]])[0]
    assert [c.text for c in answer.candidates] == ["trowel", "excavator", "dig foundation"]
    assert reader.read([Question("what")], [[Subgraph()]])[0].source is Source.NONE


def test_the_choice_with_closer_ties_is_taken(digging: Subgraph) -> None:
    trowel = replace(digging, roles=np.array([1, 1, int(NodeRole.CHOICE), 3, 3], dtype=np.int32))
    excavator = replace(digging, roles=np.array([1, 1, 3, int(NodeRole.CHOICE), 3], dtype=np.int32))
    assert closeness(trowel) == 2.0  # one direct fact of weight 2
    assert 0 < closeness(excavator) < 2.0 and closeness(Subgraph()) == 0.0  # over the foundation
    reader = object.__new__(RetrievalAlone)
    question = Question("what", ("an excavator", "a trowel"))
    assert reader.read([question], [[excavator, trowel]])[0].text == "a trowel"

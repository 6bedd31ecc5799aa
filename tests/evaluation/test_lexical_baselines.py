"""The two rivals that have learnt nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.evaluation.lexical_baselines import LexicalPaths, StemOverlap
from kgqa.graph.opening import open_graph
from kgqa.types import KnowledgeGraph, Question

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

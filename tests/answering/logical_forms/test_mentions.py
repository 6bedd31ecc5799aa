"""Values, ranks and words that ask for an operation."""

from __future__ import annotations

import pytest

from kgqa.answering.logical_forms.index import GraphIndex
from kgqa.answering.logical_forms.mentions import asked_of, values_in
from kgqa.answering.logical_forms.names import Names
from kgqa.graph.linking.fuzzy import forgiving_linker
from kgqa.types import Question


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("over 12,000 people", ("12,000",)),
        ("less than 15 euros", ("15 euros",)),
        ("after 3 May 2018", ("3 May 2018",)),
        ("between 2015 and 2019", ("2015", "2019")),
        ("at least ten days", ("10 days",)),
        ("under €20", ("€20",)),
        ("before May 2021", ("May 2021",)),
    ],
)
def test_values(text: str, values: tuple[str, ...]) -> None:
    assert values_in(text) == values


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("How many vans are there?", "count"),
        ("Is Rook a van?", "truth"),
        ("Which vans are not driven by Tom?", "negation"),
        ("Which van is the fastest?", "extreme"),
        ("What is the average load?", "average"),
        ("What do they weigh in all?", "sum"),
        ("Which carries more, Rook or Swift?", "pair"),
    ],
)
def test_operators(names: Names, text: str, operator: str) -> None:
    graph = names.facts.graph
    asked = asked_of(names.facts, forgiving_linker(graph), GraphIndex(graph), Question(text))
    assert operator in asked.operators


def test_a_rank(names: Names) -> None:
    graph = names.facts.graph
    asked = asked_of(
        names.facts, forgiving_linker(graph), GraphIndex(graph), Question("Which is the third fastest?")
    )
    assert asked.rank == 3

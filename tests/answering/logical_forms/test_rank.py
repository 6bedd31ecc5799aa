"""What is worth reading comes first; what leaves out a word of the question costs."""

from __future__ import annotations

from kgqa.answering.logical_forms.enumerate import Enumerator
from kgqa.answering.logical_forms.facts import GraphFacts
from kgqa.answering.logical_forms.index import GraphIndex
from kgqa.answering.logical_forms.mentions import asked_of
from kgqa.answering.logical_forms.names import Names
from kgqa.answering.logical_forms.rank import coverage, shortlist
from kgqa.graph.linking.fuzzy import forgiving_linker
from kgqa.types import Question


def asked(names: Names, text: str):  # type: ignore[no-untyped-def]
    graph = names.facts.graph
    return asked_of(names.facts, forgiving_linker(graph), GraphIndex(graph), Question(text))


def test_the_form_of_the_words_comes_first(names: Names) -> None:
    question = asked(names, "What is the top speed of Rook?")
    found = shortlist(GraphFacts(names.facts.graph), question, Enumerator(names.facts, question).forms())
    assert found[0].phrase == "the top speed of Rook: 120"
    assert len({candidate.phrase for candidate in found}) == len(found)


def test_what_is_left_out_costs(names: Names) -> None:
    question = asked(names, "How many vans are not driven by Tom Firth?")
    whole = names.parse('(COUNT (MINUS (CLASS Van) (JOIN driver "Tom Firth")))')
    parts = (
        "(COUNT (CLASS Van))",
        '(MINUS (CLASS Van) (JOIN driver "Tom Firth"))',
        '(JOIN driver "Tom Firth")',
    )
    costs = [coverage(names.facts, question, names.parse(part)) for part in parts]
    assert coverage(names.facts, question, whole) == 0
    assert min(costs) > 0

"""For what a question names, the form that it asks for is among those that are grown."""

from __future__ import annotations

import pytest

from kgqa.answering.logical_forms.enumerate import Enumerator
from kgqa.answering.logical_forms.execute import execute
from kgqa.answering.logical_forms.facts import GraphFacts
from kgqa.answering.logical_forms.index import GraphIndex
from kgqa.answering.logical_forms.mentions import asked_of
from kgqa.answering.logical_forms.names import Names
from kgqa.graph.linking.fuzzy import forgiving_linker
from kgqa.types import Question

CASES = {
    "Who drives Rook?": '(JOIN (R driver) "Rook")',
    "What does Tom Firth drive?": '(JOIN driver "Tom Firth")',
    "What does the driver of Rook earn?": '(JOIN (R salary) (JOIN (R driver) "Rook"))',
    "How many vans are there?": "(COUNT (CLASS Van))",
    "Which vans carry more than 950 kg?": '(FILTER > load "950 kg" (CLASS Van))',
    "Which vans were bought after 2018?": '(FILTER > bought "2018" (CLASS Van))',
    "Which vehicle is not driven by Tom Firth?": '(MINUS (CLASS Vehicle) (JOIN driver "Tom Firth"))',
    "Which vehicle is the fastest?": '(ARGMAX "top speed" (CLASS Vehicle))',
    "Which is the second fastest vehicle?": '(ARGMAX "top speed" (CLASS Vehicle) 2)',
    "Who drives the slowest vehicle?": '(JOIN (R driver) (ARGMIN "top speed" (CLASS Vehicle)))',
    "What is the average load of the vans?": "(AVG load (CLASS Van))",
    "Does Tom Firth drive Rook?": '(EXISTS (AND "Tom Firth" (JOIN (R driver) "Rook")))',
    "Is Swift faster than Rook?": '(COMPARE > (VALUES "top speed" "Swift") (VALUES "top speed" "Rook"))',
    "How much more does Swift carry than Rook?": '(DIFFERENCE (VALUES load "Swift") (VALUES load "Rook"))',
    "Which of Swift and Rook carries more?": '(ARGMAX load (SET "Swift" "Rook"))',
    "Who drives Swfit?": '(JOIN (R driver) "Swift")',
    "What does Orbell earn?": '(JOIN (R salary) "Mia Orbell")',
}


@pytest.mark.parametrize(("question", "form"), CASES.items())
def test_the_form_asked_for_is_grown(names: Names, question: str, form: str) -> None:
    graph = names.facts.graph
    facts, index = GraphFacts(graph), GraphIndex(graph)
    asked = asked_of(facts, forgiving_linker(graph), index, Question(question))
    forms = Enumerator(facts, asked, index.classes).forms()
    wanted = names.parse(form)
    result = execute(facts, wanted)
    assert result is not None
    same = [f for f in forms if type(f) is type(wanted) and (r := execute(facts, f)) and r.key == result.key]
    assert wanted in forms or same

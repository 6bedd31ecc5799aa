"""Comparisons: both directions of a pair are answered by the values, and what a passage leaves open stays open."""

from __future__ import annotations

import pytest
import torch

from kgqa.qa.decide import DecisionConfig, decide
from kgqa.qa.passages.compare import RIGHT, compare, compared, comparison_of
from kgqa.qa.state import HeadScores, QAState
from kgqa.types import NO, YES, Candidate, Passage, Question, Source, Span

BORN = "Ada was born in May 1985, her cousin Rik in 1990."
PLANKS = "The oak plank is 1.5 m long. The pine one is 120 centimetres."
TICKETS = "A seat upstairs costs 18 euros, and one by the stage 27."
RUNS = "Ada ran faster than Rik, but slower than Uma."


@pytest.mark.parametrize(
    ("passage", "question", "answer"),
    [
        (BORN, "Is Ada older than Rik?", YES),
        (BORN, "Is Rik older than Ada?", NO),
        (BORN, "Was Rik born after Ada?", YES),
        (BORN, "Is Rik the younger of the two?", YES),
        (BORN, "Who is older, Rik or Ada?", "Ada"),
        (BORN, "Who was born last, Rik or Ada?", "Rik"),
        (PLANKS, "Is the pine plank longer than the oak one?", NO),
        (PLANKS, "Is the pine plank shorter than the oak one?", YES),
        (TICKETS, "Does a seat upstairs cost less than one by the stage?", YES),
        (TICKETS, "Is a seat upstairs more expensive than one by the stage?", NO),
        (
            "At noon it was minus four in Oulu and minus eleven in Turku.",
            "Was it colder in Turku than in Oulu?",
            YES,
        ),
        ("Ada needed 40 minutes for the lake and Rik half an hour.", "Was Ada faster than Rik?", NO),
        (
            "The shop opens at nine and the bank at ten past eight.",
            "Does the bank open before the shop?",
            YES,
        ),
        ("Ada has read 40 books and Rik 12.", "Has Rik read more books than Ada?", NO),
        (RUNS, "Did Uma run faster than Ada?", YES),
        (RUNS, "Did Rik run faster than Uma?", NO),
        ("Ada reached the hut an hour after Rik.", "Did Ada reach the hut before Rik?", NO),
        ("Ada is not as tall as Rik, and Rik not as tall as Uma.", "Is Uma taller than Ada?", YES),
        ("Ada is older than Rik but younger than Uma.", "Who is the oldest?", "Uma"),
        ("Ada is taller than Rik, but not as tall as Uma.", "Who is the shortest of the three?", "Rik"),
        ("Ada is shorter than Rik.", "Is Rik taller than Ada?", YES),
        ("Ada's talk is shorter than Rik's.", "Is Rik's talk longer than Ada's?", YES),
        (
            "The shop opens at eight, the bank not until nine.",
            "Which opens later, the shop or the bank?",
            "the bank",
        ),
        ("Ada came in before Rik but after Uma.", "Who came in first?", "Uma"),
        ("Ada is 40, and Rik is three years older.", "Is Ada older than Rik?", NO),
        ("Ada is Rik's junior by a year.", "Is Rik younger than Ada?", NO),
        (
            "The ferry takes 90 minutes. The train needs an hour less.",
            "Does the train take longer than the ferry?",
            NO,
        ),
        ("Ada swept the yard, then fed the geese.", "Did Ada feed the geese before she swept the yard?", NO),
        ("Having locked the hut, Ada lost the key.", "Did Ada lock the hut before she lost the key?", YES),
        ("Before the plum flowered, the pear was cut.", "Was the pear cut after the plum flowered?", NO),
    ],
)
def test_both_directions_of_a_comparison_are_told_apart(passage: str, question: str, answer: str) -> None:
    found = compared(question, passage)
    assert found is not None
    assert found.text == answer


@pytest.mark.parametrize(
    ("passage", "question"),
    [
        (BORN, "How old is Ada?"),
        (BORN, "When was Ada born?"),
        (BORN, "Is Ada taller than Rik?"),  # no such value
        (BORN, "Is Ada older than Uma?"),  # one value is missing
        (BORN, "Is Ada as old as Rik?"),
        ("Ada is 19 and Rik is 19.", "Is Ada older than Rik?"),  # by months, perhaps
        (
            "The blue tank holds 80 litres, the green one twice as much.",
            "Does the green tank hold more than the blue?",
        ),
        ("Ada said that the plum flowered before the pear.", "Did the plum flower before the pear?"),
        ("Ada is older than Rik. Uma is older.", "Who is the oldest of the three?"),  # than whom?
        ("Ada is 19 and Rik two years older, but Uma is older than all the others.", "Who is the oldest?"),
        ("Ada is twelve and Rik is two years older. Uma turned fifteen in May.", "Who is the oldest?"),
        ("Ada has at least three goats and Rik two.", "Has Rik more goats than Ada?"),
        ("Ada wanted to sing before Rik, but it was too late.", "Did Ada sing before Rik?"),
        (TICKETS, "Which seat is more comfortable?"),
        ("Ada took 31 minutes, two minutes ahead of Rik.", "Who was slower?"),
    ],
)
def test_what_is_no_comparison_or_is_not_told_is_left_to_the_reader(passage: str, question: str) -> None:
    spans = [Candidate(passage[:3], Source.PASSAGE, 1.0, Span(0, 3))]
    assert compared(question, passage, spans) is None


def test_the_extreme_is_named_by_the_passage_where_the_reader_offers_no_span_in_its_clause() -> None:
    """What stands before its verb."""
    passage = "The iron bridge was opened in 1890. The stone bridge over the mill race was built in 1742."
    found = compared("Which bridge is older?", passage)
    assert found is not None
    assert found.text == "The stone bridge over the mill race"
    assert (
        compared(
            "Which bridge is older?", "The iron bridge dates from 1890. In 1742 the stone one was built."
        )
        is None
    )


def test_the_extreme_of_several_is_named_by_the_reader_and_its_values_are_the_reason() -> None:
    passage = "Lisbon is 119 euros, Porto 94 euros, Faro 101 euros."
    spans = [
        Candidate(name, Source.PASSAGE, 0.3, Span(at, at + len(name)))
        for name in ("Lisbon", "Faro", "Porto")
        for at in [passage.index(name)]
    ]
    state = QAState(
        Question("Which flight is the cheapest?", passage=Passage(passage)),
        scores=HeadScores(answer_type=torch.zeros(5), spans=tuple(spans)),
    )
    (found,) = decide(compare((state,)), DecisionConfig())
    assert (found.best.text, found.source, found.confidence) == ("Porto", Source.PASSAGE, RIGHT)
    assert found.evidence.interpretation is not None
    assert found.evidence.interpretation.phrase == "94 euros < 101 euros"


def test_a_question_of_one_scale_has_its_end() -> None:
    cheaper = comparison_of("Is the tea cheaper than the coffee?")
    less = comparison_of("Does the tea cost less than the coffee?")
    assert cheaper is not None
    assert less is not None
    assert (cheaper.scale.name, cheaper.sign) == (less.scale.name, less.sign) == ("price", -1)
    assert comparison_of("Is Ada older and taller than Rik?") is None


def test_no_extreme_is_named_beside_an_order_in_other_words() -> None:
    passage = "Tom was faster than Ben, but Rik was the best of all."
    assert compared("Who was the fastest?", passage) is None
    assert compared("Who was faster, Tom or Ben?", passage) == ("Tom", Span(0, 23), "")


def test_no_pronoun_is_the_extreme() -> None:
    passage = "Ada left at ten past eight. Rik left at nine. It was ten past seven when they woke."
    pronoun = Candidate("It", Source.PASSAGE, 0.9, Span(46, 48))
    for spans in ((), (pronoun,)):
        found = compared("Who set off earliest?", passage, spans)
        assert found is None or found.text != "It"

"""Rows of amounts become operations on the quantities that are read, and a head learns them from token states."""

from __future__ import annotations

import random
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from kgqa.language.quantities import OPERATORS, find_quantities, format_quantity
from kgqa.models.load import open_reader
from kgqa.qa.passages.amounts import Operation, possible, sum_of
from kgqa.types import Passage, Question

SCRIPT = SimpleNamespace(**runpy.run_path(str(Path(__file__).parent.parent / "training" / "fit_amounts.py")))


def run(text: str, steps: tuple[Operation, ...]) -> list[str]:
    """The results of steps over the quantities of a text."""
    quantities = [amount.quantity for amount in find_quantities(text)]
    given = len(quantities)
    for step in steps:
        quantities.append(possible(quantities)[step])
    return [format_quantity(quantity) for quantity in quantities[given:]]


@pytest.mark.parametrize(
    ("passage", "question", "expression", "answer", "results"),
    [
        ("4 euros each. Tom buys 3.", "How much?", "4 * 3", "12 euros", ["12 euros"]),
        ("It had 20, lost 3, then 4.", "How many?", "20 - 3 - 4", "13", ["17", "13"]),
        ("From 9:40 to 11:05.", "How many minutes?", "11:05 - 9:40", "85 minutes", ["1 hour and 25 minutes"]),
        ("At 18:30, closed five hours earlier.", "When?", "18:30 - 5 * 60", "13:30", ["13:30"]),
        (
            "500 euros, less 30 percent.",
            "How much?",
            "500 - 500 * 30 / 100",
            "350 euros",
            ["150 euros", "350 euros"],
        ),
        (
            "30 crocuses, a third gone.",
            "How many?",
            "30 - 30 / 3",
            "20 crocuses",
            ["10 crocuses", "20 crocuses"],
        ),
        (
            "84 and 52 years old, both.",
            "How much on average?",
            "(84 + 52) / 2",
            "68",
            ["136 years", "68 years"],
        ),
        ("30 people, 28 chairs.", "Is there a chair for all?", "28 >= 30", "no", ["no"]),
        ("4 euros.", "How much?", "4 * 3", "12 euros", []),
    ],
)
def test_expressions_become_steps(
    passage: str, question: str, expression: str, answer: str, results: list[str]
) -> None:
    quantities = [amount.quantity for amount in find_quantities(passage)]
    accepted = [answer, "68 years"]
    steps = SCRIPT.steps_for(expression, quantities, question, accepted)
    assert run(passage, steps) == results


def row(reader: Any, passage: str, question: str, *steps: Operation, answer: str = "") -> Any:
    asked = Question(question, passage=Passage(passage))
    each = sum_of(asked, reader)
    assert each is not None
    return SCRIPT.Row(passage, asked, each, steps, (answer,))


def test_other_numbers_keep_the_steps(model_folder: Path) -> None:
    reader = open_reader(model_folder, "cpu")
    first = row(
        reader, "He had 20 eggs and broke 3 of them.", "How many are left?", Operation(0, 1, 1), answer="17"
    )
    other = SCRIPT.with_other_numbers(first, reader, random.Random(0))
    assert other is not None and other.steps == first.steps
    a, b = (quantity.value for quantity in other.sum.quantities)
    assert (a, b) != (20, 3) and other.answers[0].split()[0] == str(a - b)


def test_a_head_learns_what_to_compute(model_folder: Path) -> None:
    reader = open_reader(model_folder, "cpu")
    times, plus = Operation(0, 1, OPERATORS.index("*")), Operation(0, 1, OPERATORS.index("+"))
    rows = [
        row(reader, f"{a} eggs and {b} more.", *asked)
        for a, b in ((2, 3), (5, 7), (4, 9), (6, 8))
        for asked in (("red", times), ("blue", plus), ("who",))
    ]
    for each in rows:
        each.answers = (each.sum and run(each.question.passage_text, each.steps) or [""])[-1:]
        each.prepare()
    generator = torch.Generator().manual_seed(0)
    words = {word: torch.randn(32, generator=generator) for word in ("red", "blue", "who")}
    states = [words[each.question.text].expand(len(each.sum.ids), -1) for each in rows]
    head = SCRIPT.fitted(rows, states, epochs=40)
    found = SCRIPT.outcomes(head, rows, states)
    measured = SCRIPT.measured(found, 0.5)
    assert measured["right"] == measured["to_compute"] == 8 and measured["computed_wrongly"] == 0
    card = SCRIPT.calibration(found, 1)
    assert card.layer == 1 and 0 < card.threshold <= 1

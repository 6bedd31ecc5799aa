"""Rows with an expression become operations on the quantities that are read."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from kgqa.language.quantities import find_quantities, format_quantity
from kgqa.models.load import LoadedReader, open_reader
from kgqa.qa.passages.amounts import Operation, possible
from kgqa.trainer.data.expressions import (
    ArithmeticQuestion,
    computed_questions,
    other_questions,
    steps_for,
    with_other_numbers,
)

EGGS = {"pair": "eggs", "passage": "He had 20 eggs and broke 3 of them."}
ROWS = [
    {**EGGS, "question": "How many are left?", "answers": ["17", "17 eggs"], "expression": "20 - 3"},
    {**EGGS, "question": "Are 15 left?", "yes_no": True, "expression": "20 - 3 >= 15"},
    {**EGGS, "question": "How many did he break?", "answers": ["3 of them"], "source": "passage"},
    {**EGGS, "question": "How many hens are there?", "answers": [], "expression": "4 * 5"},
]


def run(text: str, steps: tuple[Operation, ...]) -> list[str]:
    """The results of steps over the quantities of a text."""
    quantities = [amount.quantity for amount in find_quantities(text)]
    given = len(quantities)
    for step in steps:
        quantities.append(possible(quantities)[step])
    return [format_quantity(quantity) for quantity in quantities[given:]]


@pytest.fixture
def reader(model_folder: Path) -> LoadedReader:
    return open_reader(model_folder, "cpu")


@pytest.fixture
def questions(reader: LoadedReader, tmp_path: Path) -> list[ArithmeticQuestion]:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)) + "\n", encoding="utf-8")
    return list(computed_questions(str(path), reader))


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
    steps = steps_for(expression, quantities, question, accepted)
    assert run(passage, steps) == results


def test_rows_that_do_not_fit_are_left_out(questions: list[ArithmeticQuestion]) -> None:
    assert [len(question.steps) for question in questions] == [1, 2, 0]
    assert len({question.is_held_out for question in questions}) == 1


def test_other_numbers_keep_the_steps(reader: LoadedReader, questions: list[ArithmeticQuestion]) -> None:
    first = questions[0]
    other = with_other_numbers(first, reader, random.Random(0))
    assert other is not None and other.steps == first.steps
    a, b = (quantity.value for quantity in other.sum.quantities)
    assert (a, b) != (20, 3) and other.answers[0].split()[0] == str(a - b)


def test_what_other_sets_state_is_not_computed(reader: LoadedReader, tmp_path: Path) -> None:
    passage = "Ann has 3 cats and 2 dogs."
    rows = [
        {"question": "How many cats has Ann?", "passage": passage, "answers": ["3"]},
        {"question": "Who has cats?", "passage": passage, "answers": ["Ann"]},
        {"question": "How many pets?", "passage": passage, "answers": ["3 cats"], "kind": "amounts"},
        {"question": "Who rang?", "passage": "Ann rang.", "answers": ["Ann"]},
    ]
    path = tmp_path / "other.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    found = list(other_questions(str(path), reader, 4))
    assert {each.question.text for each in found} == {"How many cats has Ann?", "Who has cats?"}
    assert all(each.is_other and not each.steps for each in found)

"""Practice questions stand beside the forms that their graph offers; the right one is now and then left out."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from kgqa.qa.logical_forms.rank import NO_FORM
from kgqa.trainer.data.generated import (
    FormQuestion,
    family_questions,
    practice_questions,
    save_questions,
    saved_questions,
)
from kgqa.types import InputError

GRAPH = """
@prefix x: <http://x.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:Rook a x:Van ; rdfs:label "Rook" ; x:driver x:Mia ; x:load 900 . x:Swift a x:Van ; rdfs:label "Swift" ; x:load 1000 .
x:Mia rdfs:label "Mia" . x:Van rdfs:label "van" .
"""
ROWS = [
    {"question": "Who drives Rook?", "form": '(JOIN (R driver) "Rook")'},
    {"question": "Which van carries most?", "form": "(ARGMAX load (CLASS van))"},
    {"question": "Who washes Rook?", "form": None},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "vans.ttl").write_text(GRAPH, encoding="utf-8")
    (tmp_path / "vans.jsonl").write_text("\n".join(map(json.dumps, ROWS)) + "\n", encoding="utf-8")
    return tmp_path


def test_the_right_form_is_among_others(folder: Path) -> None:
    one, two, absent = practice_questions(folder)
    assert one.right == "the driver of Rook: Mia" and "the load of Rook: 900" in one.wrong
    assert two.right == "vans with the largest load: Swift"
    assert absent.right is None and one.right in absent.wrong


def test_choices_end_with_none(folder: Path) -> None:
    question = next(practice_questions(folder))
    rng = random.Random(0)
    present, left_out = question.example(rng, 3, 0.0), question.example(rng, 3, 1.0)
    assert present.question.choices[-1] == left_out.question.choices[-1] == NO_FORM
    assert present.choice is not None and present.question.choices[present.choice] == question.right
    assert question.right not in left_out.question.choices
    assert left_out.choice == len(left_out.question.choices) - 1


def test_neighbours_are_wrong_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "families.jsonl"
    relations = [
        {"phrase": "the start", "questions": ["When?"]},
        {"phrase": "the end", "questions": ["Till when?"]},
    ]
    path.write_text(json.dumps({"thing": "a lease", "relations": relations}) + "\n", encoding="utf-8")
    first, second = family_questions(path)
    assert (first.right, first.wrong) == ("the start", ("the end",))
    assert (second.right, second.wrong) == ("the end", ("the start",))


def test_saved_and_read_again(tmp_path: Path) -> None:
    questions = [
        FormQuestion("Who?", "the driver", ("the load",), "vans"),
        FormQuestion("Why?", None, (), "vans"),
    ]
    save_questions(iter(questions), tmp_path / "questions.jsonl")
    assert saved_questions(tmp_path / "questions.jsonl") == questions


def test_a_bad_row_is_named(folder: Path) -> None:
    (folder / "vans.jsonl").write_text('{"question": "Who?", "form": "(WHO)"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"vans\.jsonl:1"):
        list(practice_questions(folder))

import csv
import io
import json
from dataclasses import replace

import pytest

from apps.tables import (
    MAX_QUESTIONS,
    NOBODY_KNOWS,
    Row,
    answered_cells,
    is_right,
    read_table,
    score,
    separator_of,
    to_csv,
)
from kgqa.types import Answer, Evidence, EvidencePath, InputError, Item, Question, Source, Subgraph

TABLE = "id,question,passage,choices,answer,mine\n1,Why?,Because.,a|b,a|c,x\n2,Who?,,,(none),y\n"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_any_separator_and_all_columns(separator: str) -> None:
    first, second = read_table("q.csv", TABLE.replace(",", separator).encode("utf-8-sig"))
    assert first.question and first.question.choices == ("a", "b") and first.golds == ("a", "c")
    assert first.cells["mine"] == "x" and second.golds == () and separator_of("a|b|c") == "|"


def test_csv_and_jsonl_hold_the_same() -> None:
    rows = read_table("q.csv", TABLE.encode())
    lines = [
        {
            "id": row.question.id,
            "question": row.question.text,
            "passage": row.question.passage_text,
            "choices": list(row.question.choices),
            "answers": list(row.golds or ()),
        }
        for row in rows
        if row.question
    ]
    again = read_table("q.jsonl", "\n".join(map(json.dumps, lines)).encode())
    assert [(row.question, row.golds) for row in again] == [(row.question, row.golds) for row in rows]
    (verdict,) = read_table("q.jsonl", b'{"question": "Is it?", "passage": "It is.", "verdict": true}')
    assert verdict.golds == ("yes",)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("q.csv", b"a,b\n1,2\n", "q.csv:1"),
        ("q.csv", b"", "q.csv:1"),
        ("q.csv", b"question\n\xff\n", "UTF-8"),
        ("q.csv", b'question\n"open', "CSV"),
        ("q.csv", b"question\n", "no questions"),
        ("q.csv", b"id,question\n7,\n", "q.csv:2"),
        ("q.jsonl", b"{", "q.jsonl:1"),
        ("q.jsonl", b"\xff", "UTF-8"),
        ("q.jsonl", b'{"question": "a"}\n' * (MAX_QUESTIONS + 1), "more than"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(name: str, content: bytes, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_table(name, content)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_errors_stay_with_their_rows() -> None:
    rows = read_table("q.csv", b"question,passage\nWhy?,a\n,b\nWho?,c,too,many\n")
    assert [bool(row.error) for row in rows] == [False, True, True] and rows[1].number == 3
    lines = read_table("q.jsonl", b'{"question": "a"}\nno\n{"q": 1}\n{"question": "b", "choices": [1]}\n')
    assert [row.number for row in lines if row.error] == [2, 3, 4]


def said(text: str | None) -> Answer:
    return Answer(Question("q"), text, Source.KNOWLEDGE if text else Source.NONE, 0.5)


def test_answers_are_scored() -> None:
    rows = [Row(1, golds=("a trowel",)), Row(2, golds=()), Row(3), Row(4, golds=("big red bus",))]
    answers = [said("Trowel"), said(None), said("x"), said("red bus")]
    found = score(rows, answers)
    assert found and found.count == 3 and found.exact == pytest.approx(2 / 3) and found.refused == 1.0
    assert found.f1 == pytest.approx((1 + 1 + 0.8) / 3) and score(rows[2:3], answers[2:3]) is None
    assert is_right(said(None), ()) and not is_right(said("x"), ())


def test_several_things_are_one_cell_with_their_number_and_facts(digging: Subgraph) -> None:
    items = [Item("trowel", "ev:trowel", path=EvidencePath((0,), (False,), 0.5)), Item("hoe", "ev:hoe")]
    answer = replace(said("trowel, hoe"), items=tuple(items), evidence=Evidence(subgraph=digging))
    cells = answered_cells(Row(1), answer)
    assert (cells["kgqa_answer"], cells["kgqa_count"]) == ("trowel | hoe", "2")
    assert cells["kgqa_facts"] == "a trowel is used to plant flowers"
    assert is_right(answer, ("hoe", "trowel", "spade")) and not is_right(answer, ("trowel",))
    assert answered_cells(Row(1), said(None))["kgqa_count"] == "0"


def test_no_cell_is_a_formula() -> None:
    cells = answered_cells(Row(1, {"id": "@x", "question": "=1+1"}, golds=("-2",)), said("-2"))
    header, row = csv.reader(io.StringIO(to_csv([cells])))
    assert row[:3] == ["'@x", "'=1+1", "'-2"] and header[-1] == "kgqa_right" and row[-1] == "1"
    assert answered_cells(Row(2, error="broken"), None)["kgqa_error"] == "broken" and NOBODY_KNOWS == "(none)"

import csv
import io
from dataclasses import replace

import pytest

from apps.tables import answered_cells, is_right, score, to_csv
from kgqa.data.datasets.json_lines import TableRow
from kgqa.types import Answer, Evidence, EvidencePath, Item, Question, Source, Subgraph


def output(text: str | None) -> Answer:
    return Answer(Question("q"), text, Source.KNOWLEDGE if text else Source.NONE, 0.5)


def test_answers_are_scored() -> None:
    rows = [
        TableRow(1, golds=("a trowel",)),
        TableRow(2, golds=()),
        TableRow(3),
        TableRow(4, golds=("big red bus",)),
    ]
    answers = [output("Trowel"), output(None), output("x"), output("red bus")]
    found = score(rows, answers)
    assert found and found.count == 3 and found.exact == pytest.approx(2 / 3) and found.refused == 1.0
    assert found.f1 == pytest.approx((1 + 1 + 0.8) / 3) and score(rows[2:3], answers[2:3]) is None
    assert is_right(output(None), ()) and not is_right(output("x"), ())


def test_several_things_are_one_cell_with_their_number_and_facts(digging: Subgraph) -> None:
    items = [Item("trowel", "ev:trowel", path=EvidencePath((0,), (False,), 0.5)), Item("hoe", "ev:hoe")]
    answer = replace(output("trowel, hoe"), items=tuple(items), evidence=Evidence(subgraph=digging))
    cells = answered_cells(TableRow(1), answer)
    assert (cells["kgqa_answer"], cells["kgqa_count"]) == ("trowel | hoe", "2")
    assert cells["kgqa_facts"] == "a trowel is used to plant flowers"
    assert is_right(answer, ("hoe", "trowel", "spade")) and not is_right(answer, ("trowel",))
    assert answered_cells(TableRow(1), output(None))["kgqa_count"] == "0"


def test_no_cell_is_a_formula() -> None:
    cells = answered_cells(TableRow(1, {"id": "@x", "question": "=1+1"}, golds=("-2",)), output("-2"))
    header, row = csv.reader(io.StringIO(to_csv([cells]).decode("utf-8-sig")))
    assert row[:3] == ["'@x", "'=1+1", "'-2"] and header[-1] == "kgqa_right" and row[-1] == "1"
    assert answered_cells(TableRow(2, error="broken"), None)["kgqa_error"] == "broken"


def test_a_row_about_harm_says_where_to_turn() -> None:
    harmful = replace(output(None), harm="self")
    assert "988" in answered_cells(TableRow(1), harmful)["kgqa_care"]
    assert "kgqa_care" not in answered_cells(TableRow(1), output(None))


def test_a_score_says_what_its_questions_are_worth() -> None:
    nine = score([TableRow(n, golds=("x",)) for n in range(9)], [output("x")] * 9)
    assert nine and nine.exact == 1.0 and round(nine.between[0], 1) == 0.7
    many = score([TableRow(n, golds=("xy"[n % 2],)) for n in range(900)], [output("x")] * 900)
    assert many and many.exact == 0.5 and many.between[1] - many.between[0] < 0.07

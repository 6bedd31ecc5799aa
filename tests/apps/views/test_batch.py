import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from apps.views.batch import MAX_QUESTIONS, SAMPLE, read, table_of
from kgqa.types import Answer, InputError, Question, Source


def test_csv_and_jsonl_hold_the_same() -> None:
    table = read("q.csv", SAMPLE.encode("utf-8-sig"))
    rows = [
        {"id": q.id, "question": q.text, "passage": q.passage_text, "choices": list(q.choices)} for q in table
    ]
    lines = "\n".join(json.dumps(row) for row in rows)
    assert read("q.jsonl", lines.encode()) == table
    assert table[2].choices == ("umbrella", "oven", "book") and table[0].id == "1"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("q.csv", b"a,b\n1,2\n", "q.csv:1"),
        ("q.csv", b"question\n\xff\n", "UTF-8"),
        ("q.csv", b'question\n"open', "CSV"),
        ("q.csv", b"question\n", "no questions"),
        ("q.csv", b"id,question\n7,\n", "question 7"),
        ("q.jsonl", b"{", "q.jsonl:1"),
        ("q.jsonl", b"\xff", "UTF-8"),
        ("q.jsonl", b'{"question": "a"}\n' * (MAX_QUESTIONS + 1), "more than"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(name: str, content: bytes, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(name, content)
    assert words in str(caught.value) and "/tmp" not in str(caught.value) and "\n" not in str(caught.value)


def test_no_cell_is_a_formula() -> None:
    (_, row) = csv.reader(
        io.StringIO(table_of([Answer(Question("=1+1", id="@x"), "-2", Source.PASSAGE, 0.5)]))
    )
    assert row[:3] == ["'@x", "'=1+1", "'-2"]


def test_a_file_is_answered(open_page: Callable[[str], Any]) -> None:
    page = open_page("batch").run()
    page.file_uploader[0].upload("q.csv", SAMPLE.encode(), "text/csv").run()
    page.button[0].click().run()
    assert not page.exception and not page.error
    answers = page.session_state["batch_answers"]
    assert [a.question.id for a in answers] == ["1", "2", "3"]
    assert page.dataframe[0].value["id"].tolist() == ["1", "2", "3"]

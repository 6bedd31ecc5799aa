import json

import pytest

from kgqa.data.datasets.json_lines import NOBODY_KNOWS, read_table, separator_of
from kgqa.types import InputError

MOST = 2_000
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
    (asked,) = read_table("q.jsonl", b'{"question": "Is it?", "passage": "It is.", "yes_no": true}')
    assert asked.golds == ("yes",)
    (bare,) = read_table("q.jsonl", b'{"question": "Is it?", "passage": null, "id": null, "answer": null}')
    assert bare.question and bare.question.passage is None and bare.question.id == "1" and bare.golds is None


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("q.csv", b"a,b\n1,2\n", "q.csv:1"),
        ("q.csv", b"", "q.csv:1"),
        ("q.csv", b"question\n\xff\n", "UTF-8"),
        ("q.csv", b'question\n"open', "CSV"),
        ("q.csv", b'"question"d\nWho?\n', "q.csv:1: not CSV"),
        ("q.csv", b'question,"' + b"a" * 200_000, "q.csv:1: not CSV"),
        ("q.csv", b"question\n", "no questions"),
        ("q.csv", b"id,question\n7,\n", "q.csv:2"),
        ("q.jsonl", b"{", "q.jsonl:1"),
        ("q.jsonl", b"\xff", "UTF-8"),
        ("q.jsonl", b'{"question": "a"}\n' * (MOST + 1), "more than"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(name: str, content: bytes, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_table(name, content, MOST)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_errors_stay_with_their_rows() -> None:
    rows = read_table("q.csv", b"question,passage\nWhy?,a\n,b\nWho?,c,too,many\n")
    assert [bool(row.error) for row in rows] == [False, True, True] and rows[1].number == 3
    lines = read_table("q.jsonl", b'{"question": "a"}\nno\n{"q": 1}\n{"question": "b", "choices": [1]}\n')
    assert [row.number for row in lines if row.error] == [2, 3, 4]
    (row,) = read_table("q.jsonl", '{"question": "a\u2028b\u0085c"}\r\n'.encode())
    assert row.question is not None and not row.error


def test_parquet_is_read_as_json_lines_are() -> None:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.Table.from_pylist(
        [{"question": "Why?", "choices": ["a", "b"], "answer": "a"}, {"question": None, "choices": None}]
    )
    out = arrow.BufferOutputStream()
    pytest.importorskip("pyarrow.parquet").write_table(table, out)
    first, second = read_table("q.parquet", out.getvalue().to_pybytes())
    assert first.question and first.question.choices == ("a", "b") and first.golds == ("a",)
    assert second.error and second.number == 2
    with pytest.raises(InputError, match="q.parquet: no Parquet"):
        read_table("q.parquet", b"question\nWhy?\n")
    assert NOBODY_KNOWS == "(none)"


KOREAN = "질문,지문\n무엇으로 땅을 팠니?,꽃을 심으려고 땅을 팠다.\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp949"])
def test_spreadsheets_save_in_encodings_of_their_own(encoding: str) -> None:
    (row,) = read_table("q.csv", KOREAN.encode(encoding))
    assert row.question and row.question.text == "무엇으로 땅을 팠니?"
    assert row.question.passage_text == "꽃을 심으려고 땅을 팠다." and set(row.cells) == {"질문", "지문"}


def test_no_western_text_is_taken_for_korean() -> None:
    with pytest.raises(InputError, match="UTF-8"):
        read_table("q.csv", "question\nWas trinkt der Bär in Köln?\n".encode("cp1252"))


def test_columns_have_other_names_and_capitals_too() -> None:
    (row,) = read_table("q.csv", b"ID,Question,Context,Answer\n7,Who swam?,Tom swam.,Tom\n")
    assert row.question and (row.question.id, row.question.passage_text) == ("7", "Tom swam.")
    assert row.golds == ("Tom",) and row.cells["Question"] == "Who swam?"

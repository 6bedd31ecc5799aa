import re
from collections.abc import Callable
from pathlib import Path

import pytest

from apps.custom_graphs import uploaded
from apps.texts import problem
from kgqa.data.datasets.json_lines import read_table
from kgqa.types import InputError, Passage, Question
from kgqa.validation import check_question


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: check_question(Question("")),
        lambda: check_question(Question("why" * 1000)),
        lambda: check_question(Question("why", (), Passage("a" * 200_001))),
        lambda: check_question(Question("why", ("a",) * 30)),
        lambda: read_table("a.csv", b"x,y\n1,2\n"),
        lambda: read_table("a.csv", b"question\n"),
        lambda: read_table("a.csv", b"\xff\xfe"),
        lambda: read_table("a.csv", b"question\nwhy\nwho\n", most=1),
        lambda: read_table("a.jsonl", b"{}\n"),
        lambda: uploaded([("bad.ttl", b"this is no Turtle")]),
        lambda: uploaded([("bad.ttl", b"@prefix a: <b:> .\na:b a:c ]")]),
        lambda: uploaded([("bad.exe", b"MZ")]),
        lambda: uploaded([("bad.tsv", b"relation\thead\ttail\na\tb\n")]),
        lambda: uploaded([("empty.ttl", b"# nothing")]),
    ],
)
def test_what_is_wrong_is_said_in_korean(wrong: Callable[[], object]) -> None:
    with pytest.raises(InputError) as caught:
        wrong()
    output = problem(str(caught.value), "ko")
    assert re.search("[가-힣]", output) and output.partition(" (")[0] != str(caught.value), output
    assert problem(str(caught.value)) == str(caught.value)


def test_a_row_that_is_wrong_is_said_in_korean() -> None:
    rows = read_table("a.csv", b"question,passage\nwhy,so\n,so\nwho,so,more\n")
    assert [bool(re.search("[가-힣]", problem(row.error, "ko"))) for row in rows] == [False, True, True]


def test_what_has_no_wording_stays_english(tmp_path: Path) -> None:
    assert problem("something new", "ko") == "something new"

"""Tables of facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.graph.formats.tsv import read_tsv
from kgqa.types import InputError


def rows(path: Path, text: str) -> list[tuple[str, str, str]]:
    path.write_text(text, encoding="utf-8")
    return [(fact.head, fact.relation, fact.tail) for fact in read_tsv(path)]


def test_no_header(tmp_path: Path) -> None:
    text = "UsedFor\tice_cream\teat\t2.0\nIsA\thttp://x/a_b\tfood\n\n"
    assert rows(tmp_path / "a.tsv", text) == [
        ("ice cream", "UsedFor", "eat"),
        ("http://x/a_b", "IsA", "food"),
    ]
    stated, unstated = (fact.weight for fact in read_tsv(tmp_path / "a.tsv"))
    assert stated == 2.0 and unstated != unstated


def test_no_header_and_the_head_first(tmp_path: Path) -> None:
    text = "hoe\tused for\tdig\nspade\tused for\tdig\nspade\tis a\ttool\ntrowel\tis a\ttool\n"
    assert rows(tmp_path / "a.tsv", text)[1:3] == [("spade", "used for", "dig"), ("spade", "is a", "tool")]
    one_head = "UsedFor\tspade\tdig\nIsA\tspade\ttool\n"
    assert rows(tmp_path / "a.tsv", one_head) == [("spade", "UsedFor", "dig"), ("spade", "IsA", "tool")]
    few_heads = "UsedFor\tspade\tdig\nIsA\tspade\ttool\nIsA\ttool\tthing\nMadeOf\tspade\tsteel\n"
    assert rows(tmp_path / "a.tsv", few_heads)[0] == ("spade", "UsedFor", "dig")
    one_relation = "spade\tis a\ttool\ntool\tis a\tthing\n"
    assert rows(tmp_path / "a.tsv", one_relation)[0] == ("spade", "is a", "tool")


def test_header_in_any_order(tmp_path: Path) -> None:
    assert rows(tmp_path / "a.tsv", "\ufeffhead\tnote\trel\ttail\na\tx\tr\tb\n") == [("a", "r", "b")]


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("r\ta\tb\nr\ta\n", "a.tsv:2: 2 column"),
        ("r\ta\tb\tmuch\n", "a.tsv:1:4: weight 'much'"),
        ("r\ta\tb\tnan\n", "is not a number"),
        ("r\t\tb\n", "empty cell"),
    ],
)
def test_broken(tmp_path: Path, text: str, output: str) -> None:
    with pytest.raises(InputError, match=output):
        rows(tmp_path / "a.tsv", text)


def test_wrong_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(b"r\ta\tb\nr\tcaf\xe9\tb\n")
    with pytest.raises(InputError, match="not UTF-8"):
        list(read_tsv(tmp_path / "a.tsv"))

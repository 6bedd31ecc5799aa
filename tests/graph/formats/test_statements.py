"""Batches gather single statements."""

from __future__ import annotations

from kgqa.graph.formats.source_files import Batch, Tally, batches
from kgqa.types import Label, Relation, Triple


def test_batches_keep_everything_in_order() -> None:
    given = [Triple("a", "r", "b"), Label("a", "A"), Batch(["c"], ["r"], ["d"]), Triple("e", "r", "f", 2.0)]
    found = list(batches(given))
    assert [batch.heads for batch in found] == [["a"], ["c"], ["e"]]
    assert found[0].labels == [Label("a", "A")]
    assert found[2].weights == [2.0]


def test_batches_are_bounded() -> None:
    assert [len(batch) for batch in batches([Triple("a", "r", "b")] * 5, size=2)] == [2, 2, 1]


def test_words_in_language() -> None:
    tally = Tally(words={"r": {"ko": "에 쓰인다", "en": "is used for"}, "s": {"": "has"}})
    assert list(tally.relations("ko")) == [Relation("r", "", "에 쓰인다"), Relation("s", "", "has")]
    assert next(tally.relations("fr")).words == "is used for"

"""Words of relations in the wanted language."""

from __future__ import annotations

from kgqa.graph.sources.tally import Tally
from kgqa.types import Relation


def test_words_in_language() -> None:
    tally = Tally(words={"r": {"ko": "에 쓰인다", "en": "is used for"}, "s": {"": "has"}})
    assert list(tally.relations("ko")) == [Relation("r", "", "에 쓰인다"), Relation("s", "", "has")]
    assert next(tally.relations("fr")).words == "is used for"

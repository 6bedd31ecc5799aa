from kgqa.language.relations import is_mentioned, nouns_of
from kgqa.types import Relation


def test_the_words_that_ask_for_a_measure() -> None:
    assert nouns_of("heavy") == ["weight", "mass"] and nouns_of("green") == []


def test_what_a_text_mentions() -> None:
    assert is_mentioned(Relation("x:wonBy", "won by"), "Who won it?")
    assert not is_mentioned(Relation("x:wonBy", "won by"), "Who sings?")

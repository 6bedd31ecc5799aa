import tomllib

import pytest

from kgqa.language.wording import answer_phrase, relation_in, yes_no_words
from kgqa.settings import RELATIONS
from kgqa.types import Relation
from kgqa.validation import LANGUAGES, WORDINGS

EVERYDAY = set(tomllib.loads(RELATIONS.read_text(encoding="utf-8")))


def test_a_language_is_a_file() -> None:
    assert LANGUAGES == ("auto", "de", "en", "es", "fr", "ja", "ko")


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_each_language_says_all_that_english_does(language: str) -> None:
    tables = [tomllib.loads((WORDINGS / f"{name}.toml").read_text("utf-8")) for name in ("en", language)]
    dates = {"date", "month", "months"}  # where values of own graphs are shown in the language
    assert tables[0]["said"].keys() == tables[1]["said"].keys() - dates
    facts = tables[1].get("facts", {})
    assert facts.keys() in (set(), EVERYDAY)
    for label, sentence in facts.values():
        assert label and sentence.count("{A}") == sentence.count("{B}") == 1


def test_relations_of_other_graphs_and_other_languages_stay() -> None:
    known = Relation("https://kgqa.org/relation/UsedFor", "used for", "is used for")
    own = Relation("https://example.org/paints", "paints", "paints")
    assert relation_in(known, "de").label == "Zweck"
    assert relation_in(own, "de") == own and relation_in(known, "xx") == known
    assert answer_phrase("xx", "because") == "because" and yes_no_words("ja") == {
        "yes": "はい",
        "no": "いいえ",
    }

import tomllib

import pytest

from kgqa.language.wording import answer_phrase, is_open_question, relation_in, yes_no_words
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


@pytest.mark.parametrize(
    ("language", "is_open", "others"),
    [
        ("de", ["Womit gräbt man?", "In welcher Stadt wohnt er?"], ["Wohnt er hier?", "Ist das Eis kalt?"]),
        ("es", ["¿Con qué cava?", "¿Dónde está?"], ["¿Es frío el hielo?", "¿Vive aquí?"]),
        ("fr", ["D'où vient l'eau ?", "C'est fait de quoi ?"], ["Est-ce froid ?", "Vit-il ici ?"]),
        ("ja", ["何で掘りますか？", "首都は？"], ["氷は冷たいですか？", "掘りましたか？"]),
        (
            "ko",
            ["무엇으로 팠니?", "수도의 이름은?", "얼마나 걸렸니?"],
            ["얼음은 차가운가요?", "누구나 키울 수 있나요?"],
        ),
        ("it", [], ["Dove abita?"]),
    ],
)
def test_question_words_tell_open_questions(language: str, is_open: list[str], others: list[str]) -> None:
    assert all(is_open_question(text, language) for text in is_open)
    assert not any(is_open_question(text, language) for text in others)

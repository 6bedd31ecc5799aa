"""The language of a question is told by its commonest words, else by its script."""

import pytest

from kgqa.language.detect import language_of, question_language

TEXTS = {
    "en": [
        "What did I dig with?",
        "capital of France",
        "trowel?",
        "Who wrote Les Misérables?",
        "Is 하늘대학교 private?",
    ],
    "ko": ["무엇으로 땅을 팠니?", "이 CPU는 어디에 쓰나요?", "물"],
    "de": ["Womit grabe ich?", "Wer hat das Museum gegründet?", "Wie heißt der Chef von Anna?"],
    "fr": ["Où est né le peintre ?", "Quelle est la capitale du pays ?", "Que porte Papi ?"],
    "es": ["¿Quién fundó la empresa?", "¿Dónde trabaja Ana?"],
    "ja": ["東京はどこにありますか。", "だれが書いた？"],
    "zh": ["谁写了这本书？"],
    "ru": ["Кто написал книгу?"],
    "he": ["איפה דנה קנתה לחם?"],
    "ar": ["من أين اشترى علي الكتاب؟"],
}


@pytest.mark.parametrize("code", TEXTS)
def test_language_of_questions(code: str) -> None:
    assert [language_of(text) for text in TEXTS[code]] == [code] * len(TEXTS[code])


def test_a_question_that_begins_with_an_auxiliary_is_english() -> None:
    assert question_language("Did Tom buy a car?", "Ann sold a car.") == "en"
    assert question_language("Was hob Ann?", "Sie bückte sich.") == "de"


def test_nothing_tells_of_nothing() -> None:
    assert language_of("") == language_of("42 + 7") == "en"

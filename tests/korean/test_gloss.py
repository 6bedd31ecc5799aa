from __future__ import annotations

import pytest

from kgqa.korean.gloss import gloss
from kgqa.korean.pieces import Said

LABELS = {"모종삽": "trowel", "굴착기": "excavator", "안전모": "hard hat", "삽": "shovel"}


def glossed(text, said=None):
    return gloss(text, LABELS.get, said)


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("꽃을 심으려고 땅을 팠다.", "I dug a ground to plant a flower."),
        ("땅을 무엇으로 팠니?", "What did I dig a ground with?"),
        ("여기는 어디일까?", "Where is this?"),
        ("왜 그랬을까?", "Why did he do that?"),
        ("민지는 기분이 어땠을까?", "How did Minji feel?"),
        ("누가 창문을 깼어요?", "Who broke a window?"),
        ("그때가 언제였습니까?", "When was that?"),
        ("엄마는 사과를 몇 개 샀니?", "How many apples did mom buy?"),
        ("유나에게 무엇이 필요했니?", "What did Yuna need?"),
        ("그다음에 무슨 일이 일어났습니까?", "What happened next?"),
        ("그는 머리에 안전모를 썼습니다.", "He wore a hard hat on a head."),
        ("아이들은 가지 않았다.", "The children did not go."),
        ("비가 와서 우리는 집에 갔다.", "Because it rained, we went to a house."),
        ("고양이는 세탁기 안에서 잤다.", "The cat slept in a washing machine."),
        ("수영할 수 없었다.", "I could not swim."),
        ("책상은 나무로 만들어졌다.", "The desk was made of a tree."),
        ("부산까지 얼마나 걸렸습니까?", "How long did it take to Busan?"),
    ],
)
def test_korean_in_english_order(korean, english):
    assert glossed(korean).text == english


@pytest.mark.parametrize(
    ("english", "korean"),
    [
        ("a frying pan", "프라이팬"),
        ("with a frying pan", "프라이팬"),
        ("we", "우리"),
        ("Because a shovel broke", "삽이 부러져서"),
    ],
)
def test_english_words_lead_back_to_korean_ones(english, korean):
    text = "삽이 부러져서 우리는 프라이팬으로 땅을 팠다."
    found = glossed(text)
    at = found.text.index(english)
    span = found.original(at, at + len(english))
    assert text[span.start : span.end] == korean


def test_a_question_goes_on_about_what_the_passage_said():
    said = Said()
    glossed("외할머니는 목도리를 뜨고 계셨어요.", said)
    assert glossed("무엇으로 뜨셨을까요?", said).text == "What did she knit it with?"


def test_unknown_words_are_kept_in_latin_letters():
    assert "kkureumi" in glossed("나는 꾸르미를 샀다.").text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "ㅋㅋㅋ",
        "음...",
        "삽",
        "에서 으로",
        "그리고 그래서 하지만",
        "3만 5천원!",
        "왜",
        "아니라고 했잖아요",
        "\n\n",
    ],
)
def test_no_text_is_too_odd(text):
    glossed(text)


def test_a_question_without_a_verb_asks_what_it_is():
    assert glossed("새를 잡는 고양이의 이름은?").text == "What is the name of the cat that catches a bird?"

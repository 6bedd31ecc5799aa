from __future__ import annotations

import pytest

from kgqa.korean.english.nouns import Said
from kgqa.korean.english.translation import gloss

LABELS = {
    "꽃을 심다": "plant flowers",
    "상자를 열다": "cut cardboard",
    "모종삽": "trowel",
    "굴착기": "excavator",
    "안전모": "hard hat",
    "삽": "shovel",
}


def glossed(text, said=None):
    return gloss(text, LABELS.get, said)


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("꽃을 심으려고 땅을 팠다.", "I dug the ground to plant flowers."),
        ("비가 와서 우리는 집에 갔다.", "Because it rained, we went home."),
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
    assert glossed("무엇으로 뜨셨을까요?", said).text == "What did she knit the scarf with?"


def test_a_question_word_in_another_clause_leaves_the_verb_where_it_is():
    assert glossed("누가 산 우산이 노란색이니?").text.endswith("is yellow?")


def test_who_speaks_is_named():
    said = glossed("아버지는 회사까지 사십 분쯤 걸린다고 하셨다.").text
    assert "forty minutes" in said and said.endswith("the father said.")


def test_question_words_in_what_is_told_are_somebody_and_something():
    assert glossed("방에서 누가 전화를 받았다.").text == "Somebody answered the phone in a room."
    assert glossed("누가 전화를 받았니?").text == "Who answered the phone?"


def test_who_does_two_things_is_named_in_the_first():
    assert glossed("은주는 김밥을 싸서 가방에 넣었다.").text == "Eunju wrapped gimbap and put in a bag."


def test_with_whom_one_goes_to_do_something():
    said = Said()
    glossed("아빠랑 낚시하러 갔다.", said)
    assert glossed("누구랑 낚시하러 갔니?", said).text == "Who did I go to fish with?"


def test_rain_is_not_what_comes_next():
    assert glossed("비가 왔다. 동생이 집에 왔다.").text.endswith("The younger brother came home.")


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
        "나 좋아하게 만들고 싶다, 제가 좋아하고 있어요.",
        "아니라고 했잖아요",
        "\n\n",
    ],
)
def test_no_text_is_too_odd(text):
    glossed(text)


def test_a_question_without_a_verb_asks_what_it_is():
    assert glossed("새를 잡는 고양이의 이름은?").text == "What is the name of the cat that catches a bird?"


def test_a_deed_of_the_graph_keeps_words_of_its_own():
    passage = glossed("꽃을 심으려고 상자를 열었다.")
    assert passage.text == "I opened a box to plant flowers."
    at = passage.text.index("flowers")
    assert passage.original(at, at + len("flowers")) == (0, 1)


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("지난 토요일에 만났다.", "I met last Saturday."),
        ("형이 우산을 챙겨서 나갔다.", "The brother took an umbrella and went out."),
        ("현우는 배탈이 나서 울었다.", "Because he had a stomach ache, Hyeonu cried."),
    ],
)
def test_what_words_are_by_their_place(korean, english):
    assert glossed(korean).text == english


def test_a_reason_begins_with_its_noun():
    passage = glossed("배가 고파서 먹었다.")
    at = passage.text.index("hungry")
    assert passage.original(at, at + 6).start == 0

from __future__ import annotations

import pytest

from kgqa.korean.english.translation import gloss


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("여기는 어디일까?", "Where is this?"),
        ("왜 그랬을까?", "Why did he do that?"),
        ("민지는 기분이 어땠을까?", "How did Minji feel?"),
        ("그때가 언제였습니까?", "When was that?"),
        ("그다음에 무슨 일이 일어났습니까?", "What happened next?"),
        ("부산까지 얼마나 걸렸습니까?", "How long did it take to Busan?"),
        ("이것을 뭐라고 부르나요?", "What is this called?"),
        ("철수의 누나는 이름이 뭐야?", "What is Cheolsu's sister's name?"),
        ("고양이는 다리가 몇 개야?", "How many legs does a cat have?"),
        ("비행기 표는 얼마나 하나요?", "How much is an airplane ticket?"),
        ("소금은 맛이 어때?", "How is salt's taste?"),
    ],
)
def test_what_english_asks_in_words_of_its_own(korean, english):
    assert gloss(korean, {"세탁기": "washing machine", "안전모": "hard hat"}.get).text == english

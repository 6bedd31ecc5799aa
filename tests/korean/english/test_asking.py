from __future__ import annotations

import pytest

from kgqa.korean.english.gloss import gloss


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("땅을 무엇으로 팠니?", "What did I dig the ground with?"),
        ("누가 창문을 깼어요?", "Who broke a window?"),
        ("엄마는 사과를 몇 개 샀니?", "How many apples did mom buy?"),
        ("유나에게 무엇이 필요했니?", "What did Yuna need?"),
    ],
)
def test_the_question_word_comes_first(korean, english):
    assert gloss(korean, {"세탁기": "washing machine", "안전모": "hard hat"}.get).text == english

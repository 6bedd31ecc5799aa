from __future__ import annotations

import pytest

from kgqa.korean.english.translation import gloss


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("땅을 무엇으로 팠니?", "What did you dig the ground with?"),
        ("빵과 주스, 무엇을 샀니?", "What did you buy bread and juice?"),
        ("누가 창문을 깼어요?", "Who broke a window?"),
        ("엄마는 사과를 몇 개 샀니?", "How many apples did mom buy?"),
        ("유나에게 무엇이 필요했니?", "What did Yuna need?"),
        ("교실에 학생이 몇 명 있었는가?", "How many students were there in a classroom?"),
        ("학생이 몇 명 왔어?", "How many students came?"),
        ("비가 언제 왔니?", "When did it rain?"),
        ("유나는 몇 시에 잤니?", "At what time did Yuna sleep?"),
        ("유나는 무엇을 들고 갔을까요?", "What did Yuna take?"),
        ("유나는 학교에 갔나요?", "Did Yuna go to school?"),
        ("고양이는 날 수 있습니까?", "Can a cat fly?"),
        ("고양이는 동물인가?", "Is a cat an animal?"),
        ("이것은 우산이니?", "Is this an umbrella?"),
        ("냉장고에 우유가 있어?", "Is there milk in a fridge?"),
        ("비가 왔니?", "Did it rain?"),
        ("누구 생일입니까?", "Whose birthday is it?"),
        ("하루에 몇 번 씻니?", "How many times do you wash one day?"),
        ("도둑이 왜 들었니?", "Why did a burglar break in?"),
    ],
)
def test_the_question_word_comes_first(korean, english):
    assert gloss(korean, {"세탁기": "washing machine", "안전모": "hard hat"}.get).text == english

from __future__ import annotations

import pytest

from kgqa.korean.reading.parse import counts, is_of_another
from kgqa.types import Span

PASSAGE = "교실에 학생이 스물네 명 있었다. 선생님이 들어오셨다."


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("사과 다섯 개와 배 두 개를 샀다.", [("두", "배"), ("다섯", "사과")]),
        ("강아지가 세 마리 태어났어.", [("세", "강아지")]),
        ("학생은 스물네 명이다.", [("스물네", "학생")]),
        ("민호는 사과를 몇 개 샀습니까?", [("몇", "사과")]),
        ("선생님은 몇 분이셨나요?", [("몇", "선생님")]),
        ("세 시간 동안 잤다.", []),
        ("우유를 마셨다.", []),
    ],
)
def test_each_number_has_its_noun(text, counted):
    assert [(count.number, count.noun) for count in counts(text)] == counted


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("선생님은 몇 분이셨나요?", True),
        ("교실에 학생이 몇 명 있었나요?", False),
        ("아이는 몇 명이었나요?", False),
        ("누가 들어오셨나요?", False),
    ],
)
def test_a_number_of_another_thing_that_is_named(question, other):
    start = PASSAGE.index("스물네")
    assert is_of_another(Span(start, start + 5), question, PASSAGE) is other

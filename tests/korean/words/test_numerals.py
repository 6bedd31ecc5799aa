from __future__ import annotations

import pytest

from kgqa.korean.words import in_words, is_native, number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("하나", 1),
        ("한", 1),
        ("스무", 20),
        ("스물셋", 23),
        ("열두", 12),
        ("일곱", 7),
        ("아흔아홉", 99),
        ("삼", 3),
        ("십이", 12),
        ("이십만", 200_000),
        ("만", 10_000),
        ("이천이십육", 2026),
        ("3만", 30_000),
        ("1,200", 1200),
        ("천오백", 1500),
        ("사과", None),
        ("", None),
    ],
)
def test_number_words_of_both_kinds(text, value):
    assert number(text) == value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "zero"),
        (13, "thirteen"),
        (20, "twenty"),
        (42, "forty-two"),
        (300, "three hundred"),
        (1_000_001, "one million one"),
    ],
)
def test_numbers_in_english(value, words):
    assert in_words(value) == words


def test_korean_number_words_are_told_from_chinese_ones():
    assert [is_native(word) for word in ("두", "스물네", "사십", "40")] == [True, True, False, False]

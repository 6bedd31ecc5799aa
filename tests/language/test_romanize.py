from __future__ import annotations

import pytest

from kgqa.language.head_final import romanise


@pytest.mark.parametrize(
    ("hangul", "latin"),
    [
        ("민지", "minji"),
        ("서울", "seoul"),
        ("꽃밭", "kkotbat"),
        ("워", "wo"),
        ("Anna 왕", "Anna wang"),
        ("", ""),
    ],
)
def test_syllables_in_latin_letters(hangul, latin):
    assert romanise(hangul) == latin

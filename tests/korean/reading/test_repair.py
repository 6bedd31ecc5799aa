from __future__ import annotations

import pytest

from kgqa.graph.linking.normalize import Morpheme, morphemes
from kgqa.korean.reading.parse import mended


@pytest.mark.parametrize(
    ("text", "morpheme"),
    [
        ("나는 학교에 갔다.", ("나", "NP")),
        ("지난 토요일에 만났다.", ("지난", "NNG")),
        ("도시에 사는 동물을 보았다.", ("살", "VV")),
        ("뭘로 팠니?", ("으로", "JKB")),
        ("하늘이는 치과에 갔습니까?", ("하늘이", "NNP")),
        ("하늘이는 오전 열 시에 치과에 갔다.", ("하늘이", "NNP")),
    ],
)
def test_what_is_taken_for_something_else(text, morpheme):
    assert morpheme in [(m.form, m.tag) for m in mended(morphemes(text))]


def test_parts_of_one_time_are_one_word():
    found = [Morpheme("밤", "NNG", 0, 1), Morpheme("사이", "NNG", 1, 3)]
    assert [m.form for m in mended(found)] == ["밤사이"]


def test_the_rest_stays():
    found = morphemes("땅을 팠니?")
    assert mended(found) == list(found)

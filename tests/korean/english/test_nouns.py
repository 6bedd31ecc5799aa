from __future__ import annotations

import pytest

from kgqa.korean.english.nouns import Nouns, Said, is_animal, joined
from kgqa.korean.reading.parse import parse


def said(text, labels=None):
    """The first noun phrase of a text in English."""
    phrase = parse(f"{text} 봤다.")[0].clauses[0].phrases[0]
    nouns = Nouns(f"{text} 봤다.", (labels or {}).get, Said(), lambda _: ([], []))
    return joined(nouns.noun(phrase)).text


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("새 우산을", "A new umbrella"),
        ("내 휴대폰을", "My phone"),
        ("엄마의 시계를", "Mom's clock"),
        ("아이들을", "Children"),
        ("사과 세 개를", "Three apples"),
        ("우유를", "Milk"),
        ("여덟 살 꼬마를", "An eight-year-old child"),
        ("민지를", "Minji"),
        ("고양이와 개를", "A cat and a dog"),
        ("우리 집을", "Our house"),
        ("무엇을", "What"),
        ("몇 명을", "How many people"),
        ("어느 팀을", "Which team"),
        ("첫 수업을", "A first lesson"),
        ("그 사람을", "That person"),
        ("막내 삼촌을", "The youngest child uncle"),
    ],
)
def test_noun_phrases(korean, english):
    assert said(korean) == english


def test_a_concept_of_the_graph_stands_for_the_longest_run_of_nouns():
    assert said("커피 자루를", {"커피 자루": "coffee sack"}) == "A coffee sack"


def test_animals_act():
    phrase = parse("강아지가 짖었다.")[0].clauses[0].phrases[0]
    assert is_animal(phrase)

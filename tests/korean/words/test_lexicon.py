from __future__ import annotations

import pytest

from kgqa.korean.words import group, lexicon


@pytest.mark.parametrize(
    ("form", "adjective", "beside", "english"),
    [
        ("쓰다", False, {"모자"}, "wear"),
        ("쓰다", False, {"편지"}, "write"),
        ("쓰다", False, {"망치"}, "use"),
        ("쓰다", True, set(), "be bitter"),
        ("없는낱말", False, set(), None),
    ],
)
def test_a_predicate_in_the_sense_of_what_stands_beside_it(form, adjective, beside, english):
    assert lexicon().predicate(form, adjective, beside) == english


def test_a_noun_in_the_sense_of_what_stands_beside_it():
    words = lexicon()
    assert words.noun("배", {"건너다"}) == "boat"
    assert words.noun("배", {"아프다"}) == "belly"
    assert words.noun("배", {"사과"}) == "pear"


def test_every_predicate_is_in_its_dictionary_form():
    words = lexicon()
    assert all(form.endswith("다") for form in (*words.verbs, *words.adjectives))
    assert all(phrase.endswith("다") and " " in phrase for phrase in words.phrases)
    assert all(sense.english.strip() for senses in words.nouns.values() for sense in senses)


def test_groups():
    assert "강아지" in group("animals") and "삽" not in group("animals")

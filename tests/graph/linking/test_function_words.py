from __future__ import annotations

from kgqa.graph.linking.normalize import DETERMINERS, OPENERS, PARTICLES, PASSIVE, STOP_WORDS, SUBJECTS, lemma


def test_every_list_is_of_function_words_in_lower_case():
    for words in (OPENERS, PASSIVE - {"get", "gets", "got"}, SUBJECTS - {"let", "please"}):
        assert words <= STOP_WORDS
    assert all(word == word.lower() for word in STOP_WORDS | PARTICLES)


def test_openers_are_base_forms():
    assert {lemma(word) for word in OPENERS} == OPENERS


def test_determiners_hold_no_preposition_or_pronoun():
    assert not DETERMINERS & (PARTICLES | SUBJECTS)

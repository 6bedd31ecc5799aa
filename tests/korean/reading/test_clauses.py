from __future__ import annotations

from kgqa.korean.reading.clauses import Clause, Phrase, Predicate, Word, is_one_meaning


def test_a_phrase_knows_its_question_word_and_its_characters():
    phrase = Phrase([Word("색깔", 3, 5)], [Word("무슨", 0, 2)], particles=("을",))
    assert (phrase.asking, phrase.start, phrase.end) == ("무슨", 0, 5)
    assert Phrase([Word("우산", 0, 2)]).asking == ""


def test_what_is_joined_is_part_of_a_phrase():
    phrase = Phrase([Word("배", 4, 5)], joined=Phrase([Word("사과", 0, 2)]))
    assert (phrase.start, phrase.end) == (0, 5)


def test_a_hungry_belly_is_one_meaning():
    belly = Phrase([Word("배", 0, 1)], particles=("가",), cases=frozenset(("JKS",)))
    assert is_one_meaning(Clause([belly], predicate=Predicate("고프다", "VA", 3, 5)))
    assert not is_one_meaning(Clause([belly], predicate=Predicate("크다", "VA", 3, 5)))
    assert not is_one_meaning(Clause([belly]))

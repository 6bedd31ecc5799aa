from __future__ import annotations

from kgqa.korean.reading.parse import parse


def clauses(text):
    (sentence,) = parse(text)
    return sentence.clauses


def test_a_clause_modifies_the_next_noun_and_leaves_the_topic():
    (clause,) = clauses("나는 민수가 산 우산을 잃어버렸다.")
    topic, umbrella = clause.phrases
    assert topic.nouns[0].form == "나" and umbrella.nouns[0].form == "우산"
    (inner,) = umbrella.clauses
    assert inner.predicate.form == "사다" and inner.phrases[0].nouns[0].form == "민수"


def test_a_subject_comes_back_from_a_clause_that_took_it():
    (clause,) = clauses("아빠가 흔들리는 의자의 나사를 조였다.")
    assert clause.phrases[0].nouns[0].form == "아빠"
    assert clause.phrases[1].owner.clauses[0].predicate.form == "흔들리다"


def test_who_acts_in_order_to_is_named_in_the_main_clause():
    first, last = clauses("지호는 상을 타려고 달렸다.")
    assert [p.nouns[0].form for p in first.phrases] == ["상"] and last.phrases[0].nouns[0].form == "지호"


def test_who_is_hungry_is_named_where_he_acts():
    first, last = clauses("아기가 배가 고파서 울었다.")
    assert first.phrases[0].silent and last.phrases[0].nouns[0].form == "아기"

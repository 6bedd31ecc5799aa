from __future__ import annotations

import pytest

from kgqa.korean.reading.parse import parse


def clauses(text):
    (sentence,) = parse(text)
    return sentence.clauses


@pytest.mark.parametrize(
    "text",
    [
        "땅을 팠다.",
        "땅을 팠니?",
        "땅을 팠어요.",
        "땅을 팠습니다.",
        "땅을 파셨습니까?",
        "땅을 팠느냐?",
        "땅을 팠어?",
        "땅을 팠을까요?",
    ],
)
def test_every_speech_level_is_one_past_clause(text):
    (clause,) = clauses(text)
    assert (clause.predicate.form, clause.predicate.past) == ("파다", True)
    assert [(p.nouns[0].form, p.particles) for p in clause.phrases] == [("땅", ("을",))]


def test_numbers_and_counters():
    (clause,) = clauses("사과 일곱 개와 배 세 개를 샀다.")
    (bought,) = clause.phrases
    assert (bought.number.form, bought.counter.form, bought.joined.number.form) == ("세", "개", "일곱")


def test_questions_end_in_a_question_mark():
    told, asked = parse("꽃을 심었다. 왜 심었니?")
    assert not told.question and asked.question

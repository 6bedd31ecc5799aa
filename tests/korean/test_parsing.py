from __future__ import annotations

import pytest

from kgqa.korean.parsing import parse


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


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("꽃을 심으려고 땅을 팠다.", "to"),
        ("비가 와서 집에 갔다.", "because"),
        ("밥을 먹고 잤다.", "and"),
        ("자기 전에 씻었다.", "before"),
        ("밥을 먹은 다음에 잤다.", "after"),
        ("비가 오면 집에 간다.", "if"),
        ("작지만 무겁다.", "but"),
        ("비가 왔기 때문에 젖었다.", "because"),
        ("벨이 울리자 나갔다.", "when"),
        ("책을 읽고 나서 잤다.", "after"),
    ],
)
def test_how_a_clause_goes_on(text, link):
    first, last = clauses(text)
    assert first.link == link and last.link == ""


def test_a_reason_at_the_end():
    first, last = clauses("개가 짖은 것은 배가 고팠기 때문이다.")
    assert (first.link, last.link) == ("fact", "is because")


@pytest.mark.parametrize(
    ("text", "modal", "negative"),
    [
        ("갈 수 있다.", "can", False),
        ("갈 수 없었다.", "can", True),
        ("가고 싶다.", "want to", False),
        ("가야 했다.", "have to", False),
        ("가지 않았다.", "", True),
        ("안 갔다.", "", True),
        ("못 갔다.", "can", True),
        ("가지 못했다.", "can", True),
        ("가기 시작했다.", "begin to", False),
    ],
)
def test_helping_verbs(text, modal, negative):
    (clause,) = clauses(text)
    assert (clause.predicate.modal, clause.predicate.negative) == (modal, negative)


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


def test_numbers_and_counters():
    (clause,) = clauses("사과 일곱 개와 배 세 개를 샀다.")
    (bought,) = clause.phrases
    assert (bought.number.form, bought.counter.form, bought.joined.number.form) == ("세", "개", "일곱")


def test_who_acts_in_order_to_is_named_in_the_main_clause():
    first, last = clauses("지호는 상을 타려고 달렸다.")
    assert [p.nouns[0].form for p in first.phrases] == ["상"] and last.phrases[0].nouns[0].form == "지호"


def test_questions_end_in_a_question_mark():
    told, asked = parse("꽃을 심었다. 왜 심었니?")
    assert not told.question and asked.question

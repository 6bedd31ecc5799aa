from __future__ import annotations

import pytest

from kgqa.korean.reading.parse import parse


def clauses(text):
    (sentence,) = parse(text)
    return sentence.clauses


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


def test_what_is_carried_left_and_brought_is_one_verb():
    (clause,) = clauses("우산을 버스에 두고 내렸다.")
    assert clause.predicate.helped == "두고내리다" and clause.predicate.past


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

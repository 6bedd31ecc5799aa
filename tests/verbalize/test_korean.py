from __future__ import annotations

import pytest

from kgqa.graph.linking.linker import Linker
from kgqa.graph.load import open_graph
from kgqa.qa.gloss import glossed, question_in_english
from kgqa.qa.render import short_words
from kgqa.types import Passage, Question, Relation
from kgqa.verbalize.korean import (
    is_deed,
    korean_question,
    korean_relation,
    verbalize_korean_triple,
    with_particle,
)

pytest.importorskip("kiwipiepy")


@pytest.mark.parametrize(
    ("word", "particle", "said"),
    [
        ("삽", "을", "삽을"),
        ("가위", "을", "가위를"),
        ("가위", "를", "가위를"),
        ("삽", "가", "삽이"),
        ("칼", "으로", "칼로"),
        ("톱", "로", "톱으로"),
        ("모종삽 (작은)", "이", "모종삽 (작은)이"),
        ("TV", "을", "TV를"),
        ("3", "이", "3이"),
        ("의사", "와", "의사와"),
        ("연필", "과", "연필과"),
        ("삽", "는", "삽은"),
    ],
)
def test_the_particle_fits_the_last_sound(word, particle, said):
    assert with_particle(word, particle) == said


@pytest.mark.parametrize(
    ("head", "relation", "tail", "said"),
    [
        ("꽃을 심다", "HasInstrument", "모종삽", "꽃을 심는 일은 모종삽으로 한다"),
        ("집을 짓다", "HasInstrument", "굴착기", "집을 짓는 일은 굴착기로 한다"),
        ("모종삽", "UsedFor", "꽃을 심다", "모종삽은 꽃을 심는 데 쓴다"),
        ("모종삽", "IsA", "연장", "모종삽은 연장의 하나이다"),
        ("굴착기", "AtLocation", "공사장", "굴착기는 공사장에 있다"),
        ("땅을 파다", "AtLocation", "정원", "땅을 파는 일은 정원에서 한다"),
        ("정원사", "CapableOf", "꽃을 심다", "정원사는 꽃을 심을 수 있다"),
        ("빵을 만들다", "HasMaterial", "밀가루", "빵을 만드는 일에는 밀가루가 필요하다"),
        ("창문", "MadeOf", "유리", "창문은 유리로 만든다"),
        ("스웨터", "MadeOf", "털실", "스웨터는 털실로 만든다"),
        ("시험에 떨어지다", "HasEmotion", "슬픈", "시험에 떨어지는 일 때는 슬픈 기분이 든다"),
    ],
)
def test_facts_in_korean(head, relation, tail, said):
    assert verbalize_korean_triple(head, f"https://kgqa.org/relation/{relation}", "", tail) == said


def test_a_relation_of_any_other_graph_keeps_its_words():
    assert verbalize_korean_triple("벌", "urn:x:calms", "calms", "연기") == "벌 calms 연기"
    assert korean_relation(Relation("urn:x:calms", "calms")) == Relation("urn:x:calms", "calms")
    assert (
        korean_relation(Relation("https://kgqa.org/relation/UsedFor", "used for", "is used for")).label
        == "쓰임새"
    )


@pytest.mark.parametrize(
    ("label", "deed"), [("꽃을 심다", True), ("바다", False), ("판다", False), ("삽", False), ("다", False)]
)
def test_deeds_end_in_da(label, deed):
    assert is_deed(label) is deed


@pytest.mark.parametrize(
    ("name", "about", "english"),
    [
        ("UsedFor", "모종삽", "At what does trowel use?"),
        ("AtLocation", "모종삽", "Where is trowel?"),
        ("CapableOf", "개", "What is dog?"),
        ("CreatedBy", "빵", "Who make bread?"),
        ("HasInstrument", "꽃을 심다", "What is need to plant flowers?"),
    ],
)
def test_what_is_asked_of_a_fact_is_glossed(name: str, about: str, english: str) -> None:
    asked = korean_question(Relation(f"https://kgqa.org/relation/{name}", ""), about)
    assert question_in_english(Question(asked), Linker(open_graph("everyday")), "ko").text == english


def test_a_long_passage_is_not_glossed() -> None:
    linker, question = Linker(open_graph("everyday")), "땅을 무엇으로 팠니?"
    short, long = (Question(question, passage=Passage("꽃을 심으려고 땅을 팠다. " * n)) for n in (1, 30))
    assert glossed(short, linker, "ko") is not None and glossed(long, linker, "ko") is None


def test_of_relations_without_a_question_nothing_is_asked() -> None:
    assert not korean_question(Relation("https://kgqa.org/relation/LargerThan", "larger than"), "개")


def test_an_arrow_says_what_its_verb_does_not() -> None:
    assert short_words(Relation("r", "도구", "로 한다")) == "도구"
    assert short_words(Relation("r", "쓰임새", "에 쓰인다")) == "쓰인다"

"""Facts said in Korean, each label with the particle that fits its last sound."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache

from kgqa.assets import RELATIONS
from kgqa.graph.linking.korean import is_hangul
from kgqa.types import Relation

_FINALS, _RIEUL = 28, 8
_PAIRS = {"을": "를", "이": "가", "은": "는", "과": "와", "으로": "로", "이다": "다", "이라": "라"}
"""Particles after a consonant, and after a vowel."""
_VOWEL_FORMS = {other: one for one, other in _PAIRS.items()}
_SENSE = re.compile(r"\s*\([^)]*\)")
_CLOSED = frozenset("013678LMNR")  # read 영 일 삼 육 칠 팔, 엘 엠 엔 알
_TEMPLATES = {
    "UsedFor": ("{A:은} {do B} 데 쓴다", "{A:은} {B}에 쓴다"),
    "IsA": ("{A:은} {B}의 하나이다",) * 2,
    "AtLocation": ("{A:은} {B}에서 한다", "{A:은} {B}에 있다"),
    "CapableOf": ("{A:은} {can B} 수 있다", "{A:은} {B:을} 할 수 있다"),
    "PartOf": ("{A:은} {B}의 일부이다",) * 2,
    "HasA": ("{A:은} {B:이} 있다",) * 2,
    "MadeOf": ("{A:은} {B:으로} 만든다",) * 2,
    "HasProperty": ("{A:은} {is B}",) * 2,
    "Causes": ("{A:은} {B:을} 일으킨다",) * 2,
    "CausesDesire": ("{A:은} {B:을} 하고 싶게 한다",) * 2,
    "HasPrerequisite": ("{A:은} {B} 다음에 한다",) * 2,
    "HasSubevent": ("{A}에는 {B:이} 들어 있다",) * 2,
    "HasFirstSubevent": ("{A:은} {B:으로} 시작한다",) * 2,
    "HasLastSubevent": ("{A:은} {B:으로} 끝난다",) * 2,
    "MotivatedByGoal": ("{A:은} {B:을} 위해서 한다",) * 2,
    "Desires": ("{A:은} {B:을} 바란다",) * 2,
    "ReceivesAction": ("{A:은} {B:을} 당한다",) * 2,
    "LocatedNear": ("{A:은} {B} 가까이에 있다",) * 2,
    "Antonym": ("{A:은} {B}의 반대이다",) * 2,
    "SimilarTo": ("{A:은} {B:과} 비슷하다",) * 2,
    "DistinctFrom": ("{A:은} {B:이} 아니다",) * 2,
    "CreatedBy": ("{A:은} {B:이} 만든다",) * 2,
    "HasInstrument": ("{A:은} {B:으로} 한다",) * 2,
    "HasAgent": ("{A:은} {B:이} 한다",) * 2,
    "HasMaterial": ("{A}에는 {B:이} 필요하다",) * 2,
    "HasClothing": ("{A}에는 {B:을} 입는다",) * 2,
    "HasTime": ("{A:은} {B}에 한다", "{A:은} {B}에 있다"),
    "HasEmotion": ("{A} 때는 {B} 기분이 든다",) * 2,
    "SuitedTo": ("{A:은} {B}에 알맞다",) * 2,
}
"""By the name of the relation: for a deed and for a thing as the head, or as the tail where its verb is inflected."""


def with_particle(word: str, particle: str) -> str:
    """A word with the form of a particle that fits its last sound; what stands in brackets is not said.

    >>> with_particle("모종삽", "으로"), with_particle("굴착기", "으로"), with_particle("연필", "으로")
    ('모종삽으로', '굴착기로', '연필로')
    """
    one = _VOWEL_FORMS.get(particle, particle)
    return word + (one if _closed(word, one) else _PAIRS.get(one, one))


def _closed(word: str, particle: str) -> bool:
    """Whether a word ends in a consonant, for the choice of a particle: 로 follows ㄹ as it does a vowel."""
    said = _SENSE.sub("", word).rstrip(" \"'”’)")
    last = said[-1:] or word[-1:]
    if not is_hangul(last):
        return last in _CLOSED or (last.islower() and last not in "aeiouwy")
    final = (ord(last) - ord("가")) % _FINALS
    return bool(final) and not (particle == "으로" and final == _RIEUL)


@lru_cache(maxsize=1)
def _relations() -> dict[str, tuple[str, str]]:
    table = tomllib.loads(RELATIONS.read_text(encoding="utf-8"))
    return {name: (row.get("ko", ""), row.get("ko_words", "")) for name, row in table.items()}


def korean_relation(relation: Relation) -> Relation:
    """A relation with its Korean label and words, where they are known by the last part of its name."""
    label, words = _relations().get(_last_part(relation.name), ("", ""))
    return Relation(relation.name, label or relation.label, words or relation.words)


def _last_part(name: str) -> str:
    return re.split(r"[/#:]", name)[-1]


def say_fact(head: str, relation: str, words: str, tail: str) -> str:
    """A fact as a Korean sentence without a full stop.

    Args:
        head, tail: Korean labels; those that end in 다 are deeds.
        relation: the relation's name, an IRI or plain; by its last part the wording is chosen.
        words: the relation in words, for relations of any other graph.

    >>> say_fact("꽃을 심다", "https://kgqa.org/relation/HasInstrument", "", "모종삽")
    '꽃을 심는 일은 모종삽으로 한다'
    """
    templates = _TEMPLATES.get(_last_part(relation))
    if templates is None:
        return f"{head} {words} {tail}"
    decides = tail if "do B" in templates[0] or "can B" in templates[0] else head
    template = templates[0] if is_deed(decides) else templates[1]
    return re.sub(r"\{([^}]+)\}", lambda match: _filled(match.group(1), head, tail), template)


def _filled(slot: str, head: str, tail: str) -> str:
    name, _, particle = slot.partition(":")
    if name in ("do B", "can B", "is B"):
        return {"do B": _modifying(tail), "can B": _possible(tail), "is B": _predicative(tail)}[name]
    label = head if name == "A" else tail
    said = f"{_modifying(label)} 일" if is_deed(label) else _SENSE.sub("", label)
    return with_particle(said, particle) if particle else said


def is_deed(label: str) -> bool:
    """Whether a Korean label is a predicate in dictionary form: 꽃을 심다."""
    return (
        len(label) > 1
        and label.endswith("다")
        and not label.endswith(("바다", "판다", "소다", "베란다", "란다"))
    )


def _modifying(label: str) -> str:
    """A deed before a noun: 꽃을 심다 as 꽃을 심는, 땅을 파다 as 땅을 파는, 만들다 as 만드는."""
    stem = label[:-1]
    if label.endswith(("있다", "없다")):
        return stem + "는"
    if not is_hangul(stem[-1:]):
        return stem + "는"
    final = (ord(stem[-1]) - ord("가")) % _FINALS
    if final == _RIEUL:
        return stem[:-1] + chr(ord(stem[-1]) - _RIEUL) + "는"
    return stem + "는"


def _possible(label: str) -> str:
    """A deed before 수 있다: 심다 as 심을, 파다 as 팔."""
    if not is_deed(label):
        return with_particle(label, "을") + " 할"
    stem = label[:-1]
    final = (ord(stem[-1]) - ord("가")) % _FINALS
    if final == _RIEUL:
        return stem
    return stem + "을" if final else stem[:-1] + chr(ord(stem[-1]) + _RIEUL)


def _predicative(label: str) -> str:
    """A property as a predicate: what modifies a noun (날카로운) stays before 것이다."""
    return (
        label if is_deed(label) else f"{label} 것이다" if _modifies(label) else with_particle(label, "이다")
    )


def _modifies(label: str) -> bool:
    last = label[-1:]
    return is_hangul(last) and (last in "은는의" or (ord(last) - ord("가")) % _FINALS == 4)


def korean_question(relation: Relation, about: str, dated: bool = False, person: bool = False) -> str:
    """A Korean question for what a relation of a thing leads to, the relation called as its graph calls it.

    >>> korean_question(Relation("", "감독"), "낮은 물결", person=True)
    '낮은 물결의 감독은 누구인가요?'
    """
    ends = "언제인가요" if dated else "누구인가요" if person else "무엇인가요"
    return f"{about}의 {with_particle(korean_relation(relation).label, '은')} {ends}?"

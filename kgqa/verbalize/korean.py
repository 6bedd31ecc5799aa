"""Verbalizes facts in Korean; particles agree with the final sound of each label."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

from kgqa.settings import RELATIONS
from kgqa.types import Relation
from kgqa.verbalize.fact_sentences import SENSE, relation_key

_HANGUL = re.compile("[가-힣]")
FINALS, _NIEUN, RIEUL = 28, 4, 8
"""Unicode numbers syllables by initial, vowel and final consonant (28, 0 for none); numbers of two finals."""
_PAIRS = {"을": "를", "이": "가", "은": "는", "과": "와", "으로": "로", "이다": "다", "이라": "라"}
"""Particles after a consonant, and after a vowel."""
_VOWEL_FORMS = {other: one for one, other in _PAIRS.items()}
_THINGS_IN_DA = ("바다", "판다", "소다", "란다")
_CLOSED = frozenset("013678LMNR")  # read 영 일 삼 육 칠 팔, 엘 엠 엔 알


def is_korean(text: str) -> bool:
    """Whether a text has Hangul in it."""
    return _HANGUL.search(text) is not None


def is_hangul(letter: str) -> bool:
    """Whether a letter is a Hangul syllable."""
    return "가" <= letter <= "힣"


def with_particle(word: str, particle: str) -> str:
    """A word with the allomorph of a particle that fits its final sound; text in brackets is ignored.

    >>> with_particle("모종삽", "으로"), with_particle("굴착기", "으로"), with_particle("연필", "으로")
    ('모종삽으로', '굴착기로', '연필로')
    """
    one = _VOWEL_FORMS.get(particle, particle)
    return word + (one if _closed(word, one) else _PAIRS.get(one, one))


def _closed(word: str, particle: str) -> bool:
    """Whether a word ends in a consonant, to choose a particle; 로 follows ㄹ as well as vowels."""
    said = SENSE.sub("", word).rstrip(" \"'”’)")
    last = said[-1:] or word[-1:]
    if not is_hangul(last):
        return last in _CLOSED or (last.islower() and last not in "aeiouwy")
    final = final_consonant(last)
    return bool(final) and not (particle == "으로" and final == RIEUL)


def final_consonant(syllable: str) -> int:
    """Index of a syllable's final consonant, 0 for none."""
    return (ord(syllable) - ord("가")) % FINALS


@lru_cache(maxsize=1)
def _templates() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _relations() -> dict[str, tuple[str, str]]:
    table = tomllib.loads(RELATIONS.read_text(encoding="utf-8"))
    return {name: (row.get("ko", ""), row.get("ko_words", "")) for name, row in table.items()}


def korean_relation(relation: Relation) -> Relation:
    """A relation with its Korean label and words, if the last part of its name is known."""
    label, words = _relations().get(relation_key(relation.name), ("", ""))
    return Relation(relation.name, label or relation.label, words or relation.words)


def verbalize_korean_triple(head: str, relation: str, words: str, tail: str) -> str:
    """A fact as a Korean sentence without a full stop.

    Args:
        head, tail: Korean labels; those that end in 다 are actions (verb phrases).
        relation: the relation's name, an IRI or plain; its last part selects the template.
        words: the relation in words, for relations of any other graph.

    >>> verbalize_korean_triple("꽃을 심다", "https://kgqa.org/relation/HasInstrument", "", "모종삽")
    '꽃을 심는 일은 모종삽으로 한다'
    """
    template = _templates().get(relation_key(relation))
    if template is None:
        return f"{head} {words} {tail}"
    if not isinstance(template, str):
        of_deed, of_thing = template
        decides = tail if "do B" in of_deed or "can B" in of_deed else head
        template = of_deed if is_deed(decides) else of_thing
    return re.sub(r"\{([^}]+)\}", lambda match: _filled(match.group(1), head, tail), template)


def _filled(slot: str, head: str, tail: str) -> str:
    name, _, particle = slot.partition(":")
    if name == "to A":
        return _intending(head) if is_deed(head) else with_particle(SENSE.sub("", head), "을") + " 하려면"
    if name in ("do B", "can B", "is B"):
        return {"do B": _modifying(tail), "can B": _possible(tail), "is B": _predicative(tail)}[name]
    label = head if name == "A" else tail
    said = f"{_modifying(label)} 일" if is_deed(label) else SENSE.sub("", label)
    return with_particle(said, particle) if particle else said


def is_deed(label: str) -> bool:
    """Whether a Korean label is a predicate in dictionary form: 꽃을 심다."""
    return len(label) > 1 and label.endswith("다") and not label.endswith(_THINGS_IN_DA)


def _modifying(label: str) -> str:
    """An action in adnominal form: 꽃을 심다 -> 꽃을 심는, 땅을 파다 -> 땅을 파는, 만들다 -> 만드는."""
    stem = label[:-1]
    if is_hangul(stem[-1:]) and final_consonant(stem[-1]) == RIEUL:
        stem = stem[:-1] + chr(ord(stem[-1]) - RIEUL)
    return stem + "는"


def _intending(label: str) -> str:
    """An action as a purpose: 심다 -> 심으려면, 파다 -> 파려면."""
    return label[:-1] + ("으려면" if final_consonant(label[-2]) not in (0, RIEUL) else "려면")


def _possible(label: str) -> str:
    """An action before 수 있다: 심다 -> 심을, 파다 -> 팔."""
    if not is_deed(label):
        return with_particle(label, "을") + " 할"
    stem = label[:-1]
    final = final_consonant(stem[-1])
    if final == RIEUL:
        return stem
    return stem + "을" if final else stem[:-1] + chr(ord(stem[-1]) + RIEUL)


def _predicative(label: str) -> str:
    """A property as a predicate; an adnominal form (날카로운) stays as it is before 것이다."""
    if is_deed(label):
        return label
    last = label[-1:]
    modifies = is_hangul(last) and (last in "은는의" or final_consonant(last) == _NIEUN)
    return f"{label} 것이다" if modifies else with_particle(label, "이다")


def korean_question(relation: Relation, about: str, dated: bool = False, person: bool = False) -> str:
    """A Korean question for the tail of a relation, with the graph's label of the relation; empty for relations of the
    shipped graph that make no good question.

    >>> korean_question(Relation("https://kgqa.org/relation/UsedFor", "used for"), "모종삽")
    '모종삽은 무엇에 쓰나요?'
    >>> korean_question(Relation("", "감독"), "낮은 물결", person=True)
    '낮은 물결의 감독은 누구인가요?'
    >>> korean_question(Relation("", "eats"), "Odin")
    'Odin의 ‘eats’에 해당하는 것은 무엇인가요?'
    """
    name = relation_key(relation.name)
    if name in _relations():
        asked = _templates()["questions"].get(name, "")
        return re.sub(r"\{([^}]+)\}", lambda match: _filled(match.group(1), about, ""), asked)
    ends = "언제인가요" if dated else "누구인가요" if person else "무엇인가요"
    label = relation.label
    if not is_korean(label):
        label = f"‘{relation.words or label}’에 해당하는 {'때' if dated else '사람' if person else '것'}"
    return f"{about}의 {with_particle(label, '은')} {ends}?"

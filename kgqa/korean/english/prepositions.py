"""Korean particles as English prepositions, by the noun before them and the verb after them."""

from __future__ import annotations

from kgqa.korean.reading.clauses import Phrase, Predicate
from kgqa.korean.words.lexicon import group

_ON = group("on")
_WHITHER = group("whither")
_BESIDE = group("beside")
_MOTION = group("motion")
MADE = frozenset(["만들다", "만들어지다", "짓다", "만들어주다", "담그다"])
_TURNED = group("turned")
_VEHICLES = frozenset(("기차", "버스", "배", "비행기", "자전거", "지하철", "택시", "차"))
_ALWAYS = {
    **dict.fromkeys(("에게", "한테", "께", "더러"), "to"),
    **dict.fromkeys(("에게서", "한테서"), "from"),
    **dict.fromkeys(("와", "과", "하고", "이랑", "랑"), "with"),
    **dict.fromkeys(("처럼", "같이"), "like"),
    "보다": "than",
}
"""Particles that are said in one way, whatever stands beside them."""
_WITH_E = {
    **dict.fromkeys(("바르다", "뿌리다", "치다"), "on"),
    **dict.fromkeys(("맞다", "쏘이다", "물리다", "놀라다"), "by"),
    **dict.fromkeys(("주다", "들어가다", "들어오다", "오르다", "올라가다", "타다"), ""),
}
"""How 에 is said with a predicate."""


def preposition(phrase: Phrase, predicate: Predicate | None) -> str:
    """The English preposition for the particle of a phrase beside a predicate, empty where there is none."""
    particles = phrase.particles
    form = predicate.form if predicate else ""
    helped = predicate.helped if predicate else ""
    first = phrase.particle
    last = phrase.last
    if first in _ALWAYS:
        return _ALWAYS[first]
    if first in ("으로", "로", "으로써", "로써"):
        if form in MADE or helped in MADE:
            return "of"
        if form in _TURNED:
            return "into"
        if form == "칠하다":
            return ""
        if form in _MOTION or form.endswith(("가다", "오다")):
            return "by" if last in _VEHICLES else "to"
        return "to" if last in _WHITHER or last.endswith(("쪽", "역", "장", "실")) else "with"
    if "까지" in particles:
        return "to"
    if "부터" in particles:
        return "from"
    if first == "마다":
        return "every"
    if first == "에":
        counter = phrase.counter.form if phrase.counter else ""
        if counter == "시":
            return "at"
        if counter == "원" or (phrase.asking and form in ("쓰다", "사용하다", "이용하다", "쓰이다")):
            return "for"
        if form in _MOTION:
            return "to"
        if form in _WITH_E:
            return _WITH_E[form]
    elif first != "에서":
        return ""
    elif form in ("내리다", "내려오다", "떨어지다", "나오다", "꺼내다", "오다", "미루다", "따다", "모으다"):
        return "from"
    return "on" if last in _ON else "by" if last in _BESIDE else "in"

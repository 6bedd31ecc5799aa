"""Simplifies periphrastic Korean questions before they are translated.

Korean may nominalize the action ("the reason that you dug is what") and express means ("using what did you dig") or
purpose ("to do what did you dig") as clauses. A reader of English was trained on the plain forms: why, and with what.
"""

from __future__ import annotations

from dataclasses import replace

from kgqa.korean.reading.clauses import Clause, Phrase, Predicate, Sentence, Word
from kgqa.korean.words import group

_USING = frozenset(("쓰다", "사용하다", "이용하다"))
_HOLDING = _USING | {"가지다", "들다"}
_WHAT = frozenset(("무엇", "뭐", "무어", "뭣"))
_WHY, _HOW, _WHEN = "왜", "어떻게", "언제"
_ADVERBS = {
    **dict.fromkeys(("이유", "까닭", "원인", "목적"), _WHY),
    **dict.fromkeys(("방법",), _HOW),
    **dict.fromkeys(("때", "시간", "시기", "날", "날짜"), _WHEN),
}
"""Nouns that, modified by a clause, stand for a question word."""
_ASKED_AFTER = _WHAT | {"누구", "누", "어디", "언제", "때문"}
_PLACES = frozenset(("곳", "장소", "데"))
_PEOPLE = frozenset(("사람", "분", "이"))
_THINGS = frozenset(("것", "거", "건"))
_GOING_ON = frozenset(("가다", "오다", "놀다", "다니다", "나가다", "있다", "살다", "지내다", "자다"))
_OF_THINGS = group("of_things")
_MOTION = group("motion")


def restated(sentence: Sentence) -> Sentence:
    """A question in plain form; any other sentence, and a question that is plain already, unchanged."""
    if not sentence.question:
        return sentence
    *before, last = sentence.clauses
    if before and before[-1].link == "fact" and (plain := _without_fact(before[-1], last)):
        before, last = before[:-1], plain
    if before and (plain := _allowed(before[-1], last)):
        before, last = before[:-1], plain
    last = _without_kind(_without_cause(_without_frame(last)))
    kept = []
    for clause in before:
        joined = (
            _with_means(clause, last)
            or _for_use(clause, last)
            or _with_use(clause, last)
            or _with_aim(clause, last)
            or _with_next(clause, last)
        )
        if joined is None:
            needed = clause.link == "when" and last.predicate and last.predicate.form == "필요하다"
            kept.append(replace(clause, link="to") if needed else clause)
        else:
            last = joined
    return replace(sentence, clauses=[*kept, _with_deed(last)])


def _allowed(clause: Clause, last: Clause) -> Clause | None:
    """어디로 가면 되니, 무엇으로 치우면 좋을까: what must be done. 먹어도 되니: what may be done."""
    modal = {"if": "have to", "although": "can"}.get(clause.link)
    if modal is None or clause.predicate is None or last.predicate is None or last.phrases or last.adverbs:
        return None
    if last.predicate.form not in ("되다", "좋다", "괜찮다"):
        return None
    return replace(clause, link="", predicate=replace(clause.predicate, modal=modal))


def _without_frame(clause: Clause) -> Clause:
    """땅을 판 이유는 무엇이니, 낙타가 사는 곳은 어디니, 빵을 굽는 사람은 누구니: the clause before the noun asks."""
    asked = next((p for p in clause.phrases if p.asking), None)
    framed = next((p for p in clause.phrases if p.clauses and not p.asking and p.nouns), None)
    if framed is None or len(framed.clauses) != 1:
        return clause
    copula = clause.predicate is not None and clause.predicate.tag == "VCP"
    if not (copula and asked is not None and "VCP" in asked.cases) and clause.predicate is not None:
        return clause
    noun, inner = framed.nouns[-1], framed.clauses[0]
    deed = inner.predicate
    if deed is None or deed.tag != "VV":
        return clause
    if asked is not None and asked.nouns and asked.last not in _ASKED_AFTER:
        return clause  # what colour, how many
    if asked is not None and (asked.number or not asked.nouns):
        return clause
    because = asked is not None and asked.last == "때문"
    if asked is None and noun.form not in _ADVERBS:
        return clause
    rest = [p for p in clause.phrases if p is not framed and p is not asked]
    plain = Clause([*rest, *inner.phrases], [*clause.adverbs, *inner.adverbs], _without_to(deed))
    adverb = _WHY if because else _ADVERBS.get(noun.form)
    if adverb is not None:
        plain.adverbs.append(Word(adverb, noun.start, noun.end))
        return plain
    plain.phrases.append(_gap(framed, plain))
    return plain


def _without_fact(clause: Clause, last: Clause) -> Clause | None:
    """머리에 쓰는 것은 무엇이니: asks for the object, or for the subject."""
    asked = next((p for p in last.phrases if "VCP" in p.cases and p.asking and p.nouns), None)
    deed = clause.predicate
    if asked is None or deed is None or deed.tag != "VV" or asked.last not in _ASKED_AFTER:
        return None
    plain = Clause([*_others(last, asked), *clause.phrases], [*clause.adverbs], _without_to(deed))
    word = asked.nouns[-1]
    if word.form == "때문":
        plain.adverbs.append(Word(_WHY, word.start, word.end))
    elif word.form == "언제":
        plain.adverbs.append(word)
    else:
        noun = {"어디": "곳", "누구": "사람", "누": "사람"}.get(word.form, "것")
        plain.phrases.append(_gap(Phrase([Word(noun, word.start, word.end)]), plain))
    return plain


def _without_to(deed: Predicate) -> Predicate:
    return replace(deed, modal="" if deed.modal == "to" else deed.modal)


def _without_kind(clause: Clause) -> Clause:
    """무엇에 쓰는 물건이니, 무엇을 하는 사람이니: what is done with it, what it does."""
    kind = next((p for p in clause.phrases if "VCP" in p.cases and len(p.clauses) == 1), None)
    about = next((p for p in clause.phrases if p is not kind and p.cases & {"JX", "JKS"}), None)
    if kind is None or about is None or not kind.nouns:
        return clause
    inner, noun = kind.clauses[0], kind.last
    if inner.predicate is None or not any(p.asking for p in inner.phrases):
        return clause
    if inner.predicate.form in _USING and noun not in _PEOPLE:
        about = replace(about, particles=("를",), cases=frozenset(("JKO",)))
    elif noun in _PLACES:
        about = replace(about, particles=("에서",), cases=frozenset(("JKB",)))
    elif noun not in _PEOPLE:
        return clause
    return replace(inner, phrases=[about, *inner.phrases], link="")


def _gap(framed: Phrase, clause: Clause) -> Phrase:
    """The question phrase in its role in the clause."""
    noun, predicate = framed.nouns[-1], clause.predicate
    assert predicate is not None
    if noun.form in _PLACES:
        particle = "에" if predicate.form in _MOTION or predicate.form == "살다" else "에서"
        where = Word("어디", noun.start, noun.end)
        return Phrase([where], particles=(particle,), cases=frozenset(("JKB",)))
    if noun.form in _PEOPLE:
        asked = Phrase([Word("누구", noun.start, noun.end)])
    elif noun.form in _THINGS:
        asked = Phrase([Word("무엇", noun.start, noun.end)])
    else:
        asked = Phrase(list(framed.nouns), [Word("어떤", noun.start, noun.start)])
    acts = any(p.cases & {"JKS"} or p.cases == {"JX"} for p in clause.phrases)
    done_to = not any("JKO" in p.cases for p in clause.phrases) and predicate.form in _OF_THINGS
    case = "JKO" if acts or done_to else "JKS"
    asked.cases, asked.particles = frozenset((case,)), ("을" if case == "JKO" else "이",)
    return asked


def _without_cause(clause: Clause) -> Clause:
    """무엇 때문에, 무슨 이유로: why. 어떤 방법으로: how."""
    for phrase in clause.phrases:
        last = phrase.last
        named = {"일": _WHY, "때문": _WHY, **_ADVERBS}.get(last)
        oblique = phrase.particle in ("으로", "로") or last == "때문"
        if phrase.asking and oblique and named in (_WHY, _HOW) and "VCP" not in phrase.cases:
            adverbs = [*clause.adverbs, Word(named, phrase.start, phrase.end)]
            return replace(clause, phrases=_others(clause, phrase), adverbs=adverbs)
    return clause


def _others(clause: Clause, asked: Phrase) -> list[Phrase]:
    return [p for p in clause.phrases if p is not asked]


def _asked_object(clause: Clause) -> Phrase | None:
    return next((p for p in clause.phrases if p.asking and ("JKO" in p.cases or not p.particles)), None)


def _by_means(phrase: Phrase) -> Phrase:
    return replace(phrase, particles=("으로",), cases=frozenset(("JKB",)))


def _with_means(clause: Clause, last: Clause) -> Clause | None:
    """무엇을 써서 땅을 팠니, 뭘 가지고 팠니: with what."""
    asked = _asked_object(clause)
    if clause.predicate is None or clause.predicate.form not in _HOLDING or asked is None:
        return None
    if clause.link not in ("because", "and", "then"):
        return None
    return replace(last, phrases=[*_others(clause, asked), *last.phrases, _by_means(asked)])


def _for_use(clause: Clause, last: Clause) -> Clause | None:
    """비누는 무엇을 할 때 쓰니: what is it used for."""
    asked = _asked_object(clause)
    if asked is None or asked.asking not in _WHAT or clause.link not in ("to", "when"):
        return None
    if clause.predicate is None or clause.predicate.form != "하다":
        return None
    if last.predicate is None or last.predicate.form not in _USING:
        return None
    others = [p for p in clause.phrases if p is not asked and not p.silent]
    wanted = replace(asked, particles=("에",), cases=frozenset(("JKB",)))
    return replace(last, phrases=[*others, *last.phrases, wanted])


def _with_use(clause: Clause, last: Clause) -> Clause | None:
    """땅을 파는 데 무엇을 썼니, 땅을 팔 때 무엇을 쓰니: with what did you dig."""
    asked = _asked_object(last)
    if last.predicate is None or last.predicate.form not in _USING or asked is None:
        return None
    deed = clause.predicate
    if deed is None or deed.tag != "VV" or not any("JKO" in p.cases for p in clause.phrases):
        return None
    if clause.link not in ("to", "when"):
        return None
    phrases = [*_others(last, asked), *clause.phrases, _by_means(asked)]
    adverbs = [*clause.adverbs, *last.adverbs]
    return replace(last, phrases=phrases, adverbs=adverbs, predicate=_said_as(deed, last.predicate))


def _with_aim(clause: Clause, last: Clause) -> Clause | None:
    """무엇을 하려고 땅을 팠니, 뭐 하러 갔니: why."""
    asked = _asked_object(clause)
    if clause.link != "to" or asked is None or asked.asking not in _WHAT:
        return None
    if clause.predicate is None or clause.predicate.form != "하다":
        return None
    why = Word(_WHY, asked.start, asked.end)
    return replace(last, phrases=[*_others(clause, asked), *last.phrases], adverbs=[*last.adverbs, why])


def _with_next(clause: Clause, last: Clause) -> Clause | None:
    """뭘 입고 가야 하니, 뭐 하고 노니: asks for the object of the first verb; the next verb adds nothing."""
    first, after = clause.predicate, last.predicate
    if first is None or after is None or clause.link not in ("and", "then") or after.form not in _GOING_ON:
        return None
    asked = any(p.asking for p in clause.phrases)
    if not asked or any(p.asking or "JKO" in p.cases for p in last.phrases) or last.adverbs:
        return None
    phrases = [*clause.phrases, *last.phrases]
    return replace(clause, phrases=phrases, predicate=_said_as(first, after), link="", ending="")


def _said_as(deed: Predicate, other: Predicate) -> Predicate:
    """A predicate with the tense, modal and negation of another."""
    return replace(deed, past=other.past, modal=other.modal, negative=other.negative)


def _with_deed(clause: Clause) -> Clause:
    """어떻게 해야 하니: what must be done."""
    predicate = clause.predicate
    how = next((a for a in clause.adverbs if a.form == _HOW), None)
    if how is None or predicate is None or predicate.form != "하다":
        return clause
    if any("JKO" in p.cases or not p.particles for p in clause.phrases):
        return clause
    what = Phrase([Word("무엇", how.start, how.end)], particles=("을",), cases=frozenset(("JKO",)))
    adverbs = [a for a in clause.adverbs if a is not how]
    return replace(clause, phrases=[*clause.phrases, what], adverbs=adverbs)

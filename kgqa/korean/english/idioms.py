"""Questions that English asks in words of its own: how somebody feels, what happened, how old, how long it takes."""

from __future__ import annotations

from dataclasses import replace

from kgqa.korean.english.pieces import Piece
from kgqa.korean.english.telling import Telling
from kgqa.korean.english.verbs import MANY, be, do
from kgqa.korean.reading.clauses import Clause, Predicate
from kgqa.korean.reading.roles import Roles
from kgqa.text.synthesis.inflection import plural


def idiom(telling: Telling, clause: Clause, roles: Roles, predicate: Predicate) -> list[Piece]:
    """What a question is in English words of their own, nothing where it is asked as any other."""
    nouns = [p.last for p in clause.phrases if p.nouns]
    spot = (predicate.start, predicate.end)
    who = [p for p in [*roles.topics, *roles.subjects] if p.last not in ("기분", "마음")]
    asks = {a.form for a in clause.adverbs} | {p.asking for p in clause.phrases}

    def done(word: str, otherwise: str, deed: str) -> list[Piece]:
        """A question word, who did it, and what they did."""
        subject = telling.noun(who[0], subject=True) if who else [Piece(otherwise)]
        person = subject[-1].text
        return [Piece(word), Piece(do(predicate.past, person in MANY, person)), *subject, Piece(deed, *spot)]

    if "기분" in nouns and (predicate.form in ("어떻다", "들다", "느끼다")):
        return done("how", telling.said.silent, "feel")
    if predicate.form in ("그렇다", "그러다") and "왜" in asks:
        return done("why", telling.said.subject or "he", "do that")
    named = next((p for p in clause.phrases if p.asking and p.particle == "라고"), None)
    if named is not None and predicate.form in ("부르다", "하다") and roles.objects:
        called = [p for p in roles.objects if p is not named]
        if called:
            subject = telling.noun(called[0])
            return [Piece("what", named.start, named.end), Piece(be(False, called[0].plural, "it")),
                    *subject, Piece("called", *spot)]  # fmt: skip
    happened = Piece("happened" if predicate.past else "happens", *spot)
    if predicate.form in ("일어나다", "생기다", "벌어지다", "있다") and "일" in nouns:
        return [Piece("what"), happened, *telling.rest(roles, clause, None)]
    if predicate.form == "되다" and "어떻게" in asks:
        subject = [piece for p in who for piece in (Piece("to"), *telling.noun(p))]
        return [Piece("what"), happened, *subject, *telling.rest(roles, clause, None)]
    if predicate.form == "걸리다" and ("얼마나" in asks or roles.asks("몇")):
        lasting = [p for p in [*roles.topics, *roles.subjects] if not p.asking]
        subject = telling.noun(lasting[0], subject=True) if lasting else [Piece("it")]
        return [Piece("how long"), Piece(do(predicate.past, False, "it")), *subject, Piece("take", *spot),
                *telling.rest(roles, clause, None)]  # fmt: skip
    if predicate.form == "하다" and asks & {"얼마", "얼마나"} and who and not roles.objects:
        return [Piece("how much"), Piece(be(predicate.past, False, "it"), *spot), *telling.noun(who[0])]
    if predicate.form == "들다" and "얼마" in asks:
        return [Piece("how much"), Piece(do(predicate.past, False, "it")), Piece("it cost", *spot)]
    return _copular_idiom(telling, roles, predicate)


def _copular_idiom(telling: Telling, roles: Roles, predicate: Predicate) -> list[Piece]:
    complement = roles.complement
    if predicate.tag != "VCP" or complement is None or not complement.asking:
        return []
    about = [*roles.topics, *roles.subjects]
    if roles.topics and roles.subjects and roles.subjects[0].owner is None and not complement.counter:
        about = [replace(roles.subjects[0], owner=roles.topics[0])]
    subject = telling.noun(about[0], subject=True) if about else []
    person = subject[-1].text if subject else "it"
    named = about[0].last if about and about[0].nouns else ""
    many = person in MANY or bool(about and about[0].plural) or person == "I"
    is_ = Piece(be(predicate.past, many, person), predicate.start, predicate.end)
    if named in ("여기", "거기", "이곳", "그곳"):
        return [Piece("where"), is_, Piece("this" if named in ("여기", "이곳") else "that")]
    if named in ("그때", "때"):
        return [Piece("when"), is_, Piece("that")]
    if complement.asking == "몇" and complement.counter is not None:
        if complement.counter.form in ("살", "세"):
            return [Piece("how old"), is_, *(subject or [Piece("he")])]
        has = roles.topics and roles.subjects  # 개미는 다리가 몇 개니
        counted = [roles.subjects[0]] if has else about
        things = telling.noun(counted[0], article=False) if counted else []
        things = [Piece(plural(p.text), p.start, p.end) for p in things]
        if has:
            have = Piece("have", predicate.start, predicate.end)
            return [Piece("how many"), *things, Piece(do(predicate.past, many, person)), *subject, have]
        many_be = "were" if predicate.past else "are"
        return [Piece("how many"), *things, Piece(many_be), Piece("there")]
    if named in ("이름", "제목"):
        return [Piece("what"), is_, *subject]
    return [*telling.noun(complement), is_, *(subject or [Piece("it")])]

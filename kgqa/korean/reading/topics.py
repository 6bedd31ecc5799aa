"""Which clause a noun phrase is part of: Korean names who acts once, at the beginning of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from kgqa.korean.reading.clauses import FELT, Clause, Phrase, is_one_meaning
from kgqa.korean.words.lexicon import lexicon

_ABOUT = frozenset(("JKS", "JX"))


def share_topics(clauses: Sequence[Clause]) -> None:
    """Let a topic be named where it governs: 지수는 배가 고파서 먹었다 is "because he was hungry, Jisu ate"."""
    for clause, after in pairwise(clauses):
        if clause.link in ("", "and", "then", "fact", "but") or any(p.cases & _ABOUT for p in after.phrases):
            continue
        subjects = [place for place, p in enumerate(clause.phrases) if "JKS" in p.cases]
        if len(subjects) > 1 and clause.predicate and clause.predicate.tag == "VA" and not _felt(clause):
            first, second = clause.phrases[subjects[0]], clause.phrases[subjects[1]]
            said = f"{second.last}{second.particle} {clause.predicate.form}"
            if said in lexicon().phrases:  # 아기가 배가 고파서
                clause.phrases[subjects[0]] = replace(first, silent=True)
            else:  # 손님들이 국이 맛있다며
                del clause.phrases[subjects[0]]
            after.phrases.insert(0, first)
            continue
        for place, phrase in enumerate(clause.phrases):
            if _is_topic(phrase):
                clause.phrases[place] = replace(phrase, silent=True)
                after.phrases.insert(0, phrase)
                break


def move_on(clause: Clause, following: Clause) -> None:
    """Move what a clause cannot be about to the next: who acts in order to, whose trousers are too small."""
    subject = any("JKS" in p.cases for p in clause.phrases)
    for phrase in clause.phrases[:]:
        topic = _is_topic(phrase)
        if (clause.link == "to" and (topic or "JKS" in phrase.cases)) or (
            clause.link in ("because", "when", "but")
            and topic
            and subject
            and not _felt(clause)
            and not is_one_meaning(clause)
        ):
            clause.phrases.remove(phrase)
            following.phrases.append(phrase)


def give_back_subject(clause: Clause) -> None:
    """Give a clause without a subject that of a modifying clause at its beginning: 누나가 새로 산 모자를 썼다."""
    phrases = clause.phrases
    if not phrases or any(p.cases & {"JKS", "JX", "VCP"} for p in phrases):
        return
    clauses = phrases[0].clauses or (phrases[0].owner.clauses if phrases[0].owner else [])
    if clauses and clauses[0].phrases and "JKS" in clauses[0].phrases[0].cases:
        phrases.insert(0, clauses[0].phrases.pop(0))


def modifying(inner: Clause) -> Clause:
    """Make of a clause one that modifies the next noun, and return the clause of that noun.

    The inner one takes the phrases after the topic, an adjective only its subject.
    """
    outer = Clause()
    assert inner.predicate is not None
    adjective = inner.predicate.tag == "VA"
    kept = 0
    for place, phrase in enumerate(inner.phrases):
        topic = "JX" in phrase.cases and not phrase.cases & {"JKB", "JKO"}
        before = place + 1 < len(inner.phrases) or "JKS" not in phrase.cases or phrase.asking
        if topic or (adjective and before):
            kept = place + 1
    outer.phrases, inner.phrases = inner.phrases[:kept], inner.phrases[kept:]
    edge = outer.phrases[-1].end if outer.phrases else -1
    outer.adverbs = [word for word in inner.adverbs if word.start < edge]
    inner.adverbs = [word for word in inner.adverbs if word.start >= edge]
    return outer


def _is_topic(phrase: Phrase) -> bool:
    return "JX" in phrase.cases and phrase.particles[-1] in ("은", "는") and not phrase.cases & {"JKB", "JKO"}


def _felt(clause: Clause) -> bool:
    return clause.predicate is not None and clause.predicate.form in FELT

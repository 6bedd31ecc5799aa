"""The noun phrases of a Korean clause by what they are to its predicate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kgqa.korean.reading.clauses import Clause, Phrase, Predicate
from kgqa.korean.words.lexicon import table

THERE = {"있다": "", "없다": " no", "많다": " many", "가득하다": " a lot of", "적다": " few"}
_SPEAKERS = frozenset(("나", "난", "저", "너", "우리"))
_COUNTED = frozenset(["명", "개", "마리", "권", "분"])
_TIME_COUNTERS = frozenset(["시", "월", "일", "년", "동안"])
DURATIONS = frozenset(["시간", "분", "초", "일", "주", "주일", "달", "개월", "년", "분간", "시간째", "년간"])
_OBLIQUE = frozenset(["까지", "부터", "마다", "처럼", "보다"])
_AFTER_DURATIONS = ((), ("이나",), ("나",), ("은",), ("을",), ("를",), ("도",))
TIMES, PLACES = table("times"), table("places")
_NAMED_TIMES = frozenset(
    ["그다음", "그때", "그전", "오늘", "어제", "내일", "지금", "요즘", "매일", "작년", "올해"]
)
SEASONS = frozenset(["봄", "여름", "가을", "겨울", "주말"])


@dataclass(slots=True)
class Roles:
    """The phrases of a clause by what they are to its predicate."""

    subjects: list[Phrase] = field(default_factory=list)
    topics: list[Phrase] = field(default_factory=list)
    objects: list[Phrase] = field(default_factory=list)
    adverbials: list[Phrase] = field(default_factory=list)
    bare: list[Phrase] = field(default_factory=list)
    there: list[Phrase] = field(default_factory=list)
    complement: Phrase | None = None
    count: Phrase | None = None

    @classmethod
    def of(cls, clause: Clause) -> Roles:
        """What each phrase of a clause is to its predicate."""
        predicate = clause.predicate
        roles = cls()
        copula = predicate is not None and predicate.tag in ("VCP", "VCN")
        for phrase in clause.phrases:
            cases = phrase.cases
            if _is_none(phrase, predicate):
                continue
            if "VCP" in cases or "JKC" in cases:
                roles.complement = phrase
            elif "JKS" in cases:
                roles.subjects.append(phrase)
            elif "JKO" in cases:
                oblique = phrase.last in ("한참", "내내") or (len(phrase.nouns) > 1 and phrase.last in PLACES)
                (roles.adverbials if oblique else roles.objects).append(phrase)
            elif "JKB" in cases or is_time(phrase) or phrase.each or phrase.particle in _OBLIQUE:
                roles.adverbials.append(phrase)
            elif phrase.particles:
                roles.topics.append(phrase)
            elif phrase.number and (roles.objects or roles.subjects or roles.topics) and not phrase.nouns:
                roles.count = phrase
            elif len(phrase.nouns) == 1 and phrase.nouns[0].form in _SPEAKERS:
                roles.topics.append(phrase)
            else:
                roles.bare.append(phrase)
        roles._settle(predicate, copula)
        return roles

    def groups(self) -> tuple[list[Phrase], ...]:
        complement = [self.complement] if self.complement else []
        return self.objects, self.adverbials, self.subjects, self.topics, self.bare, complement

    def asks(self, word: str) -> bool:
        count = [self.count] if self.count else []
        return any(p.asking == word for group in (*self.groups(), count) for p in group)

    def remove(self, phrase: Phrase) -> None:
        if phrase is self.complement:
            self.complement = None
        for phrases in self.groups():
            if phrase in phrases:
                phrases.remove(phrase)

    def _settle(self, predicate: Predicate | None, copula: bool) -> None:
        """Decide what a topic is: the subject, or the object of a clause that has a subject of its own."""
        if predicate is None:
            return
        if copula and self.complement is not None and self.complement.counter and not self.complement.asking:
            subject = self.subjects or self.topics
            if subject and self.complement.counter.form in _COUNTED:
                self.there, self.count, self.complement = subject[:1], self.complement, None
                return
        if predicate.form in THERE and (self.subjects or self.topics):
            places = [p for p in self.adverbials if p.particle in ("에", "에서")]
            thing = self.subjects[0] if self.subjects else None
            if predicate.form in ("많다", "가득하다", "적다") and thing is not None and not thing.asking:
                self.there = [thing]
                return
            alone = not self.topics and len(self.subjects) == 1
            here = thing is not None and (places or (predicate.form == "있다" and not thing.owner))
            if thing is not None and here and alone and not thing.asking:
                self.there = [thing]
                return
        if self.subjects and self.topics:
            if predicate.tag == "VV" and not self.objects:
                self.objects.append(self.topics.pop(0))
            elif predicate.tag == "VV":
                self.bare += self.topics
                self.topics = []

    def settle_felt(self, form: str) -> bool:
        """Make of "to whom what is needed" a subject and an object; false where there is no such pair."""
        to = [p for p in self.adverbials if p.particle in ("에게", "한테", "께")]
        if self.there:
            return False
        if self.topics and self.subjects:
            self.objects.append(self.subjects.pop(0))
        elif to and self.subjects:
            self.adverbials.remove(to[0])
            self.topics = [to[0]]
            self.objects.append(self.subjects.pop(0))
        elif form == "필요하다" and self.subjects:
            self.objects.append(self.subjects.pop(0))
        elif len(self.subjects) > 1:
            self.objects.append(self.subjects.pop())
        elif form == "없다" and self.subjects:
            self.there = self.subjects
            return False
        else:
            return False
        return True


def words_of(clause: Clause) -> Iterator[str]:
    """Nouns and predicates of a clause and of those within it."""
    if clause.predicate is not None:
        yield clause.predicate.form
    for phrase in clause.phrases:
        for part in (phrase, phrase.owner, phrase.joined):
            if part is not None:
                yield from (word.form for word in part.nouns)
                if part.counter is not None:
                    yield part.counter.form
                for inner in part.clauses:
                    yield from words_of(inner)


def is_time(phrase: Phrase) -> bool:
    """Whether a phrase says when or for how long."""
    if not phrase.nouns:
        return phrase.counter is not None and (phrase.counter.form in _TIME_COUNTERS or lasts(phrase))
    last = phrase.last
    if phrase.determiners and last in ("전", "다음", "때", "후"):
        return True
    lone = last in _NAMED_TIMES or last in TIMES or last in SEASONS
    return (lone and (last == "한참" or not phrase.cases & {"JKS", "JKO"})) or last.endswith("요일")


def lasts(phrase: Phrase) -> bool:
    """Whether a phrase is a stretch of time that something lasts: 세 시간이나, 두 달 동안."""
    if phrase.counter is None or phrase.counter.form not in DURATIONS or phrase.number is None:
        return False
    if any(noun.form != "동안" for noun in phrase.nouns):
        return False
    return not phrase.asking and phrase.particles in _AFTER_DURATIONS


def _is_none(phrase: Phrase, predicate: Predicate | None) -> bool:
    """Whether a phrase is the "not one" of a negative predicate: 하나도 없다."""
    if predicate is None or not (predicate.negative or predicate.form in ("없다", "모르다")):
        return False
    one = phrase.number is not None and phrase.number.form in ("하나", "한")
    return one and not phrase.nouns and "도" in phrase.particles


def without_last(phrase: Phrase) -> Phrase:
    """A phrase less its last noun and its particles."""
    return replace(phrase, nouns=phrase.nouns[:-1], particles=())

"""The parts of a parse, and the grammatical roles of noun phrases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from kgqa.korean.words import group, lexicon, table

# The parts of a parse: words, noun phrases, predicates, clauses and sentences.

ASKING = group("asking")
FELT = table("felt")
"""Predicates of feeling or having whose subject in Korean is the stimulus (is frightening, dear, there)."""


@dataclass(slots=True)
class Word:
    """A word in base form with its characters."""

    form: str
    start: int
    end: int
    tag: str = ""


@dataclass(slots=True)
class Phrase:
    """A noun phrase: its nouns, modifiers and particles. `end` excludes the particles."""

    nouns: list[Word] = field(default_factory=list)
    determiners: list[Word] = field(default_factory=list)
    owner: Phrase | None = None
    clauses: list[Clause] = field(default_factory=list)
    number: Word | None = None
    counter: Word | None = None
    plural: bool = False
    each: bool = False
    silent: bool = False
    """Whether a pronoun replaces it here, since the next clause names it."""
    particles: tuple[str, ...] = ()
    cases: frozenset[str] = frozenset()
    joined: Phrase | None = None
    """What comes before "and"."""
    said: str = ""
    """Its English, if a graph has a concept for it together with its predicate."""

    @property
    def last(self) -> str:
        """Its last noun, empty if it has none."""
        return self.nouns[-1].form if self.nouns else ""

    @property
    def particle(self) -> str:
        """Its first particle, or empty."""
        return self.particles[0] if self.particles else ""

    @property
    def is_mere_noun(self) -> bool:
        """Whether it is only nouns with a particle, and no question phrase."""
        beside = self.clauses or self.owner or self.joined or self.determiners or self.number
        return bool(self.nouns) and not self.asking and not beside

    @property
    def asking(self) -> str:
        """Its question word, or empty."""
        words = [*self.determiners, *self.nouns, *([self.number] if self.number else [])]
        return next((word.form for word in words if word.form in ASKING), "")

    @property
    def start(self) -> int:
        return min([word.start for word in self._words()], default=0)

    @property
    def end(self) -> int:
        return max([word.end for word in self._words()], default=0)

    def _words(self) -> list[Word]:
        own = [*self.determiners, *self.nouns, *(w for w in (self.number, self.counter) if w)]
        return own + (self.joined._words() if self.joined else [])


@dataclass(slots=True)
class Predicate:
    """A verb, adjective or copula in dictionary form with the features of its endings."""

    form: str
    tag: str
    start: int
    end: int
    past: bool = False
    negative: bool = False
    lasting: bool = False
    becoming: bool = False
    done: bool = False
    """Whether it is completed before the next begins."""
    modal: str = ""
    helped: str = ""
    """The verb together with an auxiliary: 보여주다, 만들어지다."""


@dataclass(slots=True)
class Clause:
    """A predicate with its noun phrases and adverbs; `link` is the conjunction to the next clause, empty for the
    last."""

    phrases: list[Phrase] = field(default_factory=list)
    adverbs: list[Word] = field(default_factory=list)
    predicate: Predicate | None = None
    link: str = ""
    ending: str = ""
    """The ending that joins it to the next."""


@dataclass(slots=True)
class Sentence:
    """Clauses in order, and whether they are a question."""

    clauses: list[Clause]
    question: bool


def is_one_meaning(clause: Clause) -> bool:
    """Whether subject and predicate form one expression: 배가 고프다."""
    subject = next((p for p in reversed(clause.phrases) if "JKS" in p.cases and p.nouns), None)
    if subject is None or clause.predicate is None:
        return False
    return f"{subject.last}{subject.particle} {clause.predicate.form}" in lexicon().phrases


# Which clause a noun phrase belongs to: Korean names the agent once, at the beginning of a sentence.

_ABOUT = frozenset(("JKS", "JX"))


def share_topics(clauses: Sequence[Clause]) -> None:
    """Attach a topic to the clause that it governs: 지수는 배가 고파서 먹었다 is "because he was hungry, Jisu ate"."""
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
    """Move phrases that a clause cannot govern to the next: who acts in order to, whose trousers are too small."""
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
    """Turn a clause into a modifier of the next noun, and return the clause of that noun.

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


# The noun phrases of a Korean clause by their roles.

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
    """The phrases of a clause by their grammatical roles."""

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
        """Assign a role to each phrase of a clause."""
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
        """Decide the role of a topic: subject, or object if the clause has another subject."""
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
        """Turn "to whom what is needed" into subject and object; false if there is no such pair."""
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
    """Whether a phrase is a time or a duration."""
    if not phrase.nouns:
        return phrase.counter is not None and (phrase.counter.form in _TIME_COUNTERS or lasts(phrase))
    last = phrase.last
    if phrase.determiners and last in ("전", "다음", "때", "후"):
        return True
    lone = last in _NAMED_TIMES or last in TIMES or last in SEASONS
    return (lone and (last == "한참" or not phrase.cases & {"JKS", "JKO"})) or last.endswith("요일")


def lasts(phrase: Phrase) -> bool:
    """Whether a phrase is a duration: 세 시간이나, 두 달 동안."""
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
    """A phrase without its last noun and its particles."""
    return replace(phrase, nouns=phrase.nouns[:-1], particles=())

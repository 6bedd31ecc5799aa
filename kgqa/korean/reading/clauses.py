"""What a parse is made of: words, noun phrases, predicates, clauses and sentences."""

from __future__ import annotations

from dataclasses import dataclass, field

from kgqa.korean.words.lexicon import group, lexicon, table

ASKING = group("asking")
FELT = table("felt")
"""What somebody feels or has, said in Korean of the thing: to whom the thing is frightening, dear, there."""


@dataclass(slots=True)
class Word:
    """A word in its plain form with its characters."""

    form: str
    start: int
    end: int
    tag: str = ""


@dataclass(slots=True)
class Phrase:
    """A noun phrase: its words, what stands before them, and its particles. `end` leaves the particles out."""

    nouns: list[Word] = field(default_factory=list)
    determiners: list[Word] = field(default_factory=list)
    owner: Phrase | None = None
    clauses: list[Clause] = field(default_factory=list)
    number: Word | None = None
    counter: Word | None = None
    plural: bool = False
    each: bool = False
    silent: bool = False
    """Whether a pronoun stands for it here, since the next clause says it."""
    particles: tuple[str, ...] = ()
    cases: frozenset[str] = frozenset()
    joined: Phrase | None = None
    """What comes before "and"."""
    said: str = ""
    """Its English, where a graph knows it together with its predicate."""

    @property
    def last(self) -> str:
        """Its last noun, nothing where it has none."""
        return self.nouns[-1].form if self.nouns else ""

    @property
    def particle(self) -> str:
        """Its first particle, or nothing."""
        return self.particles[0] if self.particles else ""

    @property
    def is_mere_noun(self) -> bool:
        """Whether it is nouns with a particle, and asks for nothing."""
        beside = self.clauses or self.owner or self.joined or self.determiners or self.number
        return bool(self.nouns) and not self.asking and not beside

    @property
    def asking(self) -> str:
        """The question word in it, or nothing."""
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
    """A verb, adjective or copula in dictionary form with what its endings say."""

    form: str
    tag: str
    start: int
    end: int
    past: bool = False
    negative: bool = False
    lasting: bool = False
    becoming: bool = False
    done: bool = False
    """Whether it is over before the next begins."""
    modal: str = ""
    helped: str = ""
    """The verb together with one that helps it, such as 보여주다, or 만들어지다."""


@dataclass(slots=True)
class Clause:
    """A predicate with its noun phrases and adverbs; `link` says how it goes on, empty at the end of a sentence."""

    phrases: list[Phrase] = field(default_factory=list)
    adverbs: list[Word] = field(default_factory=list)
    predicate: Predicate | None = None
    link: str = ""
    ending: str = ""
    """The ending that joins it to the next."""


@dataclass(slots=True)
class Sentence:
    """Clauses in order, and whether they ask."""

    clauses: list[Clause]
    question: bool


def is_one_meaning(clause: Clause) -> bool:
    """Whether a subject and its predicate are said in one: 배가 고프다."""
    subject = next((p for p in reversed(clause.phrases) if "JKS" in p.cases and p.nouns), None)
    if subject is None or clause.predicate is None:
        return False
    return f"{subject.last}{subject.particle} {clause.predicate.form}" in lexicon().phrases

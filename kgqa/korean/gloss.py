"""The gloss of a Korean text, word for word in English and in English order: question words first, verbs before their
objects, particles before their nouns as prepositions.

It is not a translation: each word has one meaning, that of the graph's label or of a table of frequent words, and only
the order of phrases is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kgqa.graph.linking.normalize import Morpheme, morphemes

ASKING = frozenset(("what", "who", "where", "when", "why", "how", "which"))
_OPENING = frozenset(("if", "because", "to", "when", "while", "before", "after"))
"""Conjunctions that stand before their clause; others stand after it."""
_PREDICATES = frozenset(("VV", "VA", "VX", "XSV", "XSA"))
_NOUNS = frozenset(("NNG", "NNP", "NNB", "NP", "NR", "SL", "SN", "XR"))
_CASES = {"JKS": "subject", "JKC": "subject", "JKO": "object"}
_TOPICS = frozenset(("은", "는", "ᆫ"))
_ADVERBIAL = "게"
_PAST = "었"
_BARE = frozenset(("where", "when", "why"))
"""Question words that take no preposition."""


class Word(NamedTuple):
    """English words for a part of the text, and the nodes that it mentions."""

    text: str
    nodes: Sequence[int] = ()

    @property
    def asks(self) -> bool:
        """Whether it is a question word."""
        return self.text.split(" ")[0] in ASKING


class Mentioned(NamedTuple):
    """A mention: its character range, its English label and its nodes."""

    start: int
    end: int
    label: str
    nodes: Sequence[int]


@dataclass
class _Phrase:
    """A noun phrase; its case is subject, topic, object, or an English preposition."""

    words: list[Word]
    case: str = ""
    is_open: bool = True

    @property
    def asks(self) -> bool:
        return any(word.asks for word in self.words)

    def said(self) -> list[Word]:
        """The words, after their preposition."""
        is_bare = not self.case or self.case in ("subject", "topic", "object") or self.words[0].text in _BARE
        return self.words if is_bare else [Word(self.case), *self.words]


@dataclass
class _Clause:
    """The part of a clause that was read so far."""

    phrases: list[_Phrase] = field(default_factory=list)
    before_noun: list[Word] = field(default_factory=list)
    adverbs: list[Word] = field(default_factory=list)
    verb: list[Word] = field(default_factory=list)
    is_negative: bool = False
    is_past: bool = False

    @property
    def asks(self) -> bool:
        """Whether it has a question word."""
        return any(p.asks for p in self.phrases) or any(word.asks for word in (*self.before_noun, *self.verb))

    def said(self, asking: bool, is_yes_no: bool = False) -> list[Word]:
        """The clause in English order."""
        phrases = [*self.phrases, *([_Phrase(self.before_noun)] if self.before_noun else [])]
        asked = [p for p in phrases if p.asks] if asking else []
        rest = [p for p in phrases if p not in asked]
        subject = [word for p in rest if p.case in ("subject", "topic") for word in p.said()]
        others = sorted(
            (p for p in rest if p.case not in ("subject", "topic")),
            key=lambda p: p.case not in ("", "object"),
        )
        objects = [word for p in others for word in p.said()]
        verb = [word for word in self.verb if not (asking and word.asks)]
        front = [word for p in asked for word in p.said()] + [w for w in self.verb if asking and w.asks]
        negation = [Word("not")] * self.is_negative
        helper = [Word("did" if self.is_past else "does")]
        if is_yes_no:
            is_first = [word for word in verb if word.text == "is"][:1]
            verb = [word for word in verb if word not in is_first]
            return [*(is_first or helper), *subject, *negation, *self.adverbs, *verb, *objects]
        if not front:
            return [*subject, *negation, *self.adverbs, *verb, *objects]
        if any(p.case == "subject" for p in asked):
            return [*front, *self.adverbs, *negation, *verb, *subject, *objects]
        if all(word.text in ("is", "exist") for word in verb):
            return [*front, Word("is"), *self.adverbs, *negation, *subject, *objects]
        return [*front, *self.adverbs, *(helper if subject else []), *subject, *negation, *verb, *objects]


class _Writer:
    """Goes through the morphemes of a text, and writes its sentences."""

    def __init__(
        self, text: str, table: Mapping[str, str], asking: bool, unknown: Callable[[str], str]
    ) -> None:
        self.morphemes, self.table, self.asking, self.unknown = morphemes(text), table, asking, unknown
        self.written: list[Word] = []
        self.clauses: list[list[Word]] = []
        self.clause = _Clause()

    def write(self, mentions: Sequence[Mentioned]) -> list[Word]:
        at, left = 0, sorted(mentions)
        while at < len(self.morphemes):
            m = self.morphemes[at]
            while left and left[0].end <= m.start:
                left.pop(0)
            if left and left[0].start <= m.start and m.tag[0] not in "JE":
                at = self._mention(left.pop(0), at)
            else:
                self._morpheme(m, self.morphemes[at + 1] if at + 1 < len(self.morphemes) else None)
            at += 1
        self._end()
        return self.written

    def _mention(self, mention: Mentioned, at: int) -> int:
        """Take in a mention, and return the place of its last content morpheme: endings and particles follow."""
        tags = [m.tag for m in self.morphemes[at:] if m.start < mention.end]
        heads = [at + n for n, tag in enumerate(tags) if tag[0] not in "JES" and tag not in ("VCP", "XSN")]
        last = heads[-1] if heads else at
        m = self.morphemes[last]
        is_small = len(heads) == 1 and m.tag in ("NP", "NNB", "MM", "MAG", "VX")
        if is_small:
            self._morpheme(m, None)
            return last
        own = self.table.get(_form(m)) if len(heads) == 1 else None
        self._content(Word(own or mention.label, mention.nodes), m)
        return last

    def _content(self, word: Word, m: Morpheme) -> None:
        clause = self.clause
        if m.tag in _PREDICATES:
            is_quality = m.tag in ("VA", "XSA") and not word.asks and " " not in word.text
            clause.verb += [Word("is"), word] if is_quality else [word]
        elif clause.before_noun and word.text in _OPENING:  # "when", "before": of a clause, not of a noun
            self.clauses.append([word, *clause.before_noun])
            clause.before_noun = []
        elif clause.phrases and clause.phrases[-1].is_open and not clause.before_noun:
            clause.phrases[-1].words.append(word)
        else:
            clause.phrases.append(_Phrase([*clause.before_noun, word]))
            clause.before_noun = []

    def _morpheme(self, m: Morpheme, after: Morpheme | None) -> None:
        clause, tag = self.clause, m.tag
        english = self.table.get(_form(m))
        if tag in ("SF", "EF"):
            if tag == "SF" or after is None:
                self._end()
        elif tag[0] == "J":
            self._particle(m)
        elif tag == "EP":
            clause.is_past = clause.is_past or m.form == _PAST
        elif tag == "EC":
            self._link(m, after)
        elif tag in ("ETM", "ETN"):
            self._before_noun()
        elif tag == "VCP":
            if clause.phrases:
                clause.phrases[-1].is_open = False
            clause.verb.append(Word("is"))
        elif english == "not":
            clause.is_negative = True
            clause.verb += [Word("is")] * (tag == "VCN")
        elif tag == "VX":
            clause.verb[:0] = [Word(english)] if english == "want" else []
        elif tag in ("MAG", "MAJ") and english:
            if Word(english).asks:
                clause.phrases.append(_Phrase([Word(english)], is_open=False))
            else:
                clause.adverbs.append(Word(english))
        elif tag == "MM" and english:
            clause.before_noun.append(Word(english))
        elif tag in _NOUNS or tag in ("VV", "VA"):
            # unknown words stay recognizable, so that question and passage share them
            said = self.unknown(m.form) if english is None and tag != "NNB" else english
            if said:
                self._content(Word(said.capitalize() if tag == "NNP" else said), m)

    def _particle(self, m: Morpheme) -> None:
        if not self.clause.phrases:
            return
        phrase, english = self.clause.phrases[-1], self.table.get(_form(m), "")
        if m.tag == "JC" or english == "and":
            if phrase.is_open:
                phrase.words.append(Word("and"))
        elif m.tag == "JKG":
            if phrase.is_open:
                self.clause.before_noun = [*self.clause.phrases.pop().words, Word("'s")]
        elif m.tag == "JX" and english not in ("from", "until"):
            phrase.case, phrase.is_open = phrase.case or "topic", False
            if m.form not in _TOPICS and english:
                phrase.words.insert(0, Word(english))
        else:
            phrase.case, phrase.is_open = _CASES.get(m.tag, english), False

    def _link(self, m: Morpheme, after: Morpheme | None) -> None:
        """A connective ending: the clause continues with an auxiliary verb, else it is complete and the next begins."""
        if after is not None and after.tag == "VX":
            return
        if m.form == _ADVERBIAL:
            self.clause.adverbs += [word for word in self.clause.verb if word.text != "is"]
            self.clause.verb = []
            return
        said, link = self.clause.said(False), self.table.get(_form(m), "")
        if link:
            said = [Word(link), *said] if link in _OPENING else [*said, Word(link)]
        self.clauses.append(said)
        self.clause = _Clause()

    def _before_noun(self) -> None:
        """A relative clause: a predicate before a noun, together with the phrase before it."""
        clause = self.clause
        own = []
        if clause.phrases and clause.phrases[-1].case != "topic" and not clause.phrases[-1].asks:
            own = [clause.phrases.pop()]
        subject = [word for p in own if p.case == "subject" for word in p.said()]
        others = [word for p in own if p.case != "subject" for word in p.said()]
        verb = [word for word in clause.verb if word.text != "is"]
        clause.before_noun += [*subject, *[Word("not")] * clause.is_negative, *verb, *others]
        clause.verb, clause.is_negative, clause.is_past = [], False, False

    def _end(self) -> None:
        """Write the sentence; that of a question begins with its question word, wherever it stands."""
        asked_before = any(word.asks for clause in self.clauses for word in clause)
        is_yes_no = self.asking and bool(self.clause.verb) and not (asked_before or self.clause.asks)
        last = self.clause.said(self.asking, is_yes_no)
        clauses = [*self.clauses, last]
        if self.asking and last and self.clauses:
            asked = next((word for clause in clauses for word in clause if word.asks), None)
            if asked in last:
                clauses = [last, *self.clauses]
            elif asked:
                clauses = [[asked], *([word for word in clause if word is not asked] for clause in clauses)]
        if words := [word for clause in clauses for word in clause]:
            self.written += [*words, Word("?" if self.asking else ".")]
        self.clauses, self.clause = [], _Clause()


def _form(m: Morpheme) -> str:
    """The key of a morpheme in the table of frequent words."""
    if m.tag[0] in "JE":
        return f"-{m.form}"
    return m.form + "다" * (m.tag in _PREDICATES or m.tag == "VCN")


def in_english_order(
    text: str,
    mentions: Sequence[Mentioned],
    table: Mapping[str, str],
    asking: bool,
    unknown: Callable[[str], str] | None = None,
) -> list[Word]:
    """The gloss of a Korean text or question: mentions by their labels, other words by `table` or else by `unknown`,
    which romanizes them by default.

    >>> mentions = [Mentioned(0, 2, "ground", (0,)), Mentioned(8, 10, "dig", (1,))]
    >>> words = in_english_order("땅을 무엇으로 팠니?", mentions, {"무엇": "what", "-으로": "with"}, asking=True)
    >>> [word.text for word in words]
    ['with', 'what', 'dig', 'ground', '?']
    """
    return _Writer(text, table, asking, unknown or romanise).write(mentions)


# Hangul in Latin letters by syllables: the Revised Romanization of Korean (2000), without its sound changes.

_FIRST = ord("가")
_LAST = ord("힣")
_INITIALS = "g kk n d tt r m b pp s ss - j jj ch k t p h".replace("-", "").split(" ")
_VOWELS = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split()  # noqa: SIM905
_FINALS = "- k k k n n n t l k m p l l p l m p p t t ng t t k t p t".replace("-", "").split(" ")


def romanise(text: str) -> str:
    """A text with each Hangul syllable romanized; other characters stay.

    >>> romanise("민지"), romanise("서울 2호")
    ('minji', 'seoul 2ho')
    """
    return "".join(_syllable(letter) for letter in text)


def _syllable(letter: str) -> str:
    code = ord(letter)
    if not _FIRST <= code <= _LAST:
        return letter
    initial, rest = divmod(code - _FIRST, len(_VOWELS) * len(_FINALS))
    vowel, final = divmod(rest, len(_FINALS))
    return _INITIALS[initial] + _VOWELS[vowel] + _FINALS[final]

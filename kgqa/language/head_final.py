"""A Korean or Japanese text word for word in English, in the order of English: question words first, verbs before
their objects, particles before their nouns as prepositions.

It is not a translation: each word has one meaning, that of the graph's label or of a table of frequent words, and only
the order of phrases is changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import NamedTuple

from kgqa.graph.linking.normalize import Morpheme, japanese_morphemes, morphemes
from kgqa.graph.storage.relation_names import VERB
from kgqa.verbalize.inflection import comparative, participle, past, superlative, third

_PARTICLES = frozenset(("", *"がをはにでともへか?？。"))
ASKING = frozenset(("whose", "what", "who", "where", "when", "why", "how", "which"))
_OPENING = frozenset(("if", "because", "to", "when", "while", "before", "after"))
"""Conjunctions that stand before their clause; others stand after it."""
_PREDICATES = frozenset(("VV", "VA", "VX", "XSV", "XSA"))
_NOUNS = frozenset(("NNG", "NNP", "NNB", "NP", "NR", "SL", "SN", "XR"))
_CASES = {"JKS": "subject", "JKC": "subject", "JKO": "object"}
_TOPICS = frozenset(("은", "는", "ᆫ", "は"))
_ADVERBIAL = "게"
_PAST = ("었", "た")
_BE = frozenset(("is", "was"))
_TELL = frozenset(("name", "tell", "teach", "list"))
_BARE = frozenset(("where", "when", "why"))
"""Question words that take no preposition."""


class Word(NamedTuple):
    """English words for a part of the text, with its character range; an empty one for words that only English has."""

    text: str
    start: int = 0
    end: int = 0

    @property
    def asks(self) -> bool:
        """Whether it is a question word."""
        return self.text.split(" ")[0] in ASKING


class Mentioned(NamedTuple):
    """A mention: its character range and its English label."""

    start: int
    end: int
    label: str


@dataclass
class _Phrase:
    """A noun phrase; its case is subject, topic, object, or an English preposition."""

    words: list[Word]
    case: str = ""
    is_open: bool = True
    tail: list[Word] = field(default_factory=list)
    """What is said of it, behind it."""

    @property
    def asks(self) -> bool:
        return any(word.asks for word in self.words)

    def in_order(self) -> list[Word]:
        """The words, after their preposition."""
        is_bare = not self.case or self.case in ("subject", "topic", "object") or self.words[0].text in _BARE
        words = [*self.words, *self.tail]
        return words if is_bare else [Word(self.case), *words]


@dataclass
class _Clause:
    """The part of a clause that was read so far."""

    phrases: list[_Phrase] = field(default_factory=list)
    before_noun: list[Word] = field(default_factory=list)
    behind_noun: list[Word] = field(default_factory=list)
    cleft: list[Word] = field(default_factory=list)
    """What is said of a noun that is left out."""
    adverbs: list[Word] = field(default_factory=list)
    verb: list[Word] = field(default_factory=list)
    in_tenses: bool = False
    is_negative: bool = False
    is_past: bool = False

    @property
    def asks(self) -> bool:
        """Whether it has a question word."""
        return any(p.asks for p in self.phrases) or any(word.asks for word in (*self.before_noun, *self.verb))

    def in_order(self, asking: bool, is_yes_no: bool = False) -> list[Word]:
        """The clause in English order."""
        left = [*self.before_noun, *self.behind_noun]
        phrases = [*self.phrases, *([_Phrase(left)] if left else [])]
        asked = [p for p in phrases if p.asks] if asking else []
        rest = [p for p in phrases if p not in asked]
        subject = [word for p in rest if p.case in ("subject", "topic") for word in p.in_order()]
        others = sorted(
            (p for p in rest if p.case not in ("subject", "topic")),
            key=lambda p: p.case not in ("", "object"),
        )
        objects = [word for p in others for word in p.in_order()]
        verb = [word for word in self.verb if not (asking and word.asks)]
        if self.in_tenses and [word.text for word in verb[:1]] == ["is"]:
            verb = _in_tense(self, verb)
        front = [word for p in asked for word in p.in_order()] + [w for w in self.verb if asking and w.asks]
        negation = [Word("not")] * self.is_negative
        helper = [Word("did" if self.is_past else "does")]
        if self.in_tenses and phrases and not verb and asking and not front:
            front = [Word("what")]
        if is_yes_no and not subject and any(word.text in _TELL for word in verb):
            return [Word("what is"), *(word for word in objects if word.text != "all")]
        if is_yes_no:
            is_first = [word for word in verb if word.text in _BE][:1]
            verb = [word for word in verb if word not in is_first]
            return [*(is_first or helper), *subject, *negation, *self.adverbs, *verb, *objects]
        if not front:
            return [*subject, *negation, *self.adverbs, *verb, *objects]
        if any(p.case == "subject" for p in asked):
            verb = _in_tense(self, verb) if self.in_tenses else verb
            return [*front, *self.adverbs, *negation, *verb, *subject, *objects]
        if self.cleft and all(word.text == "is" for word in verb):  # "what is it that burns" asks what burns
            return [*front, *self.cleft, *subject, *objects]
        if all(word.text in ("is", "exist") for word in verb):
            return [*front, Word("is"), *self.adverbs, *negation, *subject, *objects]
        if subject and verb and verb[0].text in _BE:
            return [*front, verb[0], *subject, *self.adverbs, *negation, *verb[1:], *objects]
        return [*front, *self.adverbs, *(helper if subject else []), *subject, *negation, *verb, *objects]


def _in_tense(clause: _Clause, verb: Sequence[Word] | None = None, own: Sequence[_Phrase] = ()) -> list[Word]:
    """The verbs of a clause without a helper, in the past or the third person."""
    first, *others = verb or clause.verb or [Word("")]
    if first.text == "is" and others and any(phrase.case == "than" for phrase in (*clause.phrases, *own)):
        return [first, others[0]._replace(text=comparative(others[0].text)), *others[1:]]
    if not first.text or first.text in _BE or not first.text.isascii():
        return [*(verb or clause.verb)]
    start, _, rest = first.text.partition(" ")
    inflected = past(start) if clause.is_past else third(start)
    return [first._replace(text=f"{inflected} {rest}".strip()), *others]


class _SentenceWriter:
    """Goes through the morphemes of a text, and writes its sentences."""

    def __init__(
        self,
        found: Sequence[Morpheme],
        table: Mapping[str, str],
        asking: bool,
        unknown: Callable[[str], str],
        ending: str,
    ) -> None:
        self.morphemes, self.asking, self.unknown, self.ending = found, asking, unknown, ending
        self.table = table
        self.written: list[Word] = []
        self.clauses: list[list[Word]] = []
        self.clause = _Clause(in_tenses=not ending)

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

    def _english(self, m: Morpheme) -> str | None:
        """The English of a morpheme: endings and particles have a hyphen in the table, Korean predicates an ending."""
        if m.tag[0] in "JE":
            return self.table.get(f"-{m.form}")
        english = self.table.get(m.form + self.ending * (m.tag in _PREDICATES or m.tag == "VCN"))
        return english and english.removeprefix(VERB)

    def _mention(self, mention: Mentioned, at: int) -> int:
        """Take in a mention, and return the place of its last content morpheme: endings and particles follow."""
        if not self.ending:
            self._content(Word(mention.label, mention.start, mention.end), self.morphemes[at])
            return at
        tags = [m.tag for m in self.morphemes[at:] if m.start < mention.end]
        heads = [at + n for n, tag in enumerate(tags) if tag[0] not in "JES" and tag not in ("VCP", "XSN")]
        last = heads[-1] if heads else at
        m = self.morphemes[last]
        is_small = len(heads) == 1 and m.tag in ("NP", "NNB", "MM", "MAG", "VX")
        if is_small:
            self._morpheme(m, None)
            return last
        own = self._english(m) if len(heads) == 1 else None
        self._content(Word(own or mention.label, mention.start, mention.end), m)
        return last

    def _content(self, word: Word, m: Morpheme) -> None:
        clause = self.clause
        if m.tag in _PREDICATES and word.text.startswith("be "):
            clause.verb += [Word("was" if clause.is_past else "is"), word._replace(text=word.text[3:])]
        elif m.tag in _PREDICATES:
            is_quality = m.tag in ("VA", "XSA") and not word.asks and " " not in word.text
            if not self.ending and m.tag == "VV":  # "担当している" is "is responsible"
                known = self.table.get(m.form, VERB)
                is_quality = not known.startswith(VERB) and known not in (*_BE, *_TELL)
            if is_quality and clause.adverbs and clause.adverbs[-1].text == "most" and not self.ending:
                clause.adverbs.pop()
                word = word._replace(text=superlative(word.text))
            clause.verb += [Word("is"), word] if is_quality else [word]
        elif clause.before_noun and word.text in _OPENING:  # "when", "before": of a clause, not of a noun
            self.clauses.append([word, *clause.before_noun])
            clause.before_noun = []
        elif clause.phrases and clause.phrases[-1].is_open and not clause.before_noun:
            clause.phrases[-1].words.append(word)
        else:
            clause.phrases.append(_Phrase([*clause.before_noun, word], tail=clause.behind_noun))
            clause.before_noun, clause.behind_noun = [], []

    def _morpheme(self, m: Morpheme, after: Morpheme | None) -> None:
        clause, tag = self.clause, m.tag
        english = self._english(m)
        if tag in ("SF", "EF"):
            if tag == "SF" or after is None:
                self._end()
        elif tag[0] == "J":
            self._particle(m)
        elif tag == "EP":
            clause.is_past = clause.is_past or m.form in _PAST
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
        elif english == "most" and not self.ending:
            clause.adverbs.append(Word(english, m.start, m.end))
        elif english == "passive":
            if clause.verb:
                last = clause.verb[-1]
                clause.verb[-1:] = [Word("was"), last._replace(text=participle(last.text))]
        elif tag == "VX":
            clause.verb[:0] = [Word(english)] if english == "want" else []
        elif tag in ("MAG", "MAJ") and english:
            if Word(english).asks:
                clause.phrases.append(_Phrase([Word(english)], is_open=False))
            else:
                clause.adverbs.append(Word(english, m.start, m.end))
        elif tag == "MM" and english:
            clause.before_noun.append(Word(english, m.start, m.end))
        elif tag == "NNB" and not english and clause.behind_noun:
            clause.cleft, clause.behind_noun = clause.behind_noun[1:], []
        elif tag in _NOUNS or tag in ("VV", "VA"):
            # unknown words stay recognizable, so that question and passage share them
            said = self.unknown(m.form) if english is None and tag != "NNB" else english
            if said:
                self._content(Word(said.capitalize() if tag == "NNP" else said, m.start, m.end), m)

    def _particle(self, m: Morpheme) -> None:
        if not self.clause.phrases:
            return
        phrase, english = self.clause.phrases[-1], self._english(m) or ""
        if phrase.is_open and english in ("and", "or") or m.tag == "JC":
            if phrase.is_open:
                phrase.words.append(Word(english or "and"))
        elif m.tag == "JKG":
            if phrase.is_open and phrase.tail:
                self.clause.behind_noun = [Word("of"), *self.clause.phrases.pop().in_order()]
            elif phrase.is_open:
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
        words, link = self.clause.in_order(False), self._english(m) or ""
        if link:
            words = [Word(link), *words] if link in _OPENING else [*words, Word(link)]
        self.clauses.append(words)
        self.clause = _Clause(in_tenses=not self.ending)

    def _before_noun(self) -> None:
        """A predicate before a noun takes the phrase just before it along, in Japanese all but the topic."""
        clause = self.clause
        own: list[_Phrase] = []
        while clause.phrases and clause.phrases[-1].case != "topic" and not clause.phrases[-1].asks:
            own.insert(0, clause.phrases.pop())
            if self.ending:
                break
        subject = [word for p in own if p.case == "subject" for word in p.in_order()]
        others = [word for p in own if p.case != "subject" for word in p.in_order()]
        verb = [word for word in clause.verb if word.text != "is"]
        negation = [Word("not")] * clause.is_negative
        if not self.ending and (own or len(clause.verb) > 1 or any(word.text in _BE for word in clause.verb)):
            clause.verb = _in_tense(clause, own=own)
            said = [*subject, *negation, *clause.adverbs, *clause.verb, *others]
            clause.behind_noun = [Word("that"), *said]
            if subject and len(clause.verb) > 1 and clause.verb[0].text == "is":  # "whose price is highest"
                clause.behind_noun = [Word("with"), *negation, *clause.verb[1:], *subject, *others]
            clause.adverbs = []
        else:
            clause.before_noun += [*subject, *negation, *verb, *others]
        clause.verb, clause.is_negative, clause.is_past = [], False, False

    def _end(self) -> None:
        """Write the sentence; that of a question begins with its question word, wherever it stands."""
        asked_before = any(word.asks for clause in self.clauses for word in clause)
        is_yes_no = self.asking and bool(self.clause.verb) and not (asked_before or self.clause.asks)
        last = self.clause.in_order(self.asking, is_yes_no)
        clauses = [*self.clauses, last]
        if self.asking and last and self.clauses:
            asked = next((word for clause in clauses for word in clause if word.asks), None)
            if asked in last:
                clauses = [last, *self.clauses]
            elif asked:
                clauses = [[asked], *([word for word in clause if word is not asked] for clause in clauses)]
        if words := [word for clause in clauses for word in clause]:
            self.written += [*words, Word("?" if self.asking else ".")]
        self.clauses, self.clause = [], _Clause(in_tenses=not self.ending)


def in_english_order(
    text: str,
    mentions: Sequence[Mentioned],
    table: Mapping[str, str],
    asking: bool,
    unknown: Callable[[str], str] | None = None,
    language: str = "ko",
) -> list[Word]:
    """The gloss of a Korean text or question: mentions by their labels, other words by `table` or else by `unknown`,
    which romanizes them by default.

    >>> mentions = [Mentioned(0, 2, "ground"), Mentioned(8, 10, "dig")]
    >>> words = in_english_order("땅을 무엇으로 팠니?", mentions, {"무엇": "what", "-으로": "with"}, asking=True)
    >>> [word.text for word in words]
    ['with', 'what', 'dig', 'ground', '?']
    """
    is_japanese = language == "ja"
    found = _japanese(text, mentions, table) if is_japanese else morphemes(text)
    return _SentenceWriter(found, table, asking, unknown or romanise, "" if is_japanese else "다").write(
        mentions
    )


_NAME, _WHO, _WHICH = "花子", "誰", "どの"
_MOST = 4
"""Parts of a Japanese compound."""


def _japanese(text: str, mentions: Sequence[Mentioned], table: Mapping[str, str]) -> list[Morpheme]:
    """The morphemes of a Japanese text, in which mentions, question words and compounds of the table are whole: the
    analyser reads a name and a pronoun that it knows in their places."""
    asks = {w for w, english in table.items() if Word(english).asks}
    # without their particles
    asking = sorted((w for w in asks if table.get(w[:-1]) != table[w]), key=len, reverse=True)
    whole = [(m.start, m.end, "NNP") for m in mentions]
    for match in re.finditer("|".join(map(re.escape, asking)) or "(?!)", text):
        if not any(start < match.end() and match.start() < end for start, end, _ in whole):
            adverb = table[match[0]] in ("when", "why", "how")
            is_before_noun = (
                table[match[0]] in ("which", "whose", "what kind of")
                and text[match.end() :][:1] not in _PARTICLES
            )
            whole.append((*match.span(), "MAG" if adverb else "MM" if is_before_noun else "NP"))
    known, places, at = "", [], 0
    for start, end, tag in sorted(whole):
        known += text[at:start]
        other = {"NNP": _NAME, "MM": _WHICH}.get(tag, _WHO)
        places.append((len(known), len(known) + len(other), start, end, tag))
        known, at = known + other, end
    known += text[at:]

    def place(n: int) -> int:
        """The place in the text of one in what the analyser reads."""
        before = [p for p in places if p[0] < n]
        return n if not before else max(before[-1][3], n - before[-1][1] + before[-1][3])

    found: list[Morpheme] = []
    for m in japanese_morphemes(known):
        inside = next((p for p in places if p[0] <= m.start < p[1] and m.tag != "ETM"), None)
        if inside is None:
            found.append(m._replace(start=place(m.start), end=place(m.end)))
        elif m.start == inside[0]:
            found.append(Morpheme(text[inside[2] : inside[3]], inside[4], inside[2], inside[3]))
    return _compounds(text, found, table)


def _compounds(text: str, found: Sequence[Morpheme], table: Mapping[str, str]) -> list[Morpheme]:
    """Adjacent morphemes that are one word of the table are joined: 生年 and 月日."""
    made: list[Morpheme] = []
    at = 0
    while at < len(found):
        first, size = found[at], 1
        for n in range(2, _MOST + 1) if first.tag[0] not in "JES" else ():
            last = found[at + n - 1 : at + n]
            word = text[first.start : last[0].start] + last[0].form if last else ""
            if word in table and last[0].tag[0] != "E":
                size = n
                tag = "MAG" if last[0].tag[0] == "J" else last[0].tag  # "先に" is an adverb
                joined = Morpheme(word, tag, first.start, last[0].end)
        made.append(joined if size > 1 else first)
        at += size
    return made


# Hangul in Latin letters by syllables: the Revised Romanization of Korean (2000), without its sound changes.

_INITIALS = "g kk n d tt r m b pp s ss - j jj ch k t p h".replace("-", "").split(" ")
_VOWELS = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split()  # noqa: SIM905
_FINALS = "- k k k n n n t l k m p l l p l m p p t t ng t t k t p t".replace("-", "").split(" ")


def romanise(text: str) -> str:
    """A text with each Hangul syllable romanized; other characters stay.

    >>> romanise("민지"), romanise("서울 2호")
    ('minji', 'seoul 2ho')
    """
    return text.translate(_syllables())


@cache
def _syllables() -> dict[int, str]:
    return dict(enumerate(map("".join, product(_INITIALS, _VOWELS, _FINALS)), ord("가")))

"""What a text says to be so and what it says not to be so: its clauses, and the words that turn what follows.

A verb may take back its complement without any "not" in it: who forgot to lock the door did not lock it, who nearly
fell did not fall. Signs of all that stands above a word are multiplied (Nairn, Condoravdi and Karttunen, 2006,
Computing relative polarity for textual inference; MacCartney and Manning, 2008, section 5, natural logic).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kgqa.graph.linking.function_words import DETERMINERS, STOP_WORDS
from kgqa.graph.linking.normalising import lemma, words
from kgqa.limits.stopping import each
from kgqa.types import Span

DENYING = frozenset(
    "not no never none nobody nothing neither nor cannot nowhere hardly scarcely without".split()  # noqa: SIM905
)
"""Words that deny the clause in which they stand."""
ALL = frozenset("all every everybody everyone everything always whole each both entire".split())  # noqa: SIM905
"""Words that speak of all there is."""
_FORWARDS = frozenset({"no", "without"})
"""Of these, what denies what follows and nothing before it."""
_BACK = """
almost nearly instead rather unless unlike apart unable impossible failure mistake forget fail refuse avoid deny lack
prevent miss stop forbid want promise hope plan try offer dream used wish pretend suppose intend
"""
_TAKING_BACK = frozenset(_BACK.split())
"""What follows them is not so, or not said to be."""
_BOUND = re.compile(
    r"[,;:.!?()\"“”—–]|\b(?:but|while|although|though|because|so|who|which|when|if|or|as|since|where|whereas|yet|that"
    r"|and|before|after|until)\b",
    re.IGNORECASE,
)
_LISTING = frozenset({"and", "or", ","})
_SENTENCE = re.compile(
    r"(?<![.!?\n])[.!?\n]+[\"”']?\s+"
)  # from the first of many marks alone: each is looked at once
_AUXILIARY = frozenset("is are was were has have had do does did can could will would may must".split())  # noqa: SIM905
_NEAR = 4
FARTHEST = 60
"""Words of a clause on either side that a word may turn; what goes on longer without a mark is no clause."""


class Word(NamedTuple):
    """A word of a text in lower case, without 's and n't."""

    text: str
    lemma: str
    start: int
    end: int
    denies: bool
    clause: int
    sentence: int

    @property
    def is_content(self) -> bool:
        """Whether it names something, or what is done or what it is like."""
        return self.text not in _FUNCTION and not self.denies


class Turn(NamedTuple):
    """A word (its place) that turns what other words (their places) say."""

    place: int
    scope: frozenset[int]
    denies: bool


_FUNCTION = STOP_WORDS - {"before", "after", "more", "fewer", "above", "below", "over", "under", "up", "down"}
_FUNCTION |= {"mr", "mrs", "ms", "dr"}


def read(text: str) -> list[Word]:
    """The words of a text, each with the numbers of its clause and sentence."""
    found = []
    for word, start, end in each(words(text)):
        plain = word.replace("’", "'")
        base = plain.removesuffix("'s").removesuffix("n't") or plain  # corpora write "did n't"
        found.append(Word(base, lemma(base), start, end, plain in DENYING or plain.endswith("n't"), 0, 0))
    bounds = _clause_bounds(text, found)
    sentences = [match.end() for match in _SENTENCE.finditer(text)]
    return [
        word._replace(clause=bisect_right(bounds, word.start), sentence=bisect_right(sentences, word.start))
        for word in found
    ]


def sentence_around(text: str, span: Span) -> Span:
    """The sentence, or sentences, in which a span of a text stands."""
    bounds = [0, *(match.end() for match in _SENTENCE.finditer(text)), len(text)]
    start = bounds[bisect_right(bounds, span.start) - 1]
    end = next((bound for bound in bounds if bound >= span.end), len(text))
    return Span(start, end)


def _clause_bounds(text: str, found: Sequence[Word]) -> list[int]:
    """Where clauses begin. "And" between two things, without a verb behind it, begins none."""
    marks = list(_BOUND.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    starts = [word.start for word in found]
    bounds = []
    for mark, end in each(zip(marks, ends, strict=False)):
        if mark.group().lower() in _LISTING:
            part = found[bisect_left(starts, mark.end()) : bisect_left(starts, end)]
            things = sum(word.text not in STOP_WORDS for word in part)
            if things <= 2 and not any(word.denies or _may_be_verb(word) for word in part):
                continue
        bounds.append(mark.start())
    return bounds


def _may_be_verb(word: Word) -> bool:
    inflected = word.text != word.lemma and not word.text.endswith(("s", "ing", "er", "est"))
    return word.text in _AUXILIARY or inflected


def turns(text: Sequence[Word]) -> Iterator[Turn]:
    """The words of a text that turn what other words of their clause, at most `FARTHEST` away, say."""
    for at, word in enumerate(each(text)):
        if not (word.denies or _takes_back(text, at)):
            continue
        near = range(max(0, at - FARTHEST), min(len(text), at + FARTHEST + 1))
        clause = [n for n in near if text[n].clause == word.clause and n != at]
        behind = [n for n in clause if n > at]
        forwards = not word.denies or (word.text in _FORWARDS and len(behind) < len(clause))
        if scope := frozenset(behind if forwards else clause):
            yield Turn(at, scope, word.denies)


def _takes_back(text: Sequence[Word], at: int) -> bool:
    word, before = text[at], text[max(0, at - _NEAR) : at]
    following = text[at + 1].text if at + 1 < len(text) else ""
    if word.text == "except" or word.text == "but":  # "nobody but the cook", "every day but Sunday"
        return word.text == "except" or any(
            other.text in ALL | DENYING or other.text.startswith("any") for other in before
        )
    if word.text in ("would", "used"):
        return following in {"would": ("have", "rather"), "used": ("to",)}[word.text]
    is_noun = bool(before) and before[-1].text in DETERMINERS
    return not is_noun and bool({word.text, word.lemma} & _TAKING_BACK)

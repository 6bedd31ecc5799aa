"""Questions that a passage seems to answer but does not, made of answerable ones (SQuAD 1.1 -> 2.0's manner).

SQuAD 2.0's crowd workers wrote theirs by negation, antonyms, swapped entities, excluded conditions and
unrelated but plausible questions (Rajpurkar et al., 2018, table 1). The same moves are made here by rule.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from kgqa.types import Example, Passage

_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
OPPOSITES = dict(pair.split(":") for pair in _WORDS["opposites"].split())
_WORD = re.compile(r"[A-Za-z0-9]+")
_NAME = re.compile(r"(?<![.?!] )(?<!^)\b[A-Z][\w'-]+(?: (?:of |the |de |von )?[A-Z][\w'-]+)*")
_NUMBER = re.compile(r"\b\d[\d,.]*\d\b|\b\d\b")
_NEGATABLE = re.compile(
    r"\b(did|does|do|was|were|is|are|has|have|had|can|could|will|would|should)\b", re.IGNORECASE
)
_STOP = frozenset(_WORDS["stop_words"].split())

Made = tuple[str, Passage] | None
Move = Callable[[Example, list[Passage], random.Random], Made]


def unanswerable(examples: Iterable[Example], *, seed: int, share: float = 0.5) -> Iterator[Example]:
    """Made unanswerable questions for a share of the examples, without the originals; the same for one seed.

    Args:
        examples: answerable questions; those of one article (passage id `title/number`) must stand together.
        share: how many of the examples get an unanswerable twin, 0..1.

    `kind` of the made example names the move (`MOVES`), the id ends in `-<move>`.
    """
    for title, group in groupby(examples, key=_article):
        rng = random.Random(f"{seed}/{title}")
        rows = list(group)
        passages = list(
            {row.question.passage.id: row.question.passage for row in rows if row.question.passage}.values()
        )
        for example in rows:
            if rng.random() >= share or not example.spans:
                continue
            # Moves by rule are drawn twice as often as the easier move to another paragraph.
            order = sorted(MOVES, key=lambda name: rng.random() ** (1.0 if name == "moved" else 2.0))
            for name in order:
                made = MOVES[name](example, passages, rng)
                if made and made != (example.question.text, example.question.passage):
                    text, passage = made
                    identity = f"{example.question.id}-{name}"
                    question = replace(example.question, text=text, passage=passage, id=identity)
                    yield Example(question, kind=name)
                    break


def moved(example: Example, passages: list[Passage], rng: random.Random) -> Made:
    """The question, asked of the likest other paragraph of its article that lacks every answer."""
    question = example.question
    answers = [question.passage_text[start:end].lower() for start, end in example.spans]
    wanted = _content(question.text)
    rated = []
    for passage in passages:
        text = passage.text.lower()
        if passage == question.passage or any(answer in text for answer in answers):
            continue
        rated.append((len(wanted & _content(text)) + rng.random(), passage))
    if not rated:
        return None
    score, best = max(rated, key=lambda pair: pair[0])
    return (question.text, best) if score >= 2 else None


def renamed(example: Example, passages: list[Passage], rng: random.Random) -> Made:
    """A name of the question that stands in the passage is replaced by one that does not."""
    question = example.question
    here = question.passage_text
    old = [name for name in _NAME.findall(question.text) if name in here]
    elsewhere = Counter(name for passage in passages for name in _names(passage.text))
    for name in old:
        like = [
            new
            for new, count in elsewhere.items()
            if count > 1
            and new not in here
            and new not in question.text
            and len(new.split()) == len(name.split())
        ]
        if like:
            return question.text.replace(name, rng.choice(sorted(like)), 1), _passage(example)
    return None


def renumbered(example: Example, passages: list[Passage], rng: random.Random) -> Made:
    """A year or number of the question is replaced by another that the passage does not hold."""
    question = example.question
    found = _NUMBER.search(question.text)
    if not found:
        return None
    digits = found.group().replace(",", "").rstrip(".")
    if not digits.isdigit():
        return None
    value = int(digits)
    step = rng.choice([-1, 1]) * rng.randint(1, max(2, min(40, value // 20 or 2)))
    new = str(max(1, value + step))
    if new in question.passage_text or new == digits:
        return None
    return question.text[: found.start()] + new + question.text[found.end() :], _passage(example)


def negated(example: Example, passages: list[Passage], rng: random.Random) -> Made:
    """`not` behind the subject of the first auxiliary, or `never` before the verb of "Who wrote ...?"."""
    text = example.question.text
    if re.search(r"\b(?:not|never|n't|no)\b", text):
        return None
    found = _NEGATABLE.search(text)
    if not found:
        subject = re.match(r"(?i)(who|what|which \w+) (?=[a-z]+(?:ed|s)\b)", text)
        return (f"{subject.group(0)}never {text[subject.end() :]}", _passage(example)) if subject else None
    rest = text[found.end() :]
    # Behind a subject of one to three words in capitals or a pronoun; otherwise right behind the auxiliary,
    # which is right where the question word is the subject.
    subject = re.match(
        r" (?:(?:the |an? )?(?:[A-Z][\w'-]+ ?){1,3}(?=[a-z])|(?:it|they|he|she|people|there) )", rest
    )
    at = found.end() + (subject.end() - 1 if subject else 0)
    is_subject = re.match(r"(?i)(?:who|what|which \w+)$", text[: found.start()].strip()) is not None
    is_subject &= re.match(r" (?:the|an?|most|one|some|\w+'s)\b", rest) is None
    if not subject and not is_subject:
        return None
    return text[:at].rstrip() + " not" + text[at:], _passage(example)


def reversed_(example: Example, passages: list[Passage], rng: random.Random) -> Made:
    """A word of the question is replaced by its opposite."""
    text = example.question.text
    found = [match for match in _WORD.finditer(text) if match.group().lower() in OPPOSITES]
    if not found:
        return None
    match = rng.choice(found)
    return text[: match.start()] + OPPOSITES[match.group().lower()] + text[match.end() :], _passage(example)


MOVES: dict[str, Move] = {
    "moved": moved,
    "renamed": renamed,
    "renumbered": renumbered,
    "negated": negated,
    "reversed": reversed_,
}
"""Name -> how a question is made unanswerable; None where it cannot be done."""


def _article(example: Example) -> str:
    passage = example.question.passage
    return passage.id.rsplit("/", 1)[0] if passage else ""


def _passage(example: Example) -> Passage:
    assert example.question.passage is not None
    return example.question.passage


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text.lower()) if word not in _STOP)


@lru_cache(maxsize=4096)
def _names(text: str) -> tuple[str, ...]:
    return tuple(_NAME.findall(text))

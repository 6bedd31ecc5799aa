"""The same question about somebody else: who acts must not decide what they act with."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from kgqa.types import Example, Passage

_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_FEMALE, _MALE = _WORDS["female"].split(), _WORDS["male"].split()
NAMES = (*_FEMALE, *_MALE)
"""Names of many origins."""
_ONSETS = "b br ch d f g h j k kl l m n p r s sh st t tr v w y z"
_VOWELS = "a e i o u ai ia"
_ENDS = ("", "n", "r", "s", "l", "k", "m")
_PRONOUN = re.compile(r"\b([Hh]e|[Ss]he)\b(?!')")
_NAME = re.compile(r"(?<![\w'-])[A-Z][a-z]{2,}(?![\w'-])")


def renamed(examples: Iterable[Example], *, seed: int, share: float = 0.5) -> Iterator[Example]:
    """Copies of a share of the examples in which a person has another name; the same for one seed.

    The first "he" or "she" of a passage becomes a name (of many origins, or made up of syllables) or "my
    neighbour"; where the passage has a name that is no other word, passage, question and answers get another
    one. Examples without either, and those whose answer is a span that would move, are left out.
    """
    found = list(examples)
    ordinary = {name.lower() for name in _WORDS["not_names"].split()} | {
        word for e in found for word in re.findall(r"\b[a-z]+\b", e.question.passage_text)
    }
    draw = random.Random(seed)
    for example in found:
        if example.spans or draw.random() >= share:
            continue
        passage, text = example.question.passage_text, example.question.text
        names = [n for n in _NAME.findall(passage) if n.lower() not in ordinary]
        pronoun = _PRONOUN.search(passage)
        if names:
            old = re.compile(rf"\b{names[0]}\b")
            new = _name(draw, draw.choice((_FEMALE, _MALE)))
            passage, text = old.sub(new, passage), old.sub(new, text)
        elif pronoun:
            new = _person(draw, pronoun.group().lower() == "she")
            capital = pronoun.group()[0].isupper()
            new = new[0].upper() + new[1:] if capital else new
            passage = passage[: pronoun.start()] + new + passage[pronoun.end() :]
        else:
            continue
        copy = Passage(passage, made_of=example.question.passage_text)
        yield replace(example, question=replace(example.question, text=text, passage=copy))


def _person(draw: random.Random, female: bool) -> str:
    if draw.random() < 0.15:
        return str(draw.choice(_WORDS["others"]))
    return _name(draw, _FEMALE if female else _MALE)


def _name(draw: random.Random, known: Sequence[str]) -> str:
    """A name of the list, or one that nobody has."""
    if draw.random() < 0.6:
        return draw.choice(known)
    syllables = [
        draw.choice(_ONSETS.split()) + draw.choice(_VOWELS.split()) for _ in range(draw.choice((1, 2, 2, 3)))
    ]
    return ("".join(syllables) + draw.choice(_ENDS)).capitalize()

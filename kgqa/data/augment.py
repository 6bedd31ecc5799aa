"""Data augmentation: multiple choice with plausible distractors, and examples with another person's name."""

from __future__ import annotations

import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from kgqa.types import Example, Passage

_NEAR = 2
"""Maximum number of distractors from the same passage or question; the others come from questions of the same type."""


def with_choices(examples: Iterable[Example], *, count: int, seed: int) -> Iterator[Example]:
    """The answerable examples as multiple-choice questions with `count` choices, reproducibly for a seed.

    Distractors are first answers about the same passage, or to the same question about another one, then answers of the
    same type; within both groups, questions that begin with the same two words come first. An accepted answer is never
    a distractor. Examples that already have choices, are unanswerable or have too few distractors are left out.
    """
    rng = random.Random(f"choices/{seed}")
    answered = [(e, answers) for e in examples if not e.question.choices and (answers := e.golds)]
    near: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    kinds: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for example, answers in answered:
        for place in _places(example):
            near[place].append((_opening(example), answers[0]))
        for kind in _kinds(example):
            kinds[kind].append(answers[0])
    for example, answers in answered:
        right = rng.choice(answers[:2])
        around = [near_by for place in _places(example) for near_by in near[place]]
        wrong: list[str] = []
        for alike in (
            [text for opening, text in around if opening == _opening(example)],
            [text for _, text in around],
        ):
            wrong += _others(alike, [*answers, *wrong], rng, min(_NEAR, count - 1) - len(wrong))
        for alike in map(kinds.__getitem__, _kinds(example)):
            drawn = rng.sample(alike, min(4 * count, len(alike)))
            wrong += _others(drawn, [*answers, *wrong], rng, count - 1 - len(wrong))
        if len(wrong) < count - 1:
            continue
        choices = [right, *wrong]
        rng.shuffle(choices)
        question = replace(example.question, choices=tuple(choices))
        yield Example(question, choice=choices.index(right), kind=example.kind)


def _places(example: Example) -> list[str]:
    return [text for text in (example.question.passage_text, example.question.text) if text]


def _opening(example: Example) -> str:
    return " ".join(example.question.text.lower().split()[:2])


def _kinds(example: Example) -> tuple[tuple[str, ...], ...]:
    """Keys of questions of the same type: first those that begin with the same words, then any."""
    kind = example.source.value, example.kind
    return (*kind, _opening(example)), kind


def _others(found: Sequence[str], taken: Sequence[str], rng: random.Random, count: int) -> list[str]:
    """At most `count` of the texts found; none contains, or is contained in, another one or one of `taken`."""
    known = [text.lower() for text in taken]
    wrong: list[str] = []
    for text in rng.sample(list(found), len(found)):
        low = text.lower()
        if len(wrong) == count:
            break
        if not any(low in other or other in low for other in known):
            wrong.append(text)
            known.append(low)
    return wrong


_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_FEMALE, _MALE = _WORDS["female"].split(), _WORDS["male"].split()
_ONSETS, _VOWELS = _WORDS["onsets"].split(), _WORDS["vowels"].split()
_ENDS = ("", "n", "r", "s", "l", "k", "m")
_PRONOUN = re.compile(r"\b([Hh]e|[Ss]he)\b(?!')")
_NAME = re.compile(r"(?<![\w'-])[A-Z][a-z]{2,}(?![\w'-])")


def renamed(examples: Iterable[Example], *, seed: int, share: float = 0.5) -> Iterator[Example]:
    """Copies of a share of the examples in which a person has another name, reproducibly for a seed.

    If the passage has a name that is not also an ordinary word, it is replaced in passage, question and answers;
    otherwise the first "he" or "she" of the passage becomes a name (of many origins, or invented from syllables) or "my
    neighbour". Examples with neither, and those whose answer span would move, are left out.
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
            nameless = draw.random() < 0.15
            known = _FEMALE if pronoun.group().lower() == "she" else _MALE
            new = draw.choice(_WORDS["others"]) if nameless else _name(draw, known)
            if pronoun.group()[0].isupper():
                new = new[0].upper() + new[1:]
            passage = passage[: pronoun.start()] + new + passage[pronoun.end() :]
        else:
            continue
        copy = Passage(passage, made_of=example.question.passage_text)
        yield replace(example, question=replace(example.question, text=text, passage=copy))


def _name(draw: random.Random, known: Sequence[str]) -> str:
    """A name from the list, or an invented one."""
    if draw.random() < 0.6:
        return draw.choice(known)
    syllables = [draw.choice(_ONSETS) + draw.choice(_VOWELS) for _ in range(draw.choice((1, 2, 2, 3)))]
    return ("".join(syllables) + draw.choice(_ENDS)).capitalize()

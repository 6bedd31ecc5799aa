"""Choices for questions that came without: the answer beside answers of other questions that look as likely."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kgqa.types import Example

_NEAR = 2
"""At most so many wrong choices come from the same passage or question; the others from questions of the kind."""


def with_choices(examples: Iterable[Example], *, count: int, seed: int) -> Iterator[Example]:
    """The answerable examples as questions with `count` choices; the same ones for one seed.

    Wrong choices are answers to the same question in another situation and to other questions about the same
    passage, then answers to questions of the same kind; none that the example accepts. Examples that already
    have choices, cannot be answered or find too few wrong ones are left out.
    """
    rng = random.Random(f"choices/{seed}")
    answered = [(e, e.golds) for e in examples if not e.question.choices]
    answered = [(e, answers) for e, answers in answered if answers]
    near: defaultdict[str, list[str]] = defaultdict(list)
    kinds: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for example, answers in answered:
        for place in _places(example):
            near[place].append(answers[0])
        kinds[_kind(example)].append(answers[0])
    for example, answers in answered:
        right = rng.choice(answers[:2])
        around = [text for place in _places(example) for text in near[place]]
        wrong = _others(around, answers, rng, min(_NEAR, count - 1))
        alike = kinds[_kind(example)]
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


def _kind(example: Example) -> tuple[str, str]:
    return example.source.value, example.kind


def _others(found: Sequence[str], taken: Sequence[str], rng: random.Random, count: int) -> list[str]:
    """At most `count` of the found texts, none of which holds or is held by one that is taken."""
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

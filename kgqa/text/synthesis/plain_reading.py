"""Plain reading, made up: two or three people, each with something of their own, and a question about one of them.

Nothing but the passage can tell the answer: every value is drawn at random, as in bAbI's tasks (Weston et al., 2015,
sections 3.1 and 3.2), in the wordings of `plain_reading.toml`.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from kgqa.text.augment.renaming import NAMES
from kgqa.types import Example, Passage, Question, Span

_NONE = 0.18
"""Share of the questions that the passage does not answer."""
_JOINTS = (", and ", ". ", ". ", "; ", ", but ", ", while ")
_ARTICLE = re.compile(r"(?:a|an|the) ")


def plain_reading(*, count: int, seed: int) -> Iterator[Example]:
    """Questions on made-up passages, the same ones for the same arguments; answers are spans, or there is none."""
    rng = random.Random(f"plain-reading/{seed}")
    made = 0
    while made < count:
        example = _draw(rng, f"read-{seed}-{made}")
        if example:
            made += 1
            yield example


@dataclass(frozen=True, slots=True)
class _Fact:
    """One thing told of one person."""

    kind: dict[str, Any]
    who: str
    value: str
    thing: str
    other: str

    def fill(self, template: str) -> str:
        text = template.format(
            who=self.who, whose=_whose(self.who), x=self.value, thing=self.thing, other=self.other
        )
        return re.sub(r"\ba (?=[aeio])", "an ", text)


def _draw(rng: random.Random, identity: str) -> Example | None:
    kinds, roles = _wordings()
    pronouns = rng.random() < 0.12
    people = ["he", "she"] if pronouns else _people(rng, roles)
    if pronouns:
        kinds = [kind for kind in kinds if "{other}" not in kind["tell"][0]]
    main, *rest = rng.sample(kinds, 3)
    facts = _told(main, people, rng)
    if rng.random() < 0.45:
        facts += _told(rest[0], people, rng)[: rng.choice((1, 1, 2))]
    passage = _passage(facts, rng)
    asked = rng.choice(facts)
    about = "what" if pronouns or rng.random() < 0.7 else "who"
    if rng.random() < _NONE:
        unsaid = _told(rest[1], people, rng)[0]
        if rng.random() < 0.5:  # of the kind that was told, but with a value that nobody has
            values = [v for v in main["values"] if v not in passage]
            unsaid, about = _Fact(main, asked.who, rng.choice(values), facts[0].thing, facts[0].other), "who"
        if about == "who" and pronouns:
            return None
        return Example(
            Question(_asked(unsaid, about, rng), id=identity, passage=Passage(passage)), kind="reading"
        )
    answer = asked.value if about == "what" else asked.who
    if passage.lower().count(answer.lower()) != 1:
        return None
    at = passage.lower().index(answer.lower())
    spans = [Span(at, at + len(answer))]
    article = _ARTICLE.match(answer)
    if article:
        spans.append(Span(at + article.end(), at + len(answer)))
    question = Question(_asked(asked, about, rng), id=identity, passage=Passage(passage))
    return Example(question, spans=tuple(spans), kind="reading")


def _people(rng: random.Random, roles: list[str]) -> list[str]:
    found = rng.sample(NAMES, rng.choice((2, 2, 2, 3)))
    return [rng.choice(roles) if rng.random() < 0.2 else name for name in found]


def _told(kind: dict[str, Any], people: list[str], rng: random.Random) -> list[_Fact]:
    values = rng.sample(kind["values"], len(people))
    thing = rng.choice(kind.get("things", [""]))
    others = people[1:] + people[:1]
    order = list(zip(people, values, others, strict=True))
    rng.shuffle(order)
    return [_Fact(kind, who, value, thing, other) for who, value, other in order]


def _passage(facts: list[_Fact], rng: random.Random) -> str:
    """The facts in a few sentences; people of one kind of fact often in the same breath."""
    said, wording = "", ""
    kind: dict[str, Any] | None = None
    for fact in facts:
        same = fact.kind is kind
        if not same or rng.random() < 0.25:
            wording = rng.choice(fact.kind["tell"])
        full, _, short = wording.partition("|")
        breath = same and short and rng.random() < 0.4
        joint = "" if not said else ", " if breath else rng.choice(_JOINTS) if same else ". "
        clause = fact.fill(short if breath else full)
        said += joint + (clause[0].upper() + clause[1:] if joint in ("", ". ") else clause)
        kind = fact.kind
    return said + "."


def _asked(fact: _Fact, about: str, rng: random.Random) -> str:
    text = fact.fill(rng.choice(fact.kind[about]))
    return text[0].upper() + text[1:]


def _whose(who: str) -> str:
    return {"he": "his", "she": "her"}.get(who, f"{who}'s")


@lru_cache(maxsize=1)
def _wordings() -> tuple[list[dict[str, Any]], list[str]]:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    for kind in table["kind"]:
        for name in ("values", "things"):
            if name in kind:
                kind[name] = [value.strip() for value in kind[name].split(";")]
    return table["kind"], [role.strip() for role in table["roles"].replace("\n", " ").split(";")]

"""A fact as a person would say it: "to plant flowers, people use a trowel"."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path

from kgqa.text.synthesis.inflection import (
    PAST,
    gerund,
    is_mass,
    is_plural,
    place_phrase,
    third,
    time_phrase,
    with_article,
)

_AFTER_A_VERB = re.compile(
    r"(?:a|an|the|one's|your|my|some|something|someone|somebody|people|children|each|all|and|up|down|out|off|on|in|into|"
    r"at|to|for|over|under|away|back|with|from|by|around|across|through|together|well|fast|slowly|alone)$"
)
_MANY = {"is": "are", "has": "have", "wants": "want", "comes": "come", "makes": "make", "leads": "lead"}
_SINGULAR = re.compile(rf"\b({'|'.join(_MANY)})\b")
_TAIL_DEEDS = frozenset("UsedFor MotivatedByGoal HasSubevent Desires CausesDesire CapableOf".split())  # noqa: SIM905
_HEAD_DEEDS = frozenset("HasInstrument HasAgent HasMaterial MotivatedByGoal HasSubevent".split())  # noqa: SIM905


def say_fact(head: str, relation: str, words: str, tail: str) -> str:
    """The fact in a sentence without capital or full stop.

    Args:
        head, tail: labels of the concepts.
        relation: the relation's name, an IRI or plain; by its last part the wording is chosen.
        words: the relation in words, for relations of any other graph: "smoker calms bees".

    >>> say_fact("plant flowers", "https://kgqa.org/relation/HasInstrument", "is done with", "trowel")
    'to plant flowers, people use a trowel'
    """
    words_by_use, templates = _wordings()
    template = templates.get(name := re.split(r"[/#:]", relation)[-1])
    if template is None:
        return f"{head} {words} {tail}"
    deed, noun = _is_deed(head, name in _HEAD_DEEDS), _is_deed(tail, name in _TAIL_DEEDS)
    named = {
        label: f"being {label}" if label in words_by_use["adjectives"] else with_article(label)
        for label in (head, tail)
    }
    first, _, second = template.partition("|")
    chosen = first if deed or not second else second
    verb, _, rest = head.partition(" ")
    forms = {
        "a": head,
        "b": tail,
        "A": _doing(head) if deed else named[head],
        "B": _doing(tail) if noun else named[tail],
        "to A": f"to {head}" if deed else f"for {named[head]}",
        "to B": f"to {tail}" if noun else f"for {tail if tail.endswith('ing') else named[tail]}",
        "does A": f"{third(verb)} {rest}".strip(),
        "at B": place_phrase(tail),
        "when B": time_phrase(tail),
    }
    said = re.sub(r"\{([^}]+)\}", lambda match: forms[match.group(1)], chosen)
    if deed or not is_plural(head) or not chosen.lower().startswith("{a}"):
        return said
    return _SINGULAR.sub(lambda match: _MANY[match.group()], said, count=1)


def as_kind(label: str) -> str:
    """A label as what something is a kind of: dig -> digging.

    >>> as_kind("dig"), as_kind("hand tool")
    ('digging', 'hand tool')
    """
    return _doing(label) if _is_deed(label, False) else label


@lru_cache(maxsize=1)
def _wordings() -> tuple[dict[str, frozenset[str]], dict[str, str]]:
    """Words by what they are, and wordings by relation."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    templates = data.pop("templates")
    return {kind: frozenset(words.split()) for kind, words in data.items()}, templates


def _is_deed(label: str, expected: bool) -> bool:
    """Whether a label is what somebody does: plant flowers, dig; not a water bottle, nor a paint brush."""
    first, _, rest = label.removeprefix("not ").partition(" ")
    words, _ = _wordings()
    if first not in words["verbs"] and first not in PAST:
        return False
    if expected or (first not in words["also_nouns"] if rest else first in words["never_nouns"]):
        return True
    following = rest.split()
    return bool(following) and (
        bool(_AFTER_A_VERB.match(following[0])) or is_plural(rest) or (len(following) == 1 and is_mass(rest))
    )


def _doing(label: str) -> str:
    negated = "not " if label.startswith("not ") else ""
    verb, _, rest = label.removeprefix("not ").partition(" ")
    return f"{negated}{gerund(verb)} {rest}".strip()

"""What kind of thing each concept is: one type of types.toml, from the chain of IsA or from its place in facts."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa.types import InputError

if TYPE_CHECKING:
    from kgqa.graph.authoring.compiling import Concept, Fact


@dataclass(frozen=True, slots=True)
class Kind:
    """A row of types.toml: the concepts that stand for a type, and the relations whose ends are of it."""

    name: str
    ko: str = ""
    roots: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()


def read_kinds(path: Path) -> dict[str, Kind]:
    """The table of types, by name; empty where there is no such file. Raises InputError where it is malformed."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        return {
            name: Kind(
                name, **{**row, **{key: tuple(row.get(key, ())) for key in ("roots", "heads", "tails")}}
            )
            for name, row in table.items()
        }
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}: no table of types ({error}); see graph_data/types.toml") from None


def give_kinds(
    concepts: Sequence[Concept],
    facts: Iterable[Fact],
    kinds: Mapping[str, Kind],
    find: Callable[[str], int | None],
) -> None:
    """Set `kind` of every concept that has none: the nearest root by IsA, else what its facts speak for.

    `find` gives a root's position by its label. Facts vote by their weight; on a tie the type that stands
    first in the table wins.
    """
    rank = {name: place for place, name in enumerate(kinds)}
    of_root = {
        at: kind.name for kind in kinds.values() for root in kind.roots if (at := find(root)) is not None
    }
    broader: dict[int, list[tuple[int, float]]] = defaultdict(list)
    votes: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    heads, tails = _ends(kinds.values())
    for fact in facts:
        if fact.relation == "IsA":
            broader[fact.head].append((fact.tail, fact.weight))
        if fact.relation in heads:
            votes[fact.head][heads[fact.relation]] += fact.weight
        if fact.relation in tails:
            votes[fact.tail][tails[fact.relation]] += fact.weight

    known = {at: concept.kind or of_root.get(at, "") for at, concept in enumerate(concepts)}
    for at, concept in enumerate(concepts):
        found = known[at] or _nearest(at, broader, known, rank) or _first(votes[at], rank)
        concept.kind = found


def _ends(kinds: Iterable[Kind]) -> tuple[dict[str, str], dict[str, str]]:
    heads: dict[str, str] = {}
    tails: dict[str, str] = {}
    for kind in kinds:
        heads.update(dict.fromkeys(kind.heads, kind.name))
        tails.update(dict.fromkeys(kind.tails, kind.name))
    return heads, tails


def _nearest(
    start: int,
    broader: Mapping[int, Sequence[tuple[int, float]]],
    known: Mapping[int, str],
    rank: Mapping[str, int],
) -> str:
    """The type of the roots that are the fewest steps of IsA away; among several, the one of most weight."""
    seen, layer = {start}, {start: 1.0}
    while layer:
        following: dict[int, float] = defaultdict(float)
        for at, strength in layer.items():
            for tail, weight in broader.get(at, ()):
                if tail not in seen:
                    following[tail] += strength * weight
        found: dict[str, float] = defaultdict(float)
        for at, strength in following.items():
            if known[at]:
                found[known[at]] += strength
        if found:
            return _first(found, rank)
        seen.update(following)
        layer = dict(following)
    return ""


def _first(votes: Mapping[str, float], rank: Mapping[str, int]) -> str:
    return min(votes, key=lambda name: (-votes[name], rank.get(name, len(rank))), default="")

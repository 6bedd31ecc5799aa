"""What kind of thing each concept is: one type of types.toml, from the chain of IsA or from its place in facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from graph_data.build.tables import ConceptType

if TYPE_CHECKING:
    from graph_data.build.compile import Concept, ConceptFact


def assign_types(
    concepts: Sequence[Concept],
    facts: Iterable[ConceptFact],
    concept_types: Mapping[str, ConceptType],
    find: Callable[[str], int | None],
) -> None:
    """Set `kind` of every concept that has none: the nearest root by IsA, else what its facts speak for.

    `find` gives a root's position by its label. Facts vote by their weight; on a tie the type that stands
    first in the table wins.
    """
    rank = {name: place for place, name in enumerate(concept_types)}
    of_root = {
        at: kind.name
        for kind in concept_types.values()
        for root in kind.roots
        if (at := find(root)) is not None
    }
    broader: dict[int, list[tuple[int, float]]] = defaultdict(list)
    votes: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    heads = {relation: kind.name for kind in concept_types.values() for relation in kind.heads}
    tails = {relation: kind.name for kind in concept_types.values() for relation in kind.tails}
    for fact in facts:
        if fact.relation == "IsA":
            broader[fact.head].append((fact.tail, fact.weight))
        if fact.relation in heads:
            votes[fact.head][heads[fact.relation]] += fact.weight
        if fact.relation in tails:
            votes[fact.tail][tails[fact.relation]] += fact.weight

    known = {at: concept.kind or of_root.get(at, "") for at, concept in enumerate(concepts)}
    for at, concept in enumerate(concepts):
        concept.kind = known[at] or _nearest(at, broader, known, rank) or _first(votes[at], rank)


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

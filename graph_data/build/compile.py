"""Source files of blocks -> one graph of concepts and facts, each concept and each fact once."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from graph_data.build.blocks import Block, SourceFact, read_blocks, split_sense
from graph_data.build.concept_types import assign_types
from graph_data.build.tables import (
    ConceptType,
    Order,
    RelationWords,
    Scale,
    read_concept_types,
    read_labels,
    read_orders,
    read_relations,
    read_scales,
)
from kgqa.graph.linking.normalize import ARTICLES, normalise, words
from kgqa.types import InputError


@dataclass(slots=True)
class Concept:
    """A concept of the graph. `defined`: it has a block of its own, and is not only named as a tail."""

    label: str
    sense: str = ""
    defined: bool = False
    slug: str = ""
    also: list[str] = field(default_factory=list)
    ko: list[str] = field(default_factory=list)
    labels: dict[str, list[str]] = field(default_factory=dict)
    """Names in other languages than English and Korean, the preferred one first; further Korean ones are in `ko`."""
    domains: list[str] = field(default_factory=list)
    where: str = ""
    kind: str = ""
    """What kind of thing it is: a type of types.toml."""

    @property
    def name(self) -> str:
        """The label as it is written, with its sense."""
        return f"{self.label} ({self.sense})" if self.sense else self.label


@dataclass(frozen=True, slots=True)
class ConceptFact:
    """A fact between concepts, by their position in `SourceGraph.concepts`."""

    head: int
    relation: str
    tail: int
    weight: float
    where: str


@dataclass(slots=True)
class SourceGraph:
    """All blocks of a folder, unified."""

    relations: dict[str, RelationWords]
    concepts: list[Concept] = field(default_factory=list)
    facts: list[ConceptFact] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    """Facts of a concept with itself, which say nothing."""
    ambiguous: list[str] = field(default_factory=list)
    """Tails that name several concepts; the first was taken."""
    concept_types: dict[str, ConceptType] = field(default_factory=dict)
    """The table of types; without one a concept has a type only where its block names it."""
    orders: list[Order] = field(default_factory=list)
    """What is typical by order, which the weights must keep."""


@lru_cache(maxsize=100_000)
def surface(label: str) -> str:
    """Identity of a written label: lower case, articles and possessives dropped, inflection kept.

    Lemmas would make one concept of *tired* and *tyre*, or of *saw* and *see*.
    """
    base, sense = split_sense(label)
    tokens = [word for word, _, _ in words(base)]
    kept = " ".join([word for word in tokens if word not in ARTICLES] or tokens)
    return f"{kept} ({sense.lower()})" if sense else kept


def read_folder(folder: Path, relations: Path | None = None) -> SourceGraph:
    """All `*.txt` files of a folder as one graph; `relations` defaults to relations.toml in or beside it.

    Types are given where types.toml stands beside the relations, orders where typical.toml stands beside the folder,
    comparisons where scales.toml does, names in other languages where labels/ does.

    Raises InputError with file, line and remedy where a file is malformed.
    """
    files = sorted(folder.glob("*.txt"))
    if not files:
        raise InputError(f"{folder}: no .txt files of blocks here; name a folder such as graph_data/everyday")
    if relations is None:
        inside = folder / "relations.toml"
        relations = inside if inside.exists() else folder.parent / "relations.toml"
    table = read_relations(relations)
    concept_types = read_concept_types(relations.with_name("types.toml"))
    graph = unify([block for path in files for block in read_blocks(path, table)], table, concept_types)
    graph.orders = read_orders(folder.parent / "typical.toml")
    for scale in read_scales(folder.parent / "scales.toml"):
        add_scale(graph, scale)
    by_slug = {concept.slug: concept for concept in graph.concepts}
    for language, rows in read_labels(folder.parent / "labels").items():
        for slug, names in rows.items():
            if slug not in by_slug:
                raise InputError(
                    f"labels/{language}.tsv: no concept {slug}; name one of the graph, or leave it out"
                )
            concept = by_slug[slug]
            known = concept.ko if language == "ko" else concept.labels.setdefault(language, [])
            known += [name for name in names if name not in known]
    return graph


APART = 2
"""Levels between two things that are compared: those of neighbouring levels may be equal."""
FURTHER = (3, 9)
"""Levels between the first things of two levels that are compared too: chains reach every level, and stay short."""


def add_scale(graph: SourceGraph, scale: Scale) -> None:
    """Add a scale's comparisons: each thing with the first one `APART` levels below and above, and the first things of
    levels further apart. Chains of these facts order any two things four levels apart, and some that are nearer.

    Raises InputError for a thing that is no concept, or an unknown relation.
    """
    place = {surface(name): at for at, concept in enumerate(graph.concepts) for name in concept.also}
    place |= {surface(concept.name): at for at, concept in enumerate(graph.concepts)}
    levels = [[place.get(surface(thing), -1) for thing in level] for level in scale.levels]
    unknown = [t for level in scale.levels for t in level if surface(t) not in place]
    if unknown or scale.relation not in graph.relations:
        raise InputError(f"scales.toml: no concept or relation {', '.join(unknown) or scale.relation}")
    apart = list(zip(levels, levels[APART:], strict=False))
    pairs = [(above, below[0]) for below, level in apart for above in level]
    pairs += [(above[0], below) for level, above in apart for below in level]
    pairs += [(a[0], b[0]) for n in FURTHER for b, a in zip(levels, levels[n:], strict=False)]
    known = {(fact.head, fact.tail) for fact in graph.facts if fact.relation == scale.relation}
    graph.facts += [
        ConceptFact(head, scale.relation, tail, 0.5, "scales.toml")
        for head, tail in dict.fromkeys(pairs)
        if (head, tail) not in known
    ]


def unify(
    blocks: Iterable[Block], relations: dict[str, RelationWords], concept_types: dict[str, ConceptType]
) -> SourceGraph:
    """Blocks of the same label become one concept; tails find theirs, or become a concept of their own.

    A name is looked up as it is written, then without a sense (fly is not "fly (insect)" where a verb is
    meant), then as another name (`also`), then in another number or as a gerund (dig holes = dig a hole,
    planting flowers = plant flowers). Blocks that name each other, or one of which names the other and has
    the same Korean label, are one concept; where only one names the other they are similar.
    """
    graph = SourceGraph(relations, concept_types=concept_types)
    blocks = _join(list(blocks))
    names = _Names(graph.concepts)
    heads = [names.define(block) for block in blocks]
    names.learn_aliases()
    for block, head in zip(blocks, heads, strict=True):
        for fact in block.facts:
            names.part_from_self(fact.tail, head, relations[fact.relation])
    rows: dict[tuple[int, str, int], ConceptFact] = {}
    for block, head in zip(blocks, heads, strict=True):
        for fact in block.facts:
            tail = names.resolve(fact, head, relations[fact.relation], block.domain)
            if head == tail:
                graph.dropped.append(f"{fact.where}: {block.label} {fact.relation} itself ({fact.tail})")
                continue
            key = (head, fact.relation, tail)
            if relations[fact.relation].symmetric and (tail, fact.relation, head) in rows:
                key = (tail, fact.relation, head)
            known = rows.get(key)
            if known is None or known.weight < fact.weight:
                rows[key] = ConceptFact(*key, fact.weight, known.where if known else fact.where)
    shared = names.part_shared_names()
    for head, relation, tail in list(rows):
        # A toy shovel is told apart from a shovel by its facts; that it is a shovel says more.
        pair = ((head, "DistinctFrom", tail), (tail, "DistinctFrom", head))
        for other in pair if relation == "IsA" else ():
            if gone := rows.pop(other, None):
                graph.dropped.append(f"{gone.where}: DistinctFrom of a concept and its kind")
    assign_types(
        graph.concepts, rows.values(), graph.concept_types, lambda label: names.exact.get(surface(label))
    )
    for head, tail in shared:
        # A name that a lullaby and singing one had in common makes neither like the other.
        alike = graph.concepts[head].kind == graph.concepts[tail].kind
        linked = any((head, name, tail) in rows or (tail, name, head) in rows for name in relations)
        if "SimilarTo" in relations and alike and not linked:
            rows[head, "SimilarTo", tail] = ConceptFact(
                head, "SimilarTo", tail, 1.0, graph.concepts[head].where
            )
    graph.facts = list(rows.values())
    graph.ambiguous = names.ambiguous
    _give_slugs(graph.concepts)
    return graph


def _join(blocks: list[Block]) -> list[Block]:
    """Give blocks that are one concept one label: the first that is written."""
    first: dict[str, str] = {}
    also: dict[str, set[str]] = defaultdict(set)
    ko: dict[str, set[str]] = defaultdict(set)
    is_a: set[tuple[str, str]] = set()
    for block in blocks:
        key = surface(block.label)
        first.setdefault(key, block.label)
        also[key].update(surface(name) for name in block.also)
        ko[key].update(block.ko)
        is_a.update((key, surface(fact.tail)) for fact in block.facts if fact.relation == "IsA")
    better: dict[str, str] = {}
    for one in first:
        for two in sorted((also[one] & first.keys()) - {one}):
            if (one, two) in is_a or (two, one) in is_a:
                continue
            if (one in also[two] or ko[one] & ko[two]) and two not in better and better.get(one) != two:
                root = one
                while root in better:
                    root = better[root]
                if root != two:
                    better[two] = root
    joined = []
    for block in blocks:
        key = surface(block.label)
        while key in better:
            key = better[key]
        label = first[key]
        others = (*block.also, block.label) if label != block.label else block.also
        joined.append(replace(block, label=label, also=others))
    return joined


class _Names:
    """Finds the concept that a written label means."""

    def __init__(self, concepts: list[Concept]) -> None:
        self.concepts = concepts
        self.exact: dict[str, int] = {}
        self.senses: dict[str, list[int]] = defaultdict(list)
        self.aliases: dict[str, int] = {}
        self.loose: dict[str, list[int]] = defaultdict(list)
        self.ambiguous: list[str] = []

    def define(self, block: Block) -> int:
        at = self.exact.get(surface(block.label))
        if at is None:
            at = self._other_number(block.label, block.ko)
        if at is None:
            at = self._add(block.label, block.where)
        concept = self.concepts[at]
        concept.defined = True
        for value in (split_sense(name)[0] for name in (*block.also, block.label)):
            if value not in concept.also and value != concept.label:
                concept.also.append(value)
        concept.ko.extend(dict.fromkeys(value for value in block.ko if value not in concept.ko))
        if block.domain not in concept.domains:
            concept.domains.append(block.domain)
        concept.kind = concept.kind or block.kind
        return at

    def learn_aliases(self) -> None:
        for at, concept in enumerate(self.concepts):
            for name in concept.also:
                self.aliases.setdefault(surface(name), at)

    def part_shared_names(self) -> list[tuple[int, int]]:
        """Another name that is the label of a second concept goes to that one; the pairs are returned."""
        pairs = []
        for at, concept in enumerate(self.concepts):
            for name in list(concept.also):
                other = self.exact.get(surface(name), at)
                if other != at and not concept.sense:
                    concept.also.remove(name)
                    pairs.append((at, other))
        return pairs

    def part_from_self(self, label: str, head: int, relation: RelationWords) -> None:
        """A knife that is another name of the kitchen knife, and also its kind, is a concept of its own."""
        concept = self.concepts[head]
        if (
            relation.symmetric
            or surface(label) in self.exact
            or (surface(label) == surface(concept.label) and not concept.sense)
        ):
            return
        if self._lookup(label, None, relation) == head and self._lookup(label, head, relation) is None:
            self._add(label, concept.where)

    def resolve(self, fact: SourceFact, head: int, relation: RelationWords, domain: str) -> int:
        at = self._lookup(fact.tail, head, relation)
        if at is None:
            at = self._add(fact.tail, fact.where)
        concept = self.concepts[at]
        if concept.sense and concept.label == fact.tail and len(self.senses[surface(fact.tail)]) > 1:
            self.ambiguous.append(f"{fact.where}: {fact.tail} was read as {concept.name}")
        if not concept.defined and not concept.domains:
            concept.domains.append(domain)
        return at

    def _lookup(self, label: str, head: int | None, relation: RelationWords) -> int | None:
        key = surface(label)
        if key in self.exact:
            return self.exact[key]
        if relation.symmetric:
            head = None  # a concept that is similar to its own other name says nothing: a loop, reported
        if "verb" not in relation.between:
            for at in self.senses.get(key, ()):
                if at != head:
                    return at
        found = self.aliases.get(key)
        if found is None or found == head:
            found = self._other_number(label, ())
        return None if found == head else found

    def _add(self, label: str, where: str) -> int:
        base, sense = split_sense(label)
        at = len(self.concepts)
        self.concepts.append(Concept(base, sense, where=where))
        self.exact[surface(label)] = at
        if sense:
            self.senses[surface(base)].append(at)
        self.loose[_loose_key(label)].append(at)
        return at

    def _other_number(self, label: str, ko: Iterable[str]) -> int | None:
        mine = surface(label).split()
        for at in self.loose.get(_loose_key(label), ()):
            concept = self.concepts[at]
            # Glass and glasses are two things; their Korean names tell.
            if ko and concept.ko and not set(ko) & set(concept.ko):
                continue
            theirs = surface(concept.name).split()
            if len(mine) == len(theirs) and all(
                one == two or _same_number_or_gerund(one, two, place, len(mine))
                for place, (one, two) in enumerate(zip(mine, theirs, strict=True))
            ):
                return at
        return None


def _loose_key(label: str) -> str:
    base, sense = split_sense(label)
    return f"{normalise(base)} ({sense.lower()})" if sense else normalise(base)


def _same_number_or_gerund(one: str, two: str, place: int, count: int) -> bool:
    long, short = sorted((one, two), key=len, reverse=True)
    if long in {f"{short}s", f"{short}es"} or (short.endswith("y") and long == f"{short[:-1]}ies"):
        return True
    return place == 0 and count > 1 and long.endswith("ing") and not short.endswith("ing")


def _give_slugs(concepts: list[Concept]) -> None:
    taken: set[str] = set()
    for concept in concepts:
        text = concept.name.lower().replace("'", "").replace("’", "")
        text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
        slug = base = re.sub(r"[^a-z0-9]+", "_", text).strip("_") or "concept"
        number = 2
        while slug in taken:
            slug, number = f"{base}_{number}", number + 1
        taken.add(slug)
        concept.slug = slug

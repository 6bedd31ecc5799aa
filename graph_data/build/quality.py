"""What is wrong with a graph of source files, what is alike in it, and how large and how well connected it is."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import networkx as nx
import numpy as np

from graph_data.build.compile import SourceGraph, surface
from kgqa.graph.linking.normalize import (
    ARTICLES,
    OBJECT_PRONOUNS,
    STOP_WORDS,
    is_known,
    lemma,
    normalise,
    words,
)

FEWEST_FACTS = 3
SMALLEST_SHARE = 0.99
LONGEST_MEAN_PATH = 5.0
OPPOSED = (("IsA", "DistinctFrom"), ("SimilarTo", "DistinctFrom"), ("SimilarTo", "Antonym"))
_SAY_NOTHING = ARTICLES | OBJECT_PRONOUNS | {"someone", "something"}
_TELL_NOTHING = frozenset({"DistinctFrom", "SimilarTo", "Antonym"})


@dataclass(slots=True)
class Report:
    """Counts, faults (each a list of sentences) and remarks that are no faults but worth a look."""

    concepts: int = 0
    defined: int = 0
    facts: int = 0
    domains: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Concepts and facts of each domain; a concept of two domains counts in both."""
    relations: dict[str, int] = field(default_factory=dict)
    share_connected: float = 0.0
    """Share of the concepts in the largest component."""
    mean_path: float = 0.0
    """Mean shortest path within it, undirected, from sampled concepts."""
    concept_types: dict[str, int] = field(default_factory=dict)
    """Concepts of each type."""
    faults: dict[str, list[str]] = field(default_factory=dict)
    remarks: dict[str, list[str]] = field(default_factory=dict)

    @property
    def clean(self) -> bool:
        """No fault at all."""
        return not any(self.faults.values())

    def text(self, limit: int | None = 20) -> str:
        """The report as plain text; lists are cut after `limit` entries, and say so."""
        lines = [
            f"{self.concepts} concepts ({self.defined} with a block of their own), {self.facts} facts",
            f"{self.share_connected:.2%} in one component, mean shortest path {self.mean_path:.2f}",
            "",
            *(
                f"{facts:7d} facts {count:6d} concepts  {name}"
                for name, (count, facts) in self.domains.items()
            ),
            "",
            *(f"{count:7d} {name}" for name, count in self.relations.items()),
            "",
            *(f"{count:7d} {name}" for name, count in self.concept_types.items()),
        ]
        for kind, lists in (("FAULT", self.faults), ("remark", self.remarks)):
            for title, entries in lists.items():
                lines += ["", f"{kind if entries else 'none'}: {title}: {len(entries)}"]
                lines += [f"    {entry}" for entry in entries[:limit]]
                if limit is not None and len(entries) > limit:
                    lines.append(f"    ... and {len(entries) - limit} more")
        return "\n".join(lines)


def examine(graph: SourceGraph, samples: int = 40) -> Report:
    """All checks on a graph; `samples` concepts are the starts of the shortest paths."""
    report = Report(len(graph.concepts), sum(c.defined for c in graph.concepts), len(graph.facts))
    names = [concept.name for concept in graph.concepts]
    degree: Counter[int] = Counter()
    users: dict[int, set[int]] = defaultdict(set)
    for fact in graph.facts:
        degree.update((fact.head, fact.tail))
        users[fact.tail].add(fact.head)
    report.domains = _domains(graph)
    report.relations = dict(Counter(fact.relation for fact in graph.facts).most_common())
    report.concept_types = dict(Counter(c.kind for c in graph.concepts if c.kind).most_common())
    report.faults = {
        "no facts": [names[at] for at in range(len(names)) if not degree[at]],
        f"under {FEWEST_FACTS} facts": [
            f"{names[at]}  ({graph.concepts[at].where})"
            for at in range(len(names))
            if 0 < degree[at] < FEWEST_FACTS
        ],
        "no Korean label": [c.name for c in graph.concepts if not c.ko],
        "no type": [
            f"{c.name}  ({c.where})"
            for c in graph.concepts
            if graph.concept_types and c.kind not in graph.concept_types
        ],
        "contradictions": _contradictions(graph, names),
        "one name, two concepts": _duplicates(graph),
        "one thing, two concepts": near_duplicates(graph),
        "distinct, and no fact tells them apart": indistinguishable(graph),
        "typicality out of order": out_of_order(graph),
        "more than itself": circular(graph),
    }
    connected, report.mean_path = _connectivity(graph, samples)
    report.share_connected = len(connected) / max(len(names), 1)
    report.faults["unreachable"] = [
        f"{name}  ({concept.where})"
        for at, (name, concept) in enumerate(zip(names, graph.concepts, strict=True))
        if at not in connected
    ]
    report.faults["connectivity"] = [
        sentence
        for wrong, sentence in (
            (report.share_connected < SMALLEST_SHARE, f"under {SMALLEST_SHARE:.0%} in one component"),
            (report.mean_path >= LONGEST_MEAN_PATH, f"mean path not under {LONGEST_MEAN_PATH}"),
        )
        if wrong
    ]
    undefined = sorted(
        (at for at in range(len(names)) if not graph.concepts[at].defined),
        key=lambda at: (-len(users[at]), names[at]),
    )
    report.remarks = {
        "tails without a block, most used first": [f"{len(users[at]):4d} {names[at]}" for at in undefined],
        "tails that name several senses": graph.ambiguous,
        "labels of the same lemmas": _same_lemmas(graph),
        "facts left out": graph.dropped,
        "hubs": [f"{count:5d} {names[at]}" for at, count in degree.most_common(20)],
        "words no dictionary knows": _unknown_words(graph),
    }
    return report


def draw(graph: SourceGraph, count: int, seed: int = 0) -> dict[str, list[str]]:
    """`count` facts of each domain as sentences, drawn at random for a reader to judge.

    A fact belongs to the domains of its head. The same graph and seed give the same facts.
    """
    pools: dict[str, list[str]] = defaultdict(list)
    for fact in graph.facts:
        head, tail = graph.concepts[fact.head], graph.concepts[fact.tail]
        sentence = f"{head.name} | {graph.relations[fact.relation].words} | {tail.name}"
        for domain in head.domains:
            pools[domain].append(sentence)
    return {
        domain: random.Random(f"{seed} {domain}").sample(pools[domain], min(count, len(pools[domain])))
        for domain in sorted(pools)
    }


def near_duplicates(graph: SourceGraph) -> list[str]:
    """Pairs of one type that are one thing written twice, as far as words tell, and that no fact joins.

    Either the labels differ in articles, pronouns and number alone (*call a friend*, *call friends*), or the Korean
    labels are the same and the English ones share a word. A label with a sense is somebody's decision, and passes.
    """
    linked = {frozenset((fact.head, fact.tail)) for fact in graph.facts}
    plain: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    korean: dict[tuple[str, str], list[int]] = defaultdict(list)
    content: dict[int, set[str]] = {}
    for at, concept in enumerate(graph.concepts):
        if concept.sense:
            continue
        label_words = [word for word, _, _ in words(concept.label)]
        kept = [lemma(word) for word in label_words if word not in _SAY_NOTHING] or label_words
        # a pair such as wash and washing is a deed and its name; it is told by the first word's form
        plain[" ".join(kept), label_words[0] if len(label_words) == 1 else "", concept.kind].append(at)
        content[at] = {lemma(word) for word in label_words if word not in STOP_WORDS}
        if concept.ko:
            korean[concept.ko[0].replace(" ", ""), concept.kind].append(at)
    pairs = {pair for group in plain.values() for pair in combinations(group, 2)}
    pairs |= {
        (one, two)
        for group in korean.values()
        for one, two in combinations(group, 2)
        if content[one] & content[two]
    }
    names = [concept.name for concept in graph.concepts]
    return [
        f"{names[one]} / {names[two]}" for one, two in sorted(pairs) if frozenset((one, two)) not in linked
    ]


def indistinguishable(graph: SourceGraph) -> list[str]:
    """Pairs said to be distinct of which one has no fact that the other lacks."""
    known: dict[int, set[tuple[str, bool, int]]] = defaultdict(set)
    for fact in graph.facts:
        if fact.relation not in _TELL_NOTHING:
            known[fact.head].add((fact.relation, True, fact.tail))
            known[fact.tail].add((fact.relation, False, fact.head))
    names = [concept.name for concept in graph.concepts]
    return [
        f"{names[fact.head]} / {names[fact.tail]}  ({fact.where})"
        for fact in graph.facts
        if fact.relation == "DistinctFrom"
        and (known[fact.head] <= known[fact.tail] or known[fact.tail] <= known[fact.head])
    ]


def out_of_order(graph: SourceGraph) -> list[str]:
    """Orders of `graph.orders` that the weights do not keep: none may weigh more than one before it, and the first
    more than the last. A fact that is not there weighs nothing."""
    place = {surface(concept.name): at for at, concept in enumerate(graph.concepts)}
    weights = {(fact.head, fact.relation, fact.tail): fact.weight for fact in graph.facts}
    found = []
    for order in graph.orders:
        head = place.get(surface(order.head), -1)
        order_weights = [
            weights.get((head, order.relation, place.get(surface(t), -1)), 0.0) for t in order.tails
        ]
        if order_weights != sorted(order_weights, reverse=True) or order_weights[0] <= order_weights[-1]:
            shown = ", ".join(
                f"{tail} {weight:g}" for tail, weight in zip(order.tails, order_weights, strict=True)
            )
            found.append(f"{order.head} {order.relation}: {shown}")
    return found


def circular(graph: SourceGraph) -> list[str]:
    """Groups of things of which each is more than each other by chains of the same comparative relation."""
    found = []
    for name, relation in graph.relations.items():
        if relation.words.endswith(" than"):
            pairs = [(fact.head, fact.tail) for fact in graph.facts if fact.relation == name]
            groups = [g for g in nx.strongly_connected_components(nx.DiGraph(pairs)) if len(g) > 1]
            found += [f"{name}: {', '.join(graph.concepts[at].name for at in group)}" for group in groups]
    return found


def _domains(graph: SourceGraph) -> dict[str, tuple[int, int]]:
    concepts: Counter[str] = Counter(name for concept in graph.concepts for name in concept.domains)
    facts: Counter[str] = Counter(name for fact in graph.facts for name in graph.concepts[fact.head].domains)
    return {name: (concepts[name], facts[name]) for name in sorted(concepts)}


def _contradictions(graph: SourceGraph, names: Sequence[str]) -> list[str]:
    pairs: dict[str, dict[frozenset[int], str]] = defaultdict(dict)
    for fact in graph.facts:
        pairs[fact.relation][frozenset((fact.head, fact.tail))] = fact.where
    found = []
    for one, two in OPPOSED:
        for pair in sorted(pairs[one].keys() & pairs[two].keys(), key=sorted):
            head, tail = (names[at] for at in sorted(pair))
            found.append(f"{head} / {tail}: {one} ({pairs[one][pair]}) and {two} ({pairs[two][pair]})")
    is_a = {(fact.head, fact.tail): fact.where for fact in graph.facts if fact.relation == "IsA"}
    for (one_kind, other), where in is_a.items():
        if one_kind < other and (other, one_kind) in is_a:
            found.append(f"{names[one_kind]} and {names[other]}: each IsA the other ({where})")
    return found


def _duplicates(graph: SourceGraph) -> list[str]:
    own: dict[str, list[int]] = defaultdict(list)
    for at, concept in enumerate(graph.concepts):
        if not concept.sense:
            own[surface(concept.label)].append(at)
    found = []
    for at, concept in enumerate(graph.concepts):
        for name in concept.also:
            for other in own.get(surface(name), ()):
                if other != at and not concept.sense:
                    found.append(
                        f"{concept.name} is also called {name}, which is a concept ({concept.where})"
                    )
    return found


def _same_lemmas(graph: SourceGraph) -> list[str]:
    groups: dict[str, list[str]] = defaultdict(list)
    for concept in graph.concepts:
        if not concept.sense:
            groups[normalise(concept.label)].append(concept.name)
    return [" / ".join(group) for group in groups.values() if len(group) > 1]


def _connectivity(graph: SourceGraph, samples: int) -> tuple[set[int], float]:
    """The largest component, and the mean shortest path within it."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components, shortest_path

    if not graph.concepts:
        return set(), 0.0
    ends = np.array([(fact.head, fact.tail) for fact in graph.facts], dtype=np.int32).reshape(-1, 2).T
    size = len(graph.concepts)
    net = coo_array((np.ones(ends.shape[1]), tuple(ends)), (size, size)).tocsr()
    _, component = connected_components(net, directed=False)
    largest = np.flatnonzero(component == np.bincount(component).argmax()).tolist()
    starts = random.Random(0).sample(largest, min(samples, len(largest)))
    lengths = shortest_path(net, directed=False, unweighted=True, indices=starts)
    lengths = lengths[np.isfinite(lengths) & (lengths > 0)]
    return set(largest), float(lengths.mean()) if len(lengths) else 0.0


def _unknown_words(graph: SourceGraph) -> list[str]:
    unknown: dict[str, str] = {}
    for concept in graph.concepts:
        for label in (concept.label, *concept.also):
            for word, start, end in words(label):
                if label[start:end].islower() and word not in unknown and not is_known(word):
                    unknown[word] = concept.name
    return [f"{word} ({name})" for word, name in sorted(unknown.items())]

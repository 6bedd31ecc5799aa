"""What is alike in a graph of source files: concepts written twice, pairs nothing tells apart, weights out of order."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

from kgqa.graph.authoring.compiling import SourceGraph, surface
from kgqa.graph.linking.function_words import OBJECT_PRONOUNS, STOP_WORDS
from kgqa.graph.linking.normalising import ARTICLES, lemma, words

_SAY_NOTHING = ARTICLES | OBJECT_PRONOUNS | {"someone", "something"}
_TELL_NOTHING = frozenset({"DistinctFrom", "SimilarTo", "Antonym"})


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
        said = [word for word, _, _ in words(concept.label)]
        kept = [lemma(word) for word in said if word not in _SAY_NOTHING] or said
        # a pair such as wash and washing is a deed and its name; it is told by the first word's form
        plain[" ".join(kept), said[0] if len(said) == 1 else "", concept.kind].append(at)
        content[at] = {lemma(word) for word in said if word not in STOP_WORDS}
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


def not_told_apart(graph: SourceGraph) -> list[str]:
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
        told = [weights.get((head, order.relation, place.get(surface(t), -1)), 0.0) for t in order.tails]
        if told != sorted(told, reverse=True) or told[0] <= told[-1]:
            shown = ", ".join(f"{tail} {weight:g}" for tail, weight in zip(order.tails, told, strict=True))
            found.append(f"{order.head} {order.relation}: {shown}")
    return found

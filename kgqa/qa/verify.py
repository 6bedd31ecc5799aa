"""The verify step: a yes/no question is answered by a fact that states it in the same words; comparisons, "Is a dog an
animal?" and "What is a dog?" are answered by chains of facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kgqa.graph.formats.write import turtle_term
from kgqa.graph.linking.normalize import words
from kgqa.graph.relation_types import is_subclass_relation
from kgqa.language.overlap import content
from kgqa.language.quantities import NUMBER, Amount, find_quantities
from kgqa.qa.evidence import is_informative
from kgqa.qa.logical_forms.graph_facts import FactRow, edge_of, ids, with_facts
from kgqa.qa.logical_forms.operators import asks_truth
from kgqa.qa.passages.compare import Comparison, comparison_of, scale_of
from kgqa.qa.render import sentence
from kgqa.qa.state import ComputedAnswer, QAState, QAStates
from kgqa.types import (
    NO,
    YES,
    Candidate,
    Evidence,
    EvidencePath,
    KnowledgeGraph,
    NodeRole,
    Relation,
    Source,
    Subgraph,
)

_NEUTRAL = re.compile(r"an?|the|is|are|am|be|do|does|can|have|has|in|at|on|of|to|not|no|never|cannot")
"""Words of a question that a fact need not have: articles, auxiliaries, prepositions of place, negations."""
_IS = re.compile(r"(?:is|are|am|was|were)\b", re.IGNORECASE)
_PLACE = re.compile(r"\b(?:in|on|at)\b", re.IGNORECASE)


STATED = 0.9
"""Confidence of an answer that facts state: of 184 yes/no questions stated by a fact, 183 were answered correctly."""


def verify(states: QAStates, graph: KnowledgeGraph) -> QAStates:
    """Answer questions by a fact that states them or their negation (yes/no questions), or by chains of facts of
    `graph`, unless the passage answers them.

    The fact joins two mentions in the order of the question, from head to tail or by its relation's inverse, and
    contains all words of the question except `_NEUTRAL` ones. A comparative in the opposite order, and another number
    of the same things, count as a negation. If facts contradict each other, none is used.
    """
    return tuple(_verified(state, graph) for state in states)


def _verified(state: QAState, graph: KnowledgeGraph) -> QAState:
    question = state.question
    if state.computed is not None or not state.is_open:
        return state
    is_related = content(question.text) & content(question.passage_text)
    is_answered = state.source is Source.PASSAGE or (state.source is Source.NONE and is_related)
    if question.passage_text and is_answered:
        return state
    found = dict(stating(question.text, state.subgraph)) if asks_truth(question.text) else {}
    if len(set(found.values())) == 1:
        edge, agrees = next(iter(found.items()))
        best = Candidate(YES if agrees else NO, Source.KNOWLEDGE, STATED)
        return _answered(state, best, state.subgraph, [(edge, True)])
    if found or graph.closed_world:  # closed-world graphs are left to logical forms
        return state
    about = question.text, state.subgraph, graph
    chain = by_chain(*about) or by_class(*about) or (None if question.passage_text else class_of(*about))
    if chain is None:
        return state
    subgraph = with_facts(state.subgraph, graph, [fact for fact, _ in chain.steps])
    steps = [(edge_of(subgraph, graph, fact), forward) for fact, forward in chain.steps]
    concept = None if chain.entity is None else graph.names(ids([chain.entity]))[0]
    best = Candidate(chain.text, Source.KNOWLEDGE, STATED, concept=concept)
    return _answered(state, best, subgraph, steps)


def _answered(
    state: QAState, best: Candidate, subgraph: Subgraph, steps: Sequence[tuple[int, bool]]
) -> QAState:
    """The state with an answer by a path of facts, given as rows of the subgraph's edges with their directions."""
    edges, forward = zip(*steps, strict=True)
    others = (replace(c, score=c.score * (1 - STATED)) for c in state.candidates if c.text != best.text)
    facts = [subgraph.triple(edge) for edge in edges]
    pattern = " ".join(
        f"{turtle_term(f.head)} {turtle_term(f.relation)} {turtle_term(f.tail)} ." for f in facts
    )
    evidence = Evidence(
        paths=(EvidencePath(edges, forward, STATED),),
        subgraph=subgraph,
        score=STATED,
        query=f"ASK {{ {pattern} }}",
    )
    return replace(
        state,
        computed=ComputedAnswer(best, evidence),
        best=best,
        candidates=(best, *others),
        source=best.source,
        confidence=STATED,
        evidence=evidence,
        none=state.none * (1 - STATED),
    )


def stating(question: str, graph: Subgraph) -> Iterator[tuple[int, bool]]:
    """Facts (rows of the subgraph's edges) that state what a yes/no question asks (True) or its negation (False).

    Facts in their stated direction come before those in the direction of the inverse relation.
    """
    mentions: dict[int, list[tuple[int, int]]] = {}
    for link in graph.links:
        if link.part is NodeRole.QUESTION:
            mentions.setdefault(link.node, []).append((link.start, link.end))
    asked = [word for word, _, _ in words(question) if not _NEUTRAL.fullmatch(word)]
    specific = is_informative(graph)
    # "Is glass a liquid?" is not stated by "glass is the place of a liquid"
    is_bare = _IS.match(question) and not _PLACE.search(question)
    known = content(question) | KINDS
    numbers = [a for a in find_quantities(question) if a.quantity.kind == NUMBER and a.quantity.unit]
    uncounted = [w for w in asked if not any(w in question[a.start : a.end].lower() for a in numbers)]
    for inverse in (False, True):
        for edge, (head, number, tail) in enumerate(graph.edges.tolist()):
            relation = graph.relations[number]
            is_counted = (
                numbers and not inverse and head in mentions and _counts_others(graph.labels[tail], numbers)
            )
            if is_counted and specific[edge] and _has_words(sentence(graph, edge), uncounted):
                yield edge, len(NEGATION.findall(question)) % 2 == 1
            is_named = specific[edge] and head in mentions and tail in mentions
            if not is_named or (inverse and not relation.inverse):
                continue
            fact = (
                f"{graph.labels[tail]} {relation.inverse} {graph.labels[head]}"
                if inverse
                else sentence(graph, edge)
            )
            first, second = (tail, head) if inverse else (head, tail)
            in_order = _precedes(mentions[first], mentions[second])
            # a comparative cannot hold in both directions: if A is hotter than B, B is not hotter than A
            turned = relation.words.endswith(" than") and _precedes(mentions[second], mentions[first])
            wording = relation.inverse if inverse else relation.words
            is_other = is_bare and content(wording) - known
            if (in_order or turned) and _has_words(fact, asked) and not is_other:
                # an odd number of negations turns the answer round, as does a comparative in opposite order
                yield edge, in_order == (len(NEGATION.findall(question + " " + fact)) % 2 == 0)


def _counts_others(label: str, numbers: Sequence[Amount]) -> bool:
    """Whether a label has another number of the same things: "eight legs" for six legs."""
    told = {a.quantity.unit: a.quantity.value for a in find_quantities(label)}
    return any(told.get(a.quantity.unit, a.quantity.value) != a.quantity.value for a in numbers)


def _precedes(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> bool:
    return min(end for _, end in first) <= max(start for start, _ in second)


def _has_words(fact: str, asked: list[str]) -> bool:
    """Whether a fact has all words of a question. "Honey is made by bees" does not state that honey makes bees."""
    told = content(fact) | {word for word, _, _ in words(fact)}
    return ("by" not in told or "by" in asked) and all(word in told or content(word) & told for word in asked)


# Chains of facts: a whale is larger than a car and a car than a cat, so a whale is larger than a cat; a dog is a mammal
# and a mammal an animal, so a dog is an animal.

_HEDGES = content("usually normally generally typically mostly often always")
"""Words that a comparison may have besides its things."""
KINDS = content("kind type sort kinds types sorts really actually also")
"""Words that add nothing to a question about a class: "Is a dog really a kind of animal?"."""
_WHAT_IS = re.compile(r"(?:what|who)(?:'s|’s| is| are)\b", re.IGNORECASE)
NEGATION = re.compile(r"\b(?:not|no|never|cannot)\b|n't\b", re.IGNORECASE)
MOST_FACTS = 12
"""Maximum length of a chain of comparisons."""
MOST_CLASSES = 5
"""Maximum length of a chain of classes."""
ChainStep = tuple[FactRow, bool]


class Chained(NamedTuple):
    """An answer, and the chain of facts it follows from, each with whether it is followed from head to tail."""

    text: str
    steps: list[ChainStep]
    entity: int | None = None
    """What the question asks for; None for yes and no."""


def by_chain(question: str, subgraph: Subgraph, graph: KnowledgeGraph) -> Chained | None:
    """The answer to a comparison of two things by comparative facts, which are transitive; None if the question is not
    such a comparison, or if the facts do not decide it or contradict each other."""
    asked = comparison_of(question)
    if asked is None or len(asked.things) != 2 or asked.noun:
        return None
    signs = {number: sign for number, r in enumerate(graph.relations) if (sign := _sign(r, asked))}
    empty = asked.scale.verbs | asked.scale.beside | _HEDGES
    spans = [(start := question.find(thing), start + len(thing)) for thing in asked.things]
    first, second = (_named(question, span, subgraph, graph, empty) for span in spans)
    if not signs or not first or not second or first & second:
        return None
    down, up = _chain(graph, first, second, signs), _chain(graph, second, first, signs)
    found = down or up
    if not found or (down and up):
        return None
    if asked.is_choice:
        end = _above(*found[0]) if asked.sign > 0 else _below(*found[-1])
        return Chained(graph.labels(ids([end]))[0], found, end)
    return Chained(YES if bool(down) == (asked.sign > 0) else NO, found)


def by_class(question: str, subgraph: Subgraph, graph: KnowledgeGraph) -> Chained | None:
    """The answer to "Is a dog an animal?": yes if a chain of facts leads from the first class to the second, no if it
    leads to a class that is stated to be no kind of the second; None for other questions, or without such a chain."""
    classes, denied = _class_relations(graph)
    text = question.rstrip("?.! ")
    verb = _IS.match(text)
    if not classes or verb is None or NEGATION.search(text):
        return None
    for blank in re.finditer(r"\s", text[verb.end() :]):
        cut = verb.end() + blank.start()
        narrow = _named(question, (verb.end(), cut), subgraph, graph)
        wide = _named(question, (cut, len(text)), subgraph, graph, KINDS)
        if narrow and wide and not narrow & wide:
            for last in (classes, denied):
                if chain := _chain(graph, narrow, wide, classes, MOST_CLASSES, last):
                    return Chained(YES if last is classes else NO, chain)
    return None


def class_of(question: str, subgraph: Subgraph, graph: KnowledgeGraph) -> Chained | None:
    """The answer to "What is a trowel?": the class of the thing by the fact of highest weight; None for other
    questions."""
    classes, _ = _class_relations(graph)
    text = question.rstrip("?.! ")
    asked = _WHAT_IS.match(text)
    if not classes or asked is None:
        return None
    things = _named(question, (asked.end(), len(text)), subgraph, graph)
    facts = [fact for fact in _facts(graph, things) if fact.relation in classes and fact.head in things]
    if not facts:
        return None
    best = max(facts, key=lambda fact: fact.weight)
    return Chained(graph.labels(ids([best.tail]))[0], [(best, True)], best.tail)


def _sign(relation: Relation, asked: Comparison) -> int:
    """1 if the head of a comparative relation is the higher one on the scale of the question, -1 if the lower, else 0
    (the relation compares by another scale, or is no comparative)."""
    *_, comparative, than = ["", "", *relation.words.split()]
    if than != "than":
        return 0
    scale, sign = scale_of(comparative)
    return sign if scale is asked.scale else 0


def _class_relations(graph: KnowledgeGraph) -> tuple[dict[int, int], dict[int, int]]:
    """The relations from a class to a wider one, and those that deny it ("is no kind of"), each with sign 1."""
    relations = list(enumerate(graph.relations))
    classes = {number: 1 for number, relation in relations if is_subclass_relation(relation)}
    wordings = {graph.relations[number].words for number in classes}
    denied = [n for n, r in relations if NEGATION.search(r.words) and NEGATION.sub("a", r.words) in wordings]
    return classes, dict.fromkeys(denied, 1)


def _named(
    question: str,
    span: tuple[int, int],
    subgraph: Subgraph,
    graph: KnowledgeGraph,
    empty: frozenset[str] = frozenset(),
) -> frozenset[int]:
    """The entities that are named by a whole part of the question, apart from `empty` words."""
    start, end = span
    rest = content(question[start:end]) - empty
    mentions = {
        link.node: question[link.start : link.end]
        for link in subgraph.links
        if link.part is NodeRole.QUESTION
        and start <= link.start
        and link.end <= end
        and rest <= content(question[link.start : link.end])
    }
    entities = graph.ids([subgraph.nodes[node] for node in mentions]).tolist()
    named = zip(entities, mentions.values(), strict=True)
    return frozenset(entity for entity, mention in named if entity >= 0 and _is_label(mention, entity, graph))


def _is_label(mention: str, entity: int, graph: KnowledgeGraph) -> bool:
    """Whether one of the entity's labels has all words of a mention: "dog's favourite food" is not just "dog food"."""
    labels = [content(label.text) for label in graph.all_labels(entity)]
    asked = [forms for word, _, _ in words(mention) if (forms := content(word))]
    return any(all(forms & label for forms in asked) for label in labels)


def _facts(graph: KnowledgeGraph, entities: Iterable[int]) -> list[FactRow]:
    """All facts of some entities."""
    edges = graph.neighbours(ids(sorted(entities)))
    return [FactRow(*row) for row in zip(*(column.tolist() for column in edges), strict=True)]


def _chain(
    graph: KnowledgeGraph,
    higher: frozenset[int],
    lower: frozenset[int],
    signs: Mapping[int, int],
    most: int = MOST_FACTS,
    last: Mapping[int, int] | None = None,
) -> list[ChainStep]:
    """A shortest chain of facts from a higher entity down to a lower one, each with whether it is followed from head to
    tail; empty if there is none.

    The sign of a relation is 1 if its heads are higher. The last fact has a relation of `last`, by default of `signs`.
    """
    last = signs if last is None else last
    used = {**signs, **last}
    reached: dict[int, list[ChainStep]] = {entity: [] for entity in higher}
    frontier = set(higher)
    for _ in range(most):
        steps = [(fact, used[fact.relation] > 0) for fact in _facts(graph, frontier) if fact.relation in used]
        steps = [step for step in steps if _above(*step) in frontier]
        if met := next((s for s in steps if s[0].relation in last and _below(*s) in lower), None):
            return [*reached[_above(*met)], met]
        frontier = set()
        for step in steps:
            if step[0].relation in signs and _below(*step) not in reached:
                reached[_below(*step)] = [*reached[_above(*step)], step]
                frontier.add(_below(*step))
        if not frontier:
            break
    return []


def _above(fact: FactRow, forward: bool) -> int:
    return fact.head if forward else fact.tail


def _below(fact: FactRow, forward: bool) -> int:
    return fact.tail if forward else fact.head

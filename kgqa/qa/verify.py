"""The verify step: a yes/no question is answered by a fact that states it in the same words; comparisons, "Is a dog an
animal?" and "What is a dog?" are answered by chains of facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgqa.graph.linking.normalize import words
from kgqa.graph.storage.export import term
from kgqa.language.overlap import content
from kgqa.qa.chains import KINDS, NEGATION, by_chain, by_class, class_of
from kgqa.qa.decide import DecisionConfig
from kgqa.qa.evidence import is_informative
from kgqa.qa.logical_forms.graph_facts import edge_of, ids, with_facts
from kgqa.qa.logical_forms.mentions import asks_truth
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


def verify(
    states: QAStates, decision: DecisionConfig = DecisionConfig(), graph: KnowledgeGraph | None = None
) -> QAStates:
    """Answer questions by a fact that states them or their negation (yes/no questions), or by chains of facts of
    `graph` (`kgqa.qa.chains`), unless the passage answers them.

    The fact joins two mentions in the order of the question, from head to tail or by its relation's inverse, and
    contains all words of the question except `_NEUTRAL` ones. A comparative in the opposite order counts as a negation.
    If facts contradict each other, none is used.
    """
    return tuple(_verified(state, decision.stated, graph) for state in states)


def _verified(state: QAState, confidence: float, graph: KnowledgeGraph | None) -> QAState:
    question = state.question
    if state.computed is not None or not state.is_open:
        return state
    if question.passage_text and (
        state.source is Source.PASSAGE or state.source is Source.NONE and related(state)
    ):
        return state
    found = dict(stating(question.text, state.subgraph)) if asks_truth(question.text) else {}
    if len(set(found.values())) == 1:
        edge, agrees = next(iter(found.items()))
        best = Candidate(YES if agrees else NO, Source.KNOWLEDGE, confidence)
        return _answered(state, best, state.subgraph, [(edge, True)])
    if found or graph is None or graph.closed_world:  # closed-world graphs are left to logical forms
        return state
    about = question.text, state.subgraph, graph
    chain = by_chain(*about) or by_class(*about) or (None if question.passage_text else class_of(*about))
    if chain is None:
        return state
    subgraph = with_facts(state.subgraph, graph, [fact for fact, _ in chain.steps])
    steps = [(edge_of(subgraph, graph, fact), forward) for fact, forward in chain.steps]
    concept = None if chain.entity is None else graph.names(ids([chain.entity]))[0]
    best = Candidate(chain.text, Source.KNOWLEDGE, confidence, concept=concept)
    return _answered(state, best, subgraph, steps)


def _answered(
    state: QAState, best: Candidate, subgraph: Subgraph, steps: Sequence[tuple[int, bool]]
) -> QAState:
    """The state with an answer by a path of facts, given as rows of the subgraph's edges with their directions."""
    edges, forward = zip(*steps, strict=True)
    confidence = best.score
    others = (replace(c, score=c.score * (1 - confidence)) for c in state.candidates if c.text != best.text)
    facts = [subgraph.triple(edge) for edge in edges]
    pattern = " ".join(f"{term(f.head)} {term(f.relation)} {term(f.tail)} ." for f in facts)
    evidence = Evidence(
        paths=(EvidencePath(edges, forward, confidence),),
        subgraph=subgraph,
        score=confidence,
        query=f"ASK {{ {pattern} }}",
    )
    return replace(
        state,
        computed=ComputedAnswer(best, evidence),
        best=best,
        candidates=(best, *others),
        source=best.source,
        confidence=confidence,
        evidence=evidence,
        none=state.none * (1 - confidence),
    )


def related(state: QAState) -> bool:
    """Whether question and passage have a content word in common."""
    return bool(content(state.question.text) & content(state.question.passage_text))


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
    for inverse in (False, True):
        for edge, (head, number, tail) in enumerate(graph.edges.tolist()):
            relation = graph.relations[number]
            if not (
                specific[edge] and head in mentions and tail in mentions and (relation.inverse or not inverse)
            ):
                continue
            fact = (
                f"{graph.labels[tail]} {relation.inverse} {graph.labels[head]}"
                if inverse
                else sentence(graph, edge)
            )
            first, second = (tail, head) if inverse else (head, tail)
            in_order = _precedes(mentions[first], mentions[second])
            turned = _compares(relation) and _precedes(mentions[second], mentions[first])
            wording = relation.inverse if inverse else relation.words
            if (
                (in_order or turned)
                and _has_words(fact, asked)
                and not (is_bare and content(wording) - known)
            ):
                yield edge, in_order == (len(NEGATION.findall(question + " " + fact)) % 2 == 0)


def _compares(relation: Relation) -> bool:
    """Whether a relation is a comparative, which cannot hold in both directions: if A is hotter than B, B is not hotter
    than A."""
    return relation.words.endswith(" than")


def _precedes(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> bool:
    return min(end for _, end in first) <= max(start for start, _ in second)


def _has_words(fact: str, asked: list[str]) -> bool:
    """Whether a fact has all words of a question. "Honey is made by bees" does not state that honey makes bees."""
    told = content(fact) | {word for word, _, _ in words(fact)}
    return ("by" not in told or "by" in asked) and all(word in told or content(word) & told for word in asked)

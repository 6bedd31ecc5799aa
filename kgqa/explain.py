"""Why an answer was given: facts in words, and what changes when a fact is taken away or added."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

import numpy as np

from kgqa.deletion import LEAST_CHANGE, gives_reason, probability
from kgqa.graph.linking.morphology import is_korean
from kgqa.graph.overlay import Fact
from kgqa.text.synthesis.sentences import say_fact
from kgqa.types import (
    CAUTION,
    Answer,
    Candidate,
    Evidence,
    EvidencePath,
    InputError,
    NodeRole,
    Question,
    Relation,
    Source,
    Subgraph,
    Triple,
)

if TYPE_CHECKING:
    from kgqa.answerer import Answerer
    from kgqa.graph.linking.linker import Linker
    from kgqa.types import KnowledgeGraph

MAX_NODES = 30
"""Concepts of a subgraph that are worth showing."""
LEAST_SHOWN = 0.02
"""Probability from which on a runner-up is worth a reader's time."""
ADDED = "urn:kgqa:added:"
"""How the names of concepts begin that only an edit knows."""
_COMMON = frozenset({"everyday", "conceptnet", "wordnet", ""})
_SOURCE_WORDS = {
    Source.PASSAGE: ("read in the passage", "글에서 읽음"),
    Source.KNOWLEDGE: ("from what is commonly known", "상식에서 앎"),
    Source.CHOICE: ("chosen", "고름"),
    Source.NONE: ("not answerable", "답할 수 없음"),
}
"""In English and Korean."""


class Links(Protocol):
    """What finds the concepts of a graph in words."""

    @property
    def graph(self) -> KnowledgeGraph: ...
    @property
    def linker(self) -> Linker: ...


@dataclass(frozen=True, slots=True)
class Influence:
    """A fact (row of the subgraph's edges) and how much the answer's probability falls without it."""

    edge: int
    sentence: str
    change: float


def is_common(graph: str) -> bool:
    """Whether a graph, by its name, is of what everyone knows rather than someone's own."""
    return graph in _COMMON


def source_words(answer: Answer, korean: bool = False) -> str:
    """Where an answer came from, for people: a graph of one's own is named."""
    if answer.source is Source.KNOWLEDGE and not is_common(answer.graph):
        return f"그래프 {answer.graph}에서 앎" if korean else f"from the graph {answer.graph}"
    return _SOURCE_WORDS[answer.source][korean]


def sentence(subgraph: Subgraph, edge: int) -> str:
    """A fact in words: "to plant flowers, people use a trowel"."""
    head, number, tail = (int(v) for v in subgraph.edges[edge])
    return _said(subgraph.labels[head], subgraph.relations[number], subgraph.labels[tail])


def _said(head: str, relation: Relation, tail: str) -> str:
    """A fact in the language that its relation is worded in."""
    words = relation.words or relation.label
    if is_korean(words):
        from kgqa.korean.saying import say_fact as say_in_korean

        return say_in_korean(head, relation.name, words, tail)
    return say_fact(head, relation.name, words, tail)


def path_sentences(evidence: Evidence, path: EvidencePath) -> list[str]:
    """The facts of a path, each in words, in walking order."""
    return [sentence(evidence.subgraph, edge) for edge in path.steps]


def is_guess(answer: Answer, caution: float = CAUTION) -> bool:
    """Whether an answer is too unsure to be given as one: "I don't know; perhaps ..."."""
    return answer.confidence < caution


def is_decided_by_facts(answer: Answer) -> bool:
    """Whether the first path of facts carried the answer, as far as that was measured."""
    evidence = answer.evidence
    return bool(evidence.paths) and (evidence.influence is None or evidence.influence >= LEAST_CHANGE)


def worth_showing(answer: Answer, least: float = LEAST_SHOWN) -> list[Candidate]:
    """Runners-up that a reader may want to see: likely enough, whole words, and not the answer with a word more."""
    passage, taken = answer.question.passage_text, answer.evidence.span if answer.text else None
    found = []
    for candidate in answer.runners_up:
        if candidate.score < least:
            continue
        if span := candidate.span:
            cut = any(passage[at - 1 : at + 1].isalnum() and 0 < at < len(passage) for at in span)
            same = taken is not None and span.start < taken.end and taken.start < span.end
            if candidate.text == passage[span.start : span.end] and (cut or same):
                continue
        found.append(candidate)
    return found


@dataclass(frozen=True, slots=True)
class Edit:
    """A fact that a reader adds or strikes out. `labels` are those of head and tail."""

    triple: Triple
    relation: Relation
    labels: tuple[str, str]
    added: bool = True

    @property
    def sentence(self) -> str:
        """The fact in words."""
        return _said(self.labels[0], self.relation, self.labels[1])


def strike(subgraph: Subgraph, edge: int) -> Edit:
    """The edit that takes a fact of a subgraph away, wherever it stands."""
    head, relation, tail = (int(v) for v in subgraph.edges[edge])
    labels = subgraph.labels[head], subgraph.labels[tail]
    return Edit(subgraph.triple(edge), subgraph.relations[relation], labels, added=False)


def add(answerer: Links, head: str, relation: Relation, tail: str) -> Edit:
    """The edit that adds a fact between two concepts given in words.

    Words that name a concept of the graph (in any inflection) mean it, and so does its name; others become new
    concepts.
    Raises `InputError` where an end is empty.
    """
    if not head.strip() or not tail.strip():
        raise InputError("a fact needs both ends; write what stands before and after the relation")
    (first, first_label), (last, last_label) = (_concept(answerer, text) for text in (head, tail))
    return Edit(Triple(first, relation.name, last), relation, (first_label, last_label))


def _concept(answerer: Links, text: str) -> tuple[str, str]:
    """Name and label of the concept that a text is the name of, or names as a whole."""
    said = " ".join(text.split())
    if (entity := answerer.graph.ids([said]))[0] >= 0:
        return said, answerer.graph.labels(entity)[0]
    for mention in answerer.linker.link_many([said])[0]:
        if (mention.start, mention.end) == (0, len(said)) and mention.entities:
            entity = np.array(mention.entities[:1], dtype=np.int32)
            return answerer.graph.names(entity)[0], answerer.graph.labels(entity)[0]
    return ADDED + quote(said.casefold()), said


def ask_again(answerer: Answerer, question: Question, edits: Sequence[Edit]) -> Answer:
    """The answer over the graph as it is after some edits; of two that concern one fact the later holds.

    Raises InputError where an added relation is none of a graph on the network, or as `Answerer.answer`.
    """
    return _over(answerer, edits).answer(question)


def _over(answerer: Answerer, edits: Sequence[Edit]) -> Answerer:
    last = {(e.triple.head, e.triple.relation, e.triple.tail): e for e in edits}.values()
    facts = {added: [Fact(e.triple, e.labels) for e in last if e.added is added] for added in (True, False)}
    return answerer.with_edits(facts[True], facts[False])


def strike_answer(answer: Answer) -> list[Edit]:
    """The edits that take away all facts of the answer's concept: what if there were no such thing?"""
    graph, nodes = answer.evidence.subgraph, answer_nodes(answer)
    return [
        strike(graph, e) for e, (head, _, tail) in enumerate(graph.edges.tolist()) if {head, tail} & nodes
    ]


_PREFIXES = [
    "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .",
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
]


def evidence_turtle(answer: Answer, edges: Sequence[int] | None = None) -> str:
    """Facts of an answer's evidence as Turtle, with the labels of what they name; without `edges` those shown."""
    graph = answer.evidence.subgraph
    rows = graph.edges[list(shown_edges(answer) if edges is None else edges)].tolist()
    named = {graph.nodes[n]: graph.labels[n] for head, _, tail in rows for n in (head, tail)}
    named |= {
        graph.relations[r].name: graph.relations[r].words or graph.relations[r].label for _, r, _ in rows
    }
    labels = [
        f"{_iri(name)} rdfs:label {json.dumps(label, ensure_ascii=False)} ."
        for name, label in sorted(named.items())
    ]
    facts = [
        f"{_iri(graph.nodes[h])} {_iri(graph.relations[r].name)} {_iri(graph.nodes[t])} ." for h, r, t in rows
    ]
    return "\n".join([*_PREFIXES[1:], "", *labels, "", *facts, ""])


def edits_turtle(edits: Sequence[Edit]) -> str:
    """Edits as Turtle: added facts with the labels of their ends, struck ones as `kgqa:Struck` statements."""
    lines = [*_PREFIXES, "@prefix kgqa: <https://kgqa.org/ontology#> .", ""]
    for edit in edits:
        head, relation, tail = (_iri(n) for n in (edit.triple.head, edit.triple.relation, edit.triple.tail))
        if edit.added:
            ends = zip((head, tail), edit.labels, strict=True)
            lines += [f"{name} rdfs:label {json.dumps(label, ensure_ascii=False)} ." for name, label in ends]
            lines.append(f"{head} {relation} {tail} .")
        else:
            lines.append(
                f"[] a kgqa:Struck ; rdf:subject {head} ; rdf:predicate {relation} ; rdf:object {tail} ."
            )
    return "\n".join([*lines, ""])


def _iri(name: str) -> str:
    safe = quote(name, safe=":/?#[]@!$&'()*+,;=%-._~")
    return f"<{safe}>" if ":" in safe else f"<urn:kgqa:{safe}>"


def influences(answerer: Answerer, answer: Answer, limit: int = 12) -> list[Influence]:
    """How much each fact near the answer carried it: the answer is read again without the fact.

    The facts asked about are those of the shown paths and those that touch the answer's concept, at most
    `limit`; strongest first. Empty for answers that rest on no fact. Raises InputError as `ask_again`.
    """
    graph = answer.evidence.subgraph
    if answer.source in (Source.PASSAGE, Source.NONE) or not len(graph.edges):
        return []
    shown = [edge for path in answer.evidence.paths for edge in path.steps]
    best = answer.candidates[0]
    node = graph.nodes.index(best.concept) if best.concept in graph.nodes else -1
    touching = np.flatnonzero((graph.edges[:, ::2] == node).any(1)).tolist()
    edges = list(dict.fromkeys([*shown, *touching]))[:limit]
    again = read_without(answerer, answer, edges) if edges else []
    before = probability(answer, best)
    found = [
        Influence(edge, sentence(graph, edge), before - probability(other, best))
        for edge, other in zip(edges, again, strict=True)
    ]
    return sorted(found, key=lambda item: -item.change)


def read_without(answerer: Answerer, answer: Answer, edges: Sequence[int]) -> list[Answer]:
    """What is answered without each of some facts (rows of the evidence's edges); raises InputError as `ask_again`."""
    question = answer.question
    struck = [_over(answerer, [strike(answer.evidence.subgraph, edge)]) for edge in edges]
    if answer.evidence.query:  # computed: without a fact it is computed anew
        return [other.answer_many([question])[0] for other in struck]
    return answerer.read([question] * len(edges), [other.retrieve(question) for other in struck])


def influences_json(answerer: Answerer, answer: Answer) -> list[dict[str, Any]]:
    """The influences of the facts near an answer as plain data; raises InputError as they do."""
    found = [(item, answer.evidence.subgraph.triple(item.edge)) for item in influences(answerer, answer)]
    return [
        {"sentence": i.sentence, "change": round(i.change, 4), "iri": [t.head, t.relation, t.tail]}
        for i, t in found
    ]


def answer_nodes(answer: Answer) -> set[int]:
    """Nodes of the subgraph that are the answer."""
    graph = answer.evidence.subgraph
    best = answer.candidates[0] if answer.candidates else None
    if best is None or answer.source in (Source.PASSAGE, Source.NONE):
        return set()
    if best.concept is not None:
        return {i for i, name in enumerate(graph.nodes) if name == best.concept}
    return {i for i, role in enumerate(graph.roles.tolist()) if role == NodeRole.CHOICE}


def shown_edges(answer: Answer, limit: int = MAX_NODES) -> list[int]:
    """Facts worth showing: the paths first, then facts among the best nodes until `limit` nodes are used."""
    graph = answer.evidence.subgraph
    edges = list(dict.fromkeys(edge for path in answer.evidence.paths for edge in path.steps))
    nodes = {int(graph.edges[e, side]) for e in edges for side in (0, 2)} | answer_nodes(answer)
    order = np.argsort(-(graph.scores[graph.edges[:, 0]] + graph.scores[graph.edges[:, 2]]), kind="stable")
    seen = set(edges) | set(np.flatnonzero(~gives_reason(graph)).tolist())
    for edge in order.tolist():
        ends = {int(graph.edges[edge, 0]), int(graph.edges[edge, 2])}
        if edge in seen or len(nodes | ends) > limit or not ends & nodes:
            continue
        seen.add(edge)
        nodes |= ends
        edges.append(edge)
    return edges


def answer_json(answer: Answer) -> dict[str, Any]:
    """An answer as plain data, in the stable form that the command line prints."""
    evidence = answer.evidence
    graph = evidence.subgraph
    return {
        "id": answer.question.id,
        "question": answer.question.text,
        "answer": answer.text,
        "source": answer.source.value,
        "confidence": round(answer.confidence, 4),
        "candidates": [
            {
                "text": c.text,
                "source": c.source.value,
                "score": round(c.score, 4),
                "span": list(c.span) if c.span else None,
                "concept": c.concept,
            }
            for c in answer.candidates
        ],
        "evidence": {
            "span": list(evidence.span) if evidence.span else None,
            "influence": None if evidence.influence is None else round(evidence.influence, 3),
            "paths": [
                {
                    "score": round(path.score, 4),
                    "sentences": path_sentences(evidence, path),
                    "triples": [
                        {
                            "head": graph.labels[int(graph.edges[e, 0])],
                            "relation": graph.relations[int(graph.edges[e, 1])].label,
                            "tail": graph.labels[int(graph.edges[e, 2])],
                            "weight": round(float(graph.weights[e]), 3),
                            "iri": [
                                graph.nodes[int(graph.edges[e, 0])],
                                graph.relations[int(graph.edges[e, 1])].name,
                                graph.nodes[int(graph.edges[e, 2])],
                            ],
                            "graph": answer.graph,
                        }
                        for e in path.steps
                    ],
                }
                for path in evidence.paths
            ],
            "query": evidence.query or None,
            "subgraph": _shown(answer),
        },
        "timing_ms": {name: round(value, 2) for name, value in answer.timing_ms.items()},
        "model": answer.model,
        "graph": answer.graph,
    }


def answer_lines(answerer: Answerer, questions: Sequence[Question]) -> list[str]:
    """The answers to questions read together, each a line of JSON."""
    answers = answerer.answer_many(questions)
    return [json.dumps(answer_json(answerer.shown(answer)), ensure_ascii=False) + "\n" for answer in answers]


def _shown(answer: Answer) -> dict[str, Any]:
    """The part of the subgraph that is worth showing, with how large the whole is."""
    graph = answer.evidence.subgraph
    edges = shown_edges(answer)
    nodes = sorted({int(graph.edges[e, side]) for e in edges for side in (0, 2)} | answer_nodes(answer))
    return {
        "nodes": [
            {
                "iri": graph.nodes[n],
                "label": graph.labels[n],
                "role": NodeRole(int(graph.roles[n])).name.lower(),
                "score": round(float(graph.scores[n]), 4),
            }
            for n in nodes
        ],
        "edges": [
            {
                "head": graph.nodes[int(graph.edges[e, 0])],
                "relation": graph.relations[int(graph.edges[e, 1])].name,
                "tail": graph.nodes[int(graph.edges[e, 2])],
            }
            for e in edges
        ],
        "size": [len(graph.nodes), len(graph.edges)],
    }

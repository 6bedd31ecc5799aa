"""An answer as plain data, with the part of its subgraph that is worth showing where that is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from kgqa.answering.evidence.paths import answer_nodes, gives_reason
from kgqa.answering.presentation.sentences import Influence, path_sentences
from kgqa.types import Answer, EvidencePath, NodeRole, Reading

MAX_NODES = 30
"""Concepts of a subgraph that are worth showing."""


def answer_json(answer: Answer, full: bool = False) -> dict[str, Any]:
    """An answer as plain data, in the stable form that the command line prints.

    Args:
        answer: as it is shown.
        full: with the nodes and edges of `evidence.subgraph`, which are most of the text; else its size alone.
    """
    evidence = answer.evidence
    reason = path_sentences(evidence, evidence.paths[0]) if evidence.paths else []
    return {
        "id": answer.question.id,
        "question": answer.question.text,
        "answer": answer.text,
        "source": answer.source.value,
        "confidence": round(answer.confidence, 4),
        "reason": "; ".join(reason) or None,
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
        "items": [
            {
                "text": item.text,
                "concept": item.concept,
                "span": list(item.span) if item.span else None,
                "path": path_json(answer, item.path) if item.path else None,
            }
            for item in answer.items
        ],
        "evidence": {
            "span": list(evidence.span) if evidence.span else None,
            "influence": None if evidence.influence is None else round(evidence.influence, 3),
            "paths": [path_json(answer, path) for path in evidence.paths],
            "query": evidence.query or None,
            "reading": reading_json(evidence.reading),
            "other_readings": [reading_json(reading) for reading in evidence.other_readings],
            "near": reading_json(evidence.near),
            "subgraph": _shown(answer, full),
        },
        "timing_ms": {name: round(value, 2) for name, value in answer.timing_ms.items()},
        "model": answer.model,
        "graph": answer.graph,
    }


def path_json(answer: Answer, path: EvidencePath) -> dict[str, Any]:
    """A path of an answer's facts as plain data."""
    graph = answer.evidence.subgraph
    triples = []
    for edge in path.steps:
        head, number, tail = graph.edges[edge].tolist()
        fact = graph.triple(edge)
        triples.append(
            {
                "head": graph.labels[head],
                "relation": graph.relations[number].label,
                "tail": graph.labels[tail],
                "weight": round(fact.weight, 3),
                "iri": [fact.head, fact.relation, fact.tail],
                "graph": answer.graph,
            }
        )
    return {
        "score": round(path.score, 4),
        "sentences": path_sentences(answer.evidence, path),
        "triples": triples,
    }


def influences_json(answer: Answer, influences: Iterable[Influence]) -> list[dict[str, Any]]:
    """The influences of the facts near an answer as plain data."""
    found = [(item, answer.evidence.subgraph.triple(item.edge)) for item in influences]
    return [
        {"sentence": i.sentence, "change": round(i.change, 4), "iri": [t.head, t.relation, t.tail]}
        for i, t in found
    ]


def json_lines(answers: Iterable[Answer]) -> list[str]:
    """Answers, each as a line of JSON."""
    return [json.dumps(answer_json(answer), ensure_ascii=False) + "\n" for answer in answers]


def _shown(answer: Answer, full: bool) -> dict[str, Any]:
    """How large the subgraph is and, in full, the part of it that is worth showing."""
    graph = answer.evidence.subgraph
    size = [len(graph.nodes), len(graph.edges)]
    if not full:
        return {"nodes": [], "edges": [], "size": size}
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
        "edges": [{"head": t.head, "relation": t.relation, "tail": t.tail} for t in map(graph.triple, edges)],
        "size": size,
    }


def shown_edges(answer: Answer, limit: int = MAX_NODES) -> list[int]:
    """Facts worth showing: all paths first, then facts among the best nodes until `limit` nodes are used."""
    graph = answer.evidence.subgraph
    paths = [*answer.evidence.paths, *(item.path for item in answer.items if item.path)]
    edges = list(dict.fromkeys(edge for path in paths for edge in path.steps))
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


def reading_json(reading: Reading | None) -> dict[str, Any] | None:
    """A reading of the question as JSON."""
    if reading is None:
        return None
    said = {"phrase": reading.phrase, "result": reading.result, "form": reading.form}
    return {**said, "probability": round(reading.probability, 4)}

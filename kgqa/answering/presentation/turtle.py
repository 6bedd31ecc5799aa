"""Evidence and edits as Turtle."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import quote

from kgqa.answering.presentation.edits import Edit
from kgqa.types import Answer

_PREFIXES = [
    "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .",
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
]


def evidence_turtle(answer: Answer, edges: Sequence[int]) -> str:
    """Facts of an answer's evidence, rows of its edges, as Turtle, with the labels of what they name."""
    graph = answer.evidence.subgraph
    rows = graph.edges[list(edges)].tolist()
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

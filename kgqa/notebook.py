"""Answers as HTML for notebooks: headline, highlighted passage and evidence path; subgraphs as networkx and RDF."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from html import escape
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from networkx import MultiDiGraph
    from rdflib import Graph as RdfGraph

    from kgqa.types import Answer, EvidencePath, Subgraph


# Subgraphs as networkx and rdflib graphs; both libraries are imported where they are used, as they slow down a start.

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]+")


def networkx_of(graph: Subgraph, roles: Sequence[str]) -> MultiDiGraph:
    """Implementation of `Subgraph.to_networkx`; `roles` are those of its nodes."""
    import networkx

    found = networkx.MultiDiGraph()
    for name, label, role, score in zip(graph.nodes, graph.labels, roles, graph.scores, strict=True):
        found.add_node(name, label=label, role=role, score=float(score))
    for (head, relation, tail), weight in zip(graph.edges.tolist(), graph.weights, strict=True):
        kind = graph.relations[relation]
        ends = (graph.nodes[head], graph.nodes[tail])
        found.add_edge(*ends, key=kind.name, label=kind.words or kind.label, weight=float(weight))
    return found


LAYOUTS = ("spring", "kamada_kawai", "forceatlas2", "circular", "shell", "spiral", "spectral", "random")
"""Layouts of networkx that need only a graph."""


def laid_out(graph: MultiDiGraph, layout: str) -> MultiDiGraph:
    """A graph whose nodes have `x` and `y` by one of `LAYOUTS`, always the same ones; "" changes nothing."""
    import networkx

    if layout:
        place = getattr(networkx, f"{layout}_layout")
        seed = {"seed": 0} if "seed" in inspect.signature(place).parameters else {}
        for name, (x, y) in place(graph, **seed).items():
            graph.nodes[name].update(x=float(x), y=float(y))
    return graph


def rdf_of(graph: Subgraph) -> RdfGraph:
    """Implementation of `Subgraph.to_rdf`."""
    import rdflib

    def term(name: str) -> Any:
        if name.startswith('"'):
            value, _, rest = name[1:].rpartition('"')
            if rest.startswith("^^<"):
                return rdflib.Literal(value, datatype=rdflib.URIRef(rest[3:-1]))
            return rdflib.Literal(value, lang=rest.removeprefix("@") or None)
        if name.startswith("_:"):
            return rdflib.BNode(name[2:])
        return rdflib.URIRef(name if _IRI.fullmatch(name) else f"urn:kgqa:{quote(name)}")

    found: RdfGraph = rdflib.Graph()
    for head, relation, tail in graph.edges.tolist():
        about = graph.relations[relation]
        labels_of = {graph.nodes[n]: graph.labels[n] for n in (head, tail)} | {about.name: about.label}
        found.add((term(graph.nodes[head]), term(about.name), term(graph.nodes[tail])))
        for name, label in labels_of.items():
            if label and not name.startswith('"'):
                found.add((term(name), rdflib.RDFS.label, rdflib.Literal(label)))
    return found


LETTER, HEIGHT, GAP = 7.5, 30, 12
"""Width of a letter, height of a box, and margin of an arrow's label, in pixels."""
LONGEST = 40
"""Maximum length of a label in characters."""
_ARROW = (
    '<defs><marker id="kgqa-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker></defs>'
)


def answer_html(answer: Answer) -> str:
    """An answer as HTML without scripts; all text is escaped."""
    head = f"<b>{escape(answer.text or '(no answer)')}</b>"
    about = f"{escape(answer.source.value)}, confidence {answer.confidence:.0%}"
    parts = [f"<p>{head} <small>{about}</small></p>"]
    if passage := answer.question.passage_text:
        start, end = answer.evidence.span or (0, 0)
        marked = f"<mark>{escape(passage[start:end])}</mark>" if end > start else ""
        parts.append(f"<p>{escape(passage[:start])}{marked}{escape(passage[end:])}</p>")
    if answer.evidence.paths:
        parts.append(path_svg(answer.evidence.subgraph, answer.evidence.paths[0]))
    return f"<div>{''.join(parts)}</div>"


def path_svg(graph: Subgraph, path: EvidencePath) -> str:
    """A path as an inline SVG: concepts in boxes, from left to right in path order, with arrows between them
    from head to tail."""
    nodes: list[int] = []
    arrows: list[tuple[str, bool]] = []
    for edge, forward in zip(path.steps, path.forward, strict=True):
        head, relation, tail = graph.edges[edge].tolist()
        nodes += [head, tail][:: 1 if forward else -1][bool(nodes) :]
        arrows.append((_short(graph.relations[relation].words or graph.relations[relation].label), forward))
    labels = [_short(graph.labels[node]) for node in nodes]
    boxes = [len(label) * LETTER + 2 * GAP for label in labels]
    gaps = [len(words) * LETTER + 2 * GAP for words, _ in arrows]
    starts = list(accumulate((box + gap for box, gap in zip(boxes, gaps, strict=False)), initial=1.0))
    drawn = [_ARROW]
    for start, width, label in zip(starts, boxes, labels, strict=True):
        drawn.append(
            f'<rect x="{start:g}" y="16" width="{width:g}" height="{HEIGHT}" rx="6" fill="none" '
            f'stroke="currentColor"/>{_text(start + width / 2, 36, label)}'
        )
    for start, width, gap, (words, forward) in zip(starts, boxes, gaps, arrows, strict=False):
        left, right = (start + width, start + width + gap)[:: 1 if forward else -1]
        drawn.append(
            f'<line x1="{left:g}" y1="31" x2="{right:g}" y2="31" stroke="currentColor" '
            f'marker-end="url(#kgqa-arrow)"/>{_text(start + width + gap / 2, 12, words)}'
        )
    size = f'width="{starts[-1] + boxes[-1] + 1:g}" height="{HEIGHT + 18}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" font-size="13" {size}>{"".join(drawn)}</svg>'


def _short(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def _text(x: float, y: float, words: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle" fill="currentColor">{escape(words)}</text>'

"""Evidence as a picture: a subgraph becomes Graphviz DOT. Pure functions, no Streamlit."""

from __future__ import annotations

from kgqa.explain import MAX_NODES, answer_nodes, shown_edges
from kgqa.types import Answer, NodeRole, Subgraph

COLOURS = {
    NodeRole.QUESTION: "#cfe3ff",
    NodeRole.PASSAGE: "#d9f2d9",
    NodeRole.CHOICE: "#ffe8b3",
    NodeRole.OTHER: "#eeeeee",
}
ANSWER_COLOUR = "#ffb3a7"


def to_dot(answer: Answer, limit: int = MAX_NODES) -> str:
    """Graphviz DOT of the evidence: nodes coloured by role, the answer and the best path in bold."""
    graph = answer.evidence.subgraph
    edges = shown_edges(answer, limit)
    bold = set(answer.evidence.paths[0].steps) if answer.evidence.paths else set()
    answers = answer_nodes(answer)
    nodes = sorted({int(graph.edges[e, side]) for e in edges for side in (0, 2)} | answers)
    lines = [
        "digraph evidence {",
        '  rankdir=LR; bgcolor="transparent"; pad=0.2; nodesep=0.25; ranksep=0.6;',
        '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=12, color="#999999"];',
        '  edge [fontname="Helvetica", fontsize=10, color="#999999", fontcolor="#666666"];',
    ]
    for node in nodes:
        colour = ANSWER_COLOUR if node in answers else COLOURS[NodeRole(int(graph.roles[node]))]
        width = 2 if node in answers else 1
        lines.append(
            f'  n{node} [label={quote(graph.labels[node])}, fillcolor="{colour}", penwidth={width}];'
        )
    for edge in edges:
        head, relation, tail = (int(v) for v in graph.edges[edge])
        style = ', color="#c0392b", fontcolor="#c0392b", penwidth=2.5' if edge in bold else ""
        lines.append(f"  n{head} -> n{tail} [label={quote(_words(graph, relation))}{style}];")
    return "\n".join([*lines, "}"])


def _words(graph: Subgraph, relation: int) -> str:
    return graph.relations[relation].label or graph.relations[relation].words


def quote(text: str) -> str:
    """A DOT string literal; nothing in a label can leave it."""
    flat = " ".join(text.split())
    return '"' + flat.replace("\\", "\\\\").replace('"', '\\"')[:60] + '"'

"""Evidence as a picture: facts become Graphviz DOT. Pure functions, no Streamlit."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from kgqa.qa.evidence import answer_nodes, is_informative
from kgqa.qa.render import Edit, short_words, shown_edges
from kgqa.types import Answer, NodeRole, Subgraph

MAX_REMOVED = 3
"""Maximum number of removed facts drawn; removing an entity can remove dozens."""
COLOURS = {
    NodeRole.QUESTION: "#bcd7ff",
    NodeRole.PASSAGE: "#c4ebc9",
    NodeRole.CHOICE: "#ffe3a3",
    NodeRole.OTHER: "#e4e4e4",
}
ANSWER_COLOUR = "#ffb9ac"
PATH_COLOURS = {False: "#b8321f", True: "#ff8a75"}
QUIET_COLOURS = {False: "#666666", True: "#a8a8a8"}


def near_edges(answer: Answer, limit: int) -> list[int]:
    """Facts near the answer; if it is no concept, those among the `limit` most relevant concepts."""
    if found := shown_edges(answer, limit):
        return found
    graph = answer.evidence.subgraph
    relevance = graph.scores[graph.edges[:, 0]] + graph.scores[graph.edges[:, 2]]
    picked: list[int] = []
    nodes: set[int] = set()
    says = is_informative(graph)
    for edge in np.argsort(-relevance, kind="stable").tolist():
        ends = {int(graph.edges[edge, 0]), int(graph.edges[edge, 2])}
        if len(nodes | ends) <= limit and says[edge]:
            picked.append(edge)
            nodes |= ends
    return picked


def picked_edges(answer: Answer, limit: int) -> list[int]:
    """Facts to draw: only those that lead to the answer (limit 0), or also those around it, up to `limit` concepts.

    Of several facts between two concepts only one is drawn, unless they lie on a path: more would clutter the picture.
    """
    if not limit:
        return list(leading_steps(answer)) or near_edges(answer, 4)
    graph = answer.evidence.subgraph
    on_path = {edge for path in answer.evidence.paths for edge in path.steps} | set(leading_steps(answer))
    picked: list[int] = []
    pairs: set[frozenset[int]] = set()
    for edge in near_edges(answer, limit):
        pair = frozenset((int(graph.edges[edge, 0]), int(graph.edges[edge, 2])))
        if edge in on_path or (pair not in pairs and len(picked) < 1.5 * limit):
            picked.append(edge)
            pairs.add(pair)
    return picked


def leading_steps(answer: Answer) -> dict[int, bool]:
    """Facts of the best path, or of the paths to each of several answers -> whether each is followed head to tail."""
    several = [item.path for item in answer.items if item.path]
    paths = several or answer.evidence.paths[:1]
    return {edge: way for path in paths for edge, way in zip(path.steps, path.forward, strict=True)}


def to_dot(
    answer: Answer, limit: int, dark: bool = False, narrow: bool = False, removed: Sequence[Edit] = ()
) -> str:
    """Graphviz DOT of the evidence, laid out from the linked concepts (left, or on top if `narrow`) to the answer.

    Nodes are coloured by role; what leads to the answer is bold and straight, the rest is pale, and removed facts are
    dashed. The ids of edges are f with the index of a fact, or x with the index in `removed`.
    """
    graph = answer.evidence.subgraph
    edges = picked_edges(answer, limit)
    ways = leading_steps(answer)
    answers = answer_nodes(answer)
    on_path = {int(graph.edges[e, side]) for e in ways for side in (0, 2)}
    nodes = sorted({int(graph.edges[e, side]) for e in edges for side in (0, 2)} | answers)
    ids = {graph.nodes[n]: n for n in nodes}
    ghosts = ghosts_of(graph, removed, ids)
    added: dict[int, str] = {}
    for edit in ghosts.values():
        for name, label in zip((edit.triple.head, edit.triple.tail), edit.labels, strict=True):
            added.setdefault(ids.setdefault(name, len(graph.nodes) + len(added)), label)
    new = {n: label for n, label in added.items() if n not in nodes}
    colours = {n: COLOURS.get(NodeRole(int(graph.roles[n])), COLOURS[NodeRole.OTHER]) for n in nodes}
    colours |= dict.fromkeys(answers, ANSWER_COLOUR)
    named = [(n, graph.labels[n], colours[n]) for n in nodes]
    named += [(n, label, COLOURS[NodeRole.OTHER]) for n, label in new.items()]
    facts = []
    for edge in edges:
        head, relation, tail = (int(value) for value in graph.edges[edge])
        forward = ways.get(edge, _leads_on(graph, head, tail, answers))
        facts.append(
            Drawn(head, short_words(graph.relations[relation]), tail, edge in ways, forward, f"f{edge}")
        )
    for place, edit in ghosts.items():
        ends = ids[edit.triple.head], ids[edit.triple.tail]
        # a removed fact must not move the nodes that are there already
        lays_out = bool(new.keys() & set(ends))
        drawn = Drawn(ends[0], short_words(edit.relation), ends[1], id=f"x{place}", is_removed=True)
        facts.append(drawn._replace(lays_out=lays_out))
    return dot(named, facts, on_path | (answers if ways else set()), dark, narrow)


def ghosts_of(graph: Subgraph, edits: Sequence[Edit], drawn: Collection[str]) -> dict[int, Edit]:
    """The edits, by index, to draw as removed facts: no longer in the graph, at most one between two concepts; first
    those between concepts that are drawn."""
    there = {(t.head, t.relation, t.tail) for t in graph.triples}
    pairs: set[frozenset[str]] = set()
    found = {}
    near = [(edit.triple.head in drawn) + (edit.triple.tail in drawn) for edit in edits]
    for place in sorted(range(len(edits)), key=lambda place: -near[place]):
        edit = edits[place]
        pair = frozenset((edit.triple.head, edit.triple.tail))
        if (
            not edit.added
            and (edit.triple.head, edit.triple.relation, edit.triple.tail) not in there
            and pair not in pairs
            and len(pairs) < MAX_REMOVED
        ):
            found[place] = edit
            pairs.add(pair)
    return found


def _leads_on(graph: Subgraph, head: int, tail: int, answers: Collection[int]) -> bool:
    """Whether a fact is laid out from head to tail: not out of the answer, not into a linked concept."""
    asked = (NodeRole.QUESTION, NodeRole.PASSAGE)
    if head in answers or tail in answers:
        return head not in answers
    return not (graph.roles[tail] in asked and graph.roles[head] not in asked)


class Drawn(NamedTuple):
    """A fact in a picture. `forward`: it is laid out from head to tail."""

    head: int
    words: str
    tail: int
    is_bold: bool = False
    forward: bool = True
    id: str = ""
    is_removed: bool = False
    lays_out: bool = True


def dot(
    nodes: Iterable[tuple[int, str, str]],
    facts: Sequence[Drawn],
    bold: Collection[int] = (),
    dark: bool = False,
    narrow: bool = False,
) -> str:
    """Graphviz DOT of (id, label, colour) nodes and facts; `bold` nodes are emphasized."""
    quiet, path = QUIET_COLOURS[dark], PATH_COLOURS[dark]
    lines = [
        "digraph evidence {",
        f'  rankdir={"TB" if narrow else "LR"}; bgcolor="transparent"; pad=0.1; nodesep=0.2; ranksep=0.45;',
        '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=13, '
        f'color="{quiet}", fontcolor="#1a1a1a", margin="0.12,0.06", height=0.3];',
        f'  edge [fontname="Helvetica", fontsize=11, color="{quiet}", fontcolor="{quiet}", arrowsize=0.7];',
    ]
    for node, label, colour in nodes:
        style = ", penwidth=0.8"
        if bold:
            style = (
                f', color="{path}", penwidth=2.5, fontsize=15'
                if node in bold
                else ", penwidth=0.5, fontsize=11"
            )
        lines.append(f'  n{node} [label={quote(label)}, fillcolor="{colour}"{style}];')
    for fact in facts:
        first, second = (fact.head, fact.tail) if fact.forward else (fact.tail, fact.head)
        style = "" if fact.forward else ", dir=back"
        if fact.is_bold:
            style += f', color="{path}", fontcolor="{path}", penwidth=3, fontsize=13, weight=20'
        if fact.is_removed:
            style += ", style=dashed"
        if not fact.lays_out:
            style += ", constraint=false"
        lines.append(f'  n{first} -> n{second} [label={quote(fact.words, 18)}, id="{fact.id}"{style}];')
    return "\n".join([*lines, "}"])


def quote(text: str, width: int = 24) -> str:
    """A DOT string literal, wrapped at `width` and cut after three lines; escaped, so that a label cannot inject
    DOT."""
    flat = " ".join(text.split())
    rows = textwrap.wrap(flat, width, max_lines=3, placeholder=" …") or [""]
    return '"' + "\\n".join(row.replace("\\", "\\\\").replace('"', '\\"') for row in rows) + '"'

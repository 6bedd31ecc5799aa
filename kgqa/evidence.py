"""What an answer rests on: the stretch of the passage, or the paths of facts that lead to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kgqa.batch import Fused
from kgqa.deletion import answer_paths, targets
from kgqa.models.collation.facts_in_words import told_paths
from kgqa.models.collation.rows import Row
from kgqa.models.reader import Scores
from kgqa.operations.following import Led
from kgqa.types import Candidate, Evidence, EvidencePath, Question, Source


def deciding_rows(
    best: Candidate, question: Question, number: int, rows: Sequence[Row], scores: Scores
) -> list[Row]:
    """A question's rows, first the one that the answer was read in: of several windows, that which rates it highest."""

    def worth(place: int) -> float:
        row = rows[place]
        if best.source is Source.CHOICE and question.choices[row.choice] == best.text:
            return float(scores.choice[place])
        if best.source is Source.KNOWLEDGE and best.concept in row.subgraph.nodes:
            first = row.first_node + 1
            nodes = scores.concept[first : first + len(row.subgraph.nodes)]
            return float(nodes.log_softmax(0)[row.subgraph.nodes.index(best.concept)])
        return float("-inf")

    own = [place for place, row in enumerate(rows) if row.question == number]
    return [rows[place] for place in sorted(own, key=worth, reverse=True)]


def evidence_of(
    best: Candidate, question: Question, rows: Sequence[Row], fused: Fused | None = None, facts: int = 0
) -> Evidence:
    """The span, or paths to the answer's node: those told in words or the reasoner's own, then by attention."""
    if best.source is Source.PASSAGE:
        return Evidence(span=best.span, subgraph=rows[0].subgraph, score=best.score)
    row = rows[0]
    if best.source is Source.CHOICE:
        row = next(r for r in rows if question.choices[r.choice] == best.text)
    graph = row.subgraph
    if not len(graph.edges):
        return Evidence(subgraph=graph, score=best.score)
    cost = None
    if fused is not None and fused.attention is not None:
        weight = fused.attention[row.first_edge : row.first_edge + len(graph.edges)]
        cost = (1.0 - weight.clamp(min=1e-4).log()).numpy()
    own = [path for node in targets(best, graph) for path in _own_path(fused, row, node)]
    own.sort(key=lambda path: -path.score)
    if facts:
        own = told_paths(graph, targets(best, graph), facts)
    by_steps = {path.steps: path for path in [*own, *answer_paths(best, graph, cost)]}
    return Evidence(paths=tuple(by_steps.values())[:3], subgraph=graph, score=best.score)


def _own_path(fused: Fused | None, row: Row, node: int) -> list[EvidencePath]:
    """The path that the reasoner itself decoded for a node of a row's subgraph, if it does so."""
    if fused is None or fused.paths is None or fused.path_weight is None or fused.attention is None:
        return []
    count, place = len(fused.attention), row.first_node + 1 + node
    steps = [step for step in fused.paths[place].tolist() if step >= 0]
    if not steps:
        return []
    edges = tuple(step % count - row.first_edge for step in steps)
    return [EvidencePath(edges, tuple(step < count for step in steps), float(fused.path_weight[place]))]


def shown_first(evidence: Evidence, led: Sequence[Led], best: Candidate) -> Evidence:
    """Evidence that begins with the way by which an answer was found, if it was found so."""
    own = [reached.path for reached in led if evidence.subgraph.nodes[reached.node] == best.concept]
    others = [other for other in evidence.paths if other.steps not in {path.steps for path in own}]
    return replace(evidence, paths=(*own, *others)[:3])

"""What is read in branches beside a row's trunk: choices, or concepts that may answer an open question."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from kgqa.metrics import surface_key
from kgqa.models.collation.facts_in_words import choice_nodes, with_facts
from kgqa.models.collation.reading import ReadingSettings
from kgqa.types import NO, YES, Example, Link, NodeRole, Relation, Subgraph


@dataclass(frozen=True, slots=True)
class Branch:
    """A choice of the question with what is told of it, or a concept, or yes or no, which have neither choice nor node.

    `node` is -1 where no concept is linked.
    """

    text: str
    choice: int
    node: int


def branches_of(
    example: Example, graphs: Sequence[Subgraph], reading: ReadingSettings, with_gold: bool
) -> tuple[Subgraph, list[Branch]]:
    """The subgraph of a question's rows, and their branches.

    `graphs` holds one subgraph for each choice, or one. Choices are told with facts, concepts by their names alone:
    there are many, and the trunk tells facts for all. With gold, an accepted concept is always among the branches.
    """
    if not example.question.choices:
        (graph,) = graphs
        golds = {surface_key(c) for c in example.concepts} if with_gold else set()
        nodes = answer_nodes(graph, reading.candidates, golds)
        verdicts = [Branch(text, -1, -1) for text in (YES, NO) if reading.verdicts]
        return graph, [*(Branch(graph.labels[node], -1, node) for node in nodes), *verdicts]
    own = graphs if len(graphs) > 1 else [graphs[0]] * len(example.question.choices)
    graph = united(graphs)
    place = {name: node for node, name in enumerate(graph.nodes)}
    branches = []
    for number, (choice, of) in enumerate(zip(example.question.choices, own, strict=True)):
        linked = choice_nodes(of)
        node = place[of.nodes[linked[0]]] if linked and len(graphs) > 1 else -1
        branches.append(Branch(with_facts(choice, of, reading.facts), number, node))
    return graph, branches


def answer_nodes(graph: Subgraph, count: int, golds: Collection[str] = ()) -> list[int]:
    """The `count` concepts ranked highest, those that no text mentions first; one of `golds` is put in."""
    other = graph.roles == int(NodeRole.OTHER)
    order = np.lexsort((-graph.scores, ~other)).tolist()
    order = [node for node in order if graph.labels[node]]
    chosen = order[:count]
    if golds and chosen and not any(surface_key(graph.labels[node]) in golds for node in chosen):
        right = next((node for node in order[count:] if surface_key(graph.labels[node]) in golds), None)
        chosen = chosen if right is None else [*chosen[:-1], right]
    return chosen


def united(graphs: Sequence[Subgraph]) -> Subgraph:
    """The subgraphs of a question's choices as one: a concept stands once, and as a choice where it is one in any."""
    if len(graphs) == 1:
        return graphs[0]
    nodes: dict[str, int] = {}
    labels, roles, scores = [], [], []
    edges: dict[tuple[int, int, int], int] = {}
    relations: dict[str, int] = {}
    table: list[Relation] = []
    weights, near, links = [], [], []
    for graph in graphs:
        for name, label, role, score in zip(
            graph.nodes, graph.labels, graph.roles.tolist(), graph.scores.tolist(), strict=True
        ):
            if name not in nodes:
                nodes[name] = len(nodes)
                labels.append(label)
                roles.append(role)
                scores.append(score)
            elif role == int(NodeRole.CHOICE):
                roles[nodes[name]] = role
        for relation in graph.relations:
            if relation.name not in relations:
                relations[relation.name] = len(table)
                table.append(relation)
        known = graph.near if len(graph.near) else np.zeros(len(graph.edges), np.float32)
        for (head, kind, tail), weight, nearness in zip(
            graph.edges.tolist(), graph.weights.tolist(), known.tolist(), strict=True
        ):
            fact = (nodes[graph.nodes[head]], relations[graph.relations[kind].name], nodes[graph.nodes[tail]])
            if fact not in edges:
                edges[fact] = len(edges)
                weights.append(weight)
                near.append(nearness)
        links += [
            Link(link.part, link.start, link.end, nodes[graph.nodes[link.node]])
            for link in graph.links
            if link.part is not NodeRole.CHOICE
        ]
    return Subgraph(
        nodes=tuple(nodes),
        labels=tuple(labels),
        roles=np.array(roles, dtype=np.int32),
        scores=np.array(scores, dtype=np.float32),
        edges=np.array(list(edges), dtype=np.int32).reshape(-1, 3),
        weights=np.array(weights, dtype=np.float32),
        relations=tuple(table),
        links=tuple(dict.fromkeys(links)),
        near=np.array(near, dtype=np.float32),
    )

"""Subgraphs with something taken away: what a claim about a graph must be measured against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kgqa.types import InputError, NodeRole, Subgraph

Ablation = Callable[[Subgraph], Subgraph]


def without_edges(subgraph: Subgraph, edges: Sequence[int]) -> Subgraph:
    """The subgraph with some facts struck out; its concepts stay."""
    kept = np.setdiff1d(np.arange(len(subgraph.edges)), np.asarray(edges, dtype=np.int64))
    return subgraph.only(kept)


def shuffled(subgraph: Subgraph) -> Subgraph:
    """The same facts with their tails dealt out anew: a graph of the same shape that says nothing true."""
    if len(subgraph.edges) < 2:
        return subgraph
    seed = np.frombuffer("".join(subgraph.labels).encode()[:64].ljust(8, b"."), dtype=np.uint8)
    order = np.random.default_rng(seed.tolist()).permutation(len(subgraph.edges))
    edges = subgraph.edges.copy()
    edges[:, 2] = edges[order, 2]
    return replace(subgraph, edges=edges)


def without_direct_edges(subgraph: Subgraph) -> Subgraph:
    """No fact joins a concept of the question or passage with one of the choice.

    CommonsenseQA's questions were written from ConceptNet's facts, so the direct fact may give the answer
    away; this row says how much is left without it.
    """
    asked = np.isin(subgraph.roles, [int(NodeRole.QUESTION), int(NodeRole.PASSAGE)])
    chosen = subgraph.roles == int(NodeRole.CHOICE)
    head, tail = subgraph.edges[:, 0], subgraph.edges[:, 2]
    direct = (asked[head] & chosen[tail]) | (chosen[head] & asked[tail])
    return subgraph.only(~direct)


def without_facts(subgraph: Subgraph) -> Subgraph:
    """The concepts alone."""
    return subgraph.only(np.zeros(0, dtype=np.int32))


ABLATIONS: dict[str, Ablation] = {
    "none": lambda subgraph: subgraph,
    "shuffled": shuffled,
    "no-direct-edges": without_direct_edges,
    "no-facts": without_facts,
}


def find_ablation(name: str) -> Ablation:
    """The ablation of that name. Raises InputError where there is none."""
    if name not in ABLATIONS:
        raise InputError(f"{name}: no such ablation; write one of {', '.join(ABLATIONS)}")
    return ABLATIONS[name]

"""Modified subgraphs: ablations, and paraphrased relations."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kgqa.graph.linking.normalize import split_local_name
from kgqa.settings import PARAPHRASES
from kgqa.types import InputError, NodeRole, Relation, Subgraph

# Ablations of subgraphs: the baselines for every claim that a graph helps.

Ablation = Callable[[Subgraph], Subgraph]


def without_edges(subgraph: Subgraph, edges: Sequence[int]) -> Subgraph:
    """The subgraph without some facts; its concepts stay."""
    kept = np.setdiff1d(np.arange(len(subgraph.edges)), np.asarray(edges, dtype=np.int64))
    return subgraph.only(kept)


def shuffled(subgraph: Subgraph) -> Subgraph:
    """The subgraph with the tails of its facts permuted: a graph of the same size whose facts are not true.

    The permutation is seeded by the labels, so that it is the same for a question in every run.
    """
    if len(subgraph.edges) < 2:
        return subgraph
    seed = np.frombuffer("".join(subgraph.labels).encode()[:64].ljust(8, b"."), dtype=np.uint8)
    order = np.random.default_rng(seed.tolist()).permutation(len(subgraph.edges))
    edges = subgraph.edges.copy()
    edges[:, 2] = edges[order, 2]
    return replace(subgraph, edges=edges)


def without_direct_edges(subgraph: Subgraph) -> Subgraph:
    """The subgraph without facts between a concept of the question or passage and one of the choice.

    CommonsenseQA's questions were written from facts of ConceptNet, so the direct fact may give the answer
    away; this ablation measures what the graph contributes without it.
    """
    asked = np.isin(subgraph.roles, [int(NodeRole.QUESTION), int(NodeRole.PASSAGE)])
    chosen = subgraph.roles == int(NodeRole.CHOICE)
    head, tail = subgraph.edges[:, 0], subgraph.edges[:, 2]
    direct = (asked[head] & chosen[tail]) | (chosen[head] & asked[tail])
    return subgraph.only(~direct)


def no_facts(subgraph: Subgraph) -> Subgraph:
    """The subgraph with its concepts, but without facts."""
    return subgraph.only(np.zeros(0, dtype=np.int32))


ABLATIONS: dict[str, Ablation] = {
    "none": lambda subgraph: subgraph,
    "shuffled": shuffled,
    "no-direct-edges": without_direct_edges,
    "no-facts": no_facts,
}


def find_ablation(name: str) -> Ablation:
    """The ablation of a given name. Raises InputError where there is none."""
    if name not in ABLATIONS:
        raise InputError(f"{name}: no such ablation; write one of {', '.join(ABLATIONS)}")
    return ABLATIONS[name]


# Paraphrased relations, a data augmentation: readers learn to read relation texts instead of a fixed vocabulary.


@dataclass(frozen=True, slots=True)
class Wordings:
    """Paraphrases of a relation, and of its inverse (read from tail to head)."""

    forward: tuple[str, ...]
    inverse: tuple[str, ...]


def read_paraphrases() -> dict[str, Wordings]:
    """Paraphrases of ConceptNet's relations ("UsedFor"), keyed by the words of the local name ("used for")."""
    tables = tomllib.loads(PARAPHRASES.read_text(encoding="utf-8"))
    return {
        split_local_name(name): Wordings(tuple(row["forward"]), tuple(row["inverse"]))
        for name, row in tables.items()
    }


def paraphrase(
    subgraph: Subgraph, wordings: Mapping[str, Wordings], draw: np.random.Generator, share: float = 0.5
) -> Subgraph:
    """The same facts with paraphrased relations, some of them inverted.

    Each relation of the subgraph is paraphrased with probability `share`, in the same way for all its facts.
    """
    if not len(subgraph.edges):
        return subgraph
    relations: list[Relation] = []
    edges = subgraph.edges.copy()
    for number, relation in enumerate(subgraph.relations):
        known = wordings.get(split_local_name(relation.name))
        if known is None or draw.random() >= share:
            relations.append(relation)
            continue
        turned = bool(known.inverse) and draw.random() < 0.3
        paraphrases = known.inverse if turned else known.forward
        words = paraphrases[int(draw.integers(len(paraphrases)))]
        relations.append(replace(relation, label=words, words=words))
        if turned:
            mine = edges[:, 1] == number
            edges[mine] = edges[mine][:, [2, 1, 0]]
    return replace(subgraph, edges=edges, relations=tuple(relations))

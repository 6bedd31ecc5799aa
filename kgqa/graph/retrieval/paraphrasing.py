"""Relations said in other words, so that a reader learns to read them instead of knowing a fixed few."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kgqa.assets import PARAPHRASES
from kgqa.graph.linking.normalising import split_local_name
from kgqa.types import Relation, Subgraph


@dataclass(frozen=True, slots=True)
class Wordings:
    """Other words for a relation, and words for it read from tail to head."""

    forward: tuple[str, ...]
    inverse: tuple[str, ...]


def read_paraphrases() -> dict[str, Wordings]:
    """Wordings by ConceptNet local name ("UsedFor"), keyed by its words ("used for")."""
    tables = tomllib.loads(PARAPHRASES.read_text(encoding="utf-8"))
    return {
        split_local_name(name): Wordings(tuple(row["forward"]), tuple(row["inverse"]))
        for name, row in tables.items()
    }


def paraphrase(
    subgraph: Subgraph, wordings: Mapping[str, Wordings], draw: np.random.Generator, share: float = 0.5
) -> Subgraph:
    """The same facts with relations said in other words, some of them turned round.

    Each relation of the subgraph is reworded with probability `share`; all its facts alike.
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
        said = known.inverse if turned else known.forward
        words = said[int(draw.integers(len(said)))]
        relations.append(replace(relation, label=words, words=words))
        if turned:
            mine = edges[:, 1] == number
            edges[mine] = edges[mine][:, [2, 1, 0]]
    return replace(subgraph, edges=edges, relations=tuple(relations))

"""What a thing is called in another language, or besides: its labels as facts, where the question asks for them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from kgqa.graph.linking.literals import literal_name
from kgqa.types import KnowledgeGraph, NodeRole, Relation, Subgraph

_CODES: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_LANGUAGES = {word: code for code, said in _CODES.items() for word in said.split()}
_LANGUAGE = re.compile("|".join(_LANGUAGES))
_BESIDES = re.compile(
    r"\b(an)?other (name|word|term)s?\b|\b(also|else) (called|known|named)\b|\bsynonyms?\b|\balias(es)?\b|\bnick"
    r"|\balternative (name|label|term)s?\b|다른 이름|별명",
    re.IGNORECASE,
)
BESIDES = Relation("http://www.w3.org/2004/02/skos/core#altLabel", "other name", "is also called")


def label_in(graph: KnowledgeGraph, entity: int, language: str) -> str:
    """What a language calls a concept, by its preferred label if it has one; "" where it has none."""
    own = [label for label in graph.all_labels(entity) if label.language.split("-")[0] == language]
    return next((label.text for label in own if label.preferred), own[0].text if own else "")


def called(subgraph: Subgraph, graph: KnowledgeGraph, language: str, ids: Sequence[int]) -> Subgraph:
    """The subgraph with its concepts, `ids` in `graph`, called as in a language, where they have a label in it."""
    labels = zip(ids, subgraph.labels, strict=True)
    return replace(subgraph, labels=tuple(label_in(graph, node, language) or label for node, label in labels))


def with_other_names(
    subgraph: Subgraph, graph: KnowledgeGraph, question: str, ids: Sequence[int]
) -> Subgraph:
    """The subgraph with further labels of its linked concepts, as concepts of their own, where they are asked for.

    `ids` are the concepts' in `graph`.
    """
    languages = {_LANGUAGES[word] for word in _LANGUAGE.findall(question)}
    besides = bool(_BESIDES.search(question))
    if not (languages or besides):
        return subgraph
    nodes, labels = list(subgraph.nodes), list(subgraph.labels)
    relations = list(subgraph.relations)
    edges = []
    linked = sorted({link.node for link in subgraph.links if link.part is not NodeRole.CHOICE})
    for node in linked:
        for label in graph.all_labels(int(ids[node])):
            language = label.language.split("-")[0]
            if label.text == labels[node] or not (language in languages or (besides and not label.preferred)):
                continue
            relation = BESIDES
            if language in languages:
                said = _CODES[language].split()[0]
                relation = Relation(f"urn:kgqa:label:{language}", f"in {said}", f"is called in {said}")
            name = literal_name(label.text, label.language)
            if name not in nodes:
                nodes.append(name)
                labels.append(label.text)
            if relation not in relations:
                relations.append(relation)
            edges.append((node, relations.index(relation), nodes.index(name)))
    if not edges:
        return subgraph
    more = len(nodes) - len(subgraph.nodes)
    return replace(
        subgraph,
        nodes=tuple(nodes),
        labels=tuple(labels),
        roles=np.append(subgraph.roles, np.full(more, NodeRole.OTHER)).astype(np.int32),
        scores=np.append(subgraph.scores, np.ones(more)).astype(np.float32),
        edges=np.concatenate([subgraph.edges, np.array(edges, dtype=np.int32)]),
        weights=np.append(subgraph.weights, np.ones(len(edges))).astype(np.float32),
        relations=tuple(relations),
        near=np.append(subgraph.near, np.zeros(len(edges) if len(subgraph.near) else 0)).astype(np.float32),
    )

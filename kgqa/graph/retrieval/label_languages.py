"""Names of entities in another language, and alternative names: labels as facts, where the question asks for them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from kgqa.graph.linking.label_keys import literal_name
from kgqa.types import KnowledgeGraph, NodeRole, Relation, Subgraph, Triple

NAME_IN = "urn:kgqa:label:"
"""Prefix of the relation between an entity and its name in a language, followed by the language's code."""
_CODES: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_LANGUAGES = {word: code for code, language_names in _CODES.items() for word in language_names.split()}
_LANGUAGE = re.compile("|".join(_LANGUAGES))
_BESIDES = re.compile(
    r"\b(an)?other (name|word|term)s?\b|\b(also|else) (called|known|named)\b|\bsynonyms?\b|\balias(es)?\b|\bnick"
    r"|\balternative (name|label|term)s?\b|다른 이름|별명",
    re.IGNORECASE,
)
_PREFERRED = re.compile(
    r"\b(preferred|main|official|proper|standard|correct|accepted) (name|word|term|label)s?\b", re.IGNORECASE
)
PREFERRED = Relation("http://www.w3.org/2004/02/skos/core#prefLabel", "preferred term", "is properly called")
BESIDES = Relation("http://www.w3.org/2004/02/skos/core#altLabel", "other name", "is also called")


def language_called(word: str) -> str:
    """The code of a language by its name, "" for other words.

    >>> language_called("German"), language_called("Germany")
    ('de', '')
    """
    return _LANGUAGES.get(word, "")


def label_in(graph: KnowledgeGraph, entity: int, language: str) -> str:
    """The label of a concept in a language, the preferred one if there is one; "" without any."""
    own = [label for label in graph.all_labels(entity) if label.language.split("-")[0] == language]
    return next((label.text for label in own if label.preferred), own[0].text if own else "")


def relabelled(subgraph: Subgraph, graph: KnowledgeGraph, language: str, ids: Sequence[int]) -> Subgraph:
    """The subgraph with labels in a given language, for concepts that have one; `ids` are the concepts' in `graph`."""
    labels = zip(ids, subgraph.labels, strict=True)
    return replace(subgraph, labels=tuple(label_in(graph, node, language) or label for node, label in labels))


def names_asked(
    graph: KnowledgeGraph, question: str, entities: Sequence[int]
) -> dict[Triple, tuple[str, Relation]]:
    """Names of concepts as facts, if a question asks for their name in a language, their preferred name or
    their alternative names. Each fact comes with the text of the name and the fact's relation."""
    languages = {_LANGUAGES[word] for word in _LANGUAGE.findall(question)}
    besides, properly = bool(_BESIDES.search(question)), bool(_PREFERRED.search(question))
    found: dict[Triple, tuple[str, Relation]] = {}
    if not (languages or besides or properly) or not len(entities):
        return found
    ids = np.array(list(entities), dtype=np.int32)
    for entity, name, own in zip(entities, graph.names(ids), graph.labels(ids), strict=True):
        for label in graph.all_labels(entity):
            relations = [_in_language(code) for code in languages if label.language.split("-")[0] == code]
            relations += [BESIDES] * (besides and not label.preferred)
            relations += [PREFERRED] * (properly and label.text == own)
            tail = literal_name(label.text, label.language)
            found |= {Triple(name, relation.name, tail): (label.text, relation) for relation in relations}
    return found


def _in_language(code: str) -> Relation:
    language = _CODES[code].split()[0]
    return Relation(f"{NAME_IN}{code}", f"{language} name", f"is called in {language}")


def with_other_names(
    subgraph: Subgraph, graph: KnowledgeGraph, question: str, ids: Sequence[int]
) -> Subgraph:
    """The subgraph with further labels of its linked concepts, if the question asks for them: each is a
    concept of its own, joined by a fact. `ids` are the concepts' in `graph`.
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
                relation = replace(_in_language(language), label=f"in {_CODES[language].split()[0]}")
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

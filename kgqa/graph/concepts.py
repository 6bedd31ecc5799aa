"""Look up concepts and relations by the words of a user, and show facts as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from kgqa.graph.linking.normalize import normalise, words
from kgqa.graph.relation_types import is_type_relation
from kgqa.types import Edges, InputError, Ints, KnowledgeGraph, Relation, did_you_mean

NEAR = 3
"""Number of labels that are suggested for a text that is none."""
MAX_FACTS = 50
"""Maximum number of facts of a node in which its class is looked for."""


def candidates(graph: KnowledgeGraph, text: str) -> Ints:
    """Concepts with a given name or label, also in base form, most likely first; else those whose name contains it.

    Raises InputError if the text is empty.
    """
    if not text.strip():
        raise InputError("the text is empty; write a word or a phrase")
    named = graph.ids([text])
    plain, base = graph.find([text, normalise(text)])
    ids = [*(named[named >= 0].tolist()), *plain.tolist(), *base.tolist()]
    if not ids:
        parts = graph.find_parts([word for word, _, _ in words(text)])
        ids = [
            entity for found in parts for entity in found.tolist() if all(entity in other for other in parts)
        ]
    return np.array(list(dict.fromkeys(ids)), dtype=np.int32)


def near_labels(graph: KnowledgeGraph, text: str) -> list[str]:
    """Up to `NEAR` labels that may have been meant by a text: of similar spelling, or with one of its words."""
    from kgqa.graph.linking.fuzzy import NearLabels

    found = [entity for entity, _ in NearLabels(graph)([text.lower()])[0]]
    each = [word for word, _, _ in words(text)]
    for some in (*graph.find(each), *graph.find_parts(each)):
        found += some.tolist()
    return list(dict.fromkeys(graph.labels(np.array(found[: 10 * NEAR], dtype=np.int32))))[:NEAR]


def concepts_named(graph: KnowledgeGraph, text: str) -> Ints:
    """Concepts with a given name or label, most likely first. Raises InputError, with similar labels, if there is
    none."""
    found = candidates(graph, text)
    if not len(found):
        near = ", ".join(map(repr, near_labels(graph, text)))
        hint = f"did you mean {near}?" if near else "`kgqa graph info` gives an overview"
        raise InputError(f"{text}: no concept of {graph.name} has this name; {hint}")
    return found


def shown_labels(graph: KnowledgeGraph, entities: Ints) -> list[str]:
    """Labels of entities; a node of a local graph that has none is called by its class: "the claim"."""
    labels = graph.labels(entities)
    missing = entities[[not label for label in labels]]
    if graph.is_remote or not len(missing):
        return labels
    facts = graph.neighbours(missing, MAX_FACTS)
    states_type = np.array([is_type_relation(relation) for relation in graph.relations], dtype=bool)
    stated = states_type[facts.relation] & np.isin(facts.head, missing)
    called = dict(zip(facts.head[stated].tolist(), graph.labels(facts.tail[stated]), strict=True))
    named = zip(labels, (called.get(entity) for entity in entities.tolist()), strict=True)
    return [label or (f"the {kind}" if kind else "") for label, kind in named]


def fact_rows(graph: KnowledgeGraph, facts: Edges) -> list[dict[str, Any]]:
    """Facts with labels, relation words and provenance, one dictionary each."""
    from kgqa.graph.storage.store import GraphStore

    provenance = graph.provenance(facts) if isinstance(graph, GraphStore) else [""] * len(facts.head)
    sides = [
        list(zip(graph.names(ids), shown_labels(graph, ids), strict=True)) for ids in (facts.head, facts.tail)
    ]
    return [
        {
            "head": {"name": head[0], "label": head[1]},
            "relation": {"name": about.name, "label": about.label, "words": about.words},
            "tail": {"name": tail[0], "label": tail[1]},
            "weight": round(weight, 6),
            "graph": origin,
        }
        for head, tail, about, weight, origin in zip(
            *sides,
            [graph.relations[r] for r in facts.relation],
            facts.weight.tolist(),
            provenance,
            strict=True,
        )
    ]


def relation_named(graph: KnowledgeGraph, relation: str) -> Relation:
    """The first relation with a given name or label. Raises `InputError`, with the nearest name, if there is none."""
    known = [relation_labels(asdict(about)) for about in graph.relations]
    for about, ways in zip(graph.relations, known, strict=True):
        if relation.lower() in ways:
            return about
    hint = did_you_mean(relation.lower(), set().union(*known), "`kgqa graph info` lists them")
    raise InputError(f"{relation}: no relation of {graph.name} has this name; {hint}")


def relation_labels(relation: dict[str, str]) -> set[str]:
    """Texts by which a user may name a relation: its name, local name, label or words."""
    name = relation["name"]
    local = name.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1]
    return {text.lower() for text in (name, local, relation["label"], relation["words"])}


def relation_type_text(relation: dict[str, Any]) -> str:
    """The types of a relation in a manifest, and the unit of its values, as text."""
    unit = f"in {relation['unit']}" if relation.get("unit") else ""
    return ", ".join(filter(None, [*relation.get("types", ()), unit]))


def with_relation_type(
    manifest: dict[str, Any], relation: str, types: Sequence[str], unit: str = ""
) -> dict[str, Any]:
    """A manifest with other types for a relation, given by any of its names; InputError for an unknown type."""
    from kgqa.graph.relation_types import types_by_name

    known = {"types": sorted(types_by_name(types)), "unit": unit}
    rows = manifest["relations"]
    return manifest | {
        "relations": [row | known if relation.lower() in relation_labels(row) else row for row in rows]
    }

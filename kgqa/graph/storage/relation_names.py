"""Readable names of relations: given, from the shipped table, from the source's labels, or from the IRI."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from kgqa.assets import RELATIONS
from kgqa.graph.linking.normalising import split_local_name
from kgqa.types import Relation

ALIASES = {
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#type": "isa",
    "http://www.w3.org/2000/01/rdf-schema#subClassOf": "isa",
    "http://www.w3.org/2000/01/rdf-schema#subPropertyOf": "mannerof",
    "http://www.w3.org/2004/02/skos/core#broader": "isa",
    "http://www.w3.org/2004/02/skos/core#related": "relatedto",
    "http://www.wikidata.org/prop/direct/P31": "isa",
    "http://www.wikidata.org/prop/direct/P279": "isa",
    "http://www.wikidata.org/prop/direct/P361": "partof",
    "http://www.wikidata.org/prop/direct/P366": "usedfor",
}
"""Relations of other vocabularies that are said as one of the table is."""


def known_relations(path: Path = RELATIONS) -> dict[str, Relation]:
    """Relations of the shipped table by their lower-cased name, empty where the table is not installed."""
    if not path.is_file():
        return {}
    with path.open("rb") as file:
        rows = tomllib.load(file)
    return {
        name.lower(): Relation(name, row.get("label", split_local_name(name)), row.get("words", ""))
        for name, row in rows.items()
        if isinstance(row, dict)
    }


def name_relations(
    names: Sequence[str], given: Sequence[Relation] = (), labels: dict[str, str] | None = None
) -> list[Relation]:
    """A `Relation` for each name. The source's label goes before the table's; words come from the table."""
    table = known_relations()
    stated = {relation.name: relation for relation in given}
    found = []
    for name in names:
        local = name.rstrip("/#").replace("#", "/").replace(":", "/").rsplit("/", 1)[-1]
        known = table.get(ALIASES.get(name, "")) or table.get(local.replace("_", "").lower())
        label = (labels or {}).get(name) or (known.label if known else split_local_name(name))
        relation = stated.get(name, Relation(name, label))
        words = relation.words or (known.words if known else "")
        found.append(Relation(name, relation.label or label, words))
    return found

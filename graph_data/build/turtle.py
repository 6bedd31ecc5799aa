"""A graph of source files as Turtle 1.1 that a person can read: the same sources give the same bytes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from graph_data.build.compile import Concept, ConceptFact, SourceGraph
from graph_data.build.tables import RelationWords
from kgqa.settings import replacing

CONCEPTS = "https://kgqa.org/everyday/"
RELATIONS = "https://kgqa.org/relation/"
ONTOLOGY = "https://kgqa.org/ontology#"
VERSION = "1.0.0"
HEADER = f"""@prefix ev: <{CONCEPTS}> .
@prefix rel: <{RELATIONS}> .
@prefix kgqa: <{ONTOLOGY}> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix cn: <http://conceptnet.io/c/en/> .

<https://kgqa.org/everyday> a owl:Ontology ;
    dcterms:title "Everyday knowledge"@en, "일상 지식"@ko ;
    dcterms:license <https://creativecommons.org/licenses/by/4.0/> ;
    owl:versionInfo "{VERSION}" .
"""


def turtle(graph: SourceGraph) -> str:
    """The graph as Turtle, relations first, concepts in the order of their IRIs."""
    outgoing: dict[int, dict[str, list[ConceptFact]]] = defaultdict(lambda: defaultdict(list))
    for fact in graph.facts:
        outgoing[fact.head][fact.relation].append(fact)
    order = sorted(range(len(graph.concepts)), key=lambda at: graph.concepts[at].slug)
    relations = list(graph.relations)
    parts = [HEADER, *(_relation(graph.relations[name]) for name in sorted(relations))]
    parts.extend(_concept(graph.concepts, at, outgoing[at], relations) for at in order)
    return "\n".join(parts)


def write_turtle(graph: SourceGraph, path: Path, overwrite: bool = False) -> None:
    """Write the graph, whole or not at all, in place of one that was written so before."""
    with replacing(path, overwrite or _is_written(path)) as part:
        part.write_text(turtle(graph), encoding="utf-8", newline="\n")


def _is_written(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.readline().decode("utf-8", "replace") == HEADER.splitlines(True)[0]


def _relation(row: RelationWords) -> str:
    labels = [_literal(row.label, "en")] + ([_literal(row.ko, "ko")] if row.ko else [])
    literals = [_literal(row.words, "en")] + ([_literal(row.ko_words, "ko")] if row.ko_words else [])
    lines = [
        f"rel:{row.name} a owl:ObjectProperty" + (", owl:SymmetricProperty" if row.symmetric else ""),
        f"    rdfs:label {', '.join(labels)}",
        f"    kgqa:words {', '.join(literals)}",
    ]
    if row.inverse:
        lines.append(f"    kgqa:inverseWords {_literal(row.inverse, 'en')}")
    if row.conceptnet:
        lines.append(f"    skos:closeMatch <http://conceptnet.io/r/{row.conceptnet}>")
    return " ;\n".join(lines) + " .\n"


def _concept(
    concepts: list[Concept], at: int, outgoing: Mapping[str, list[ConceptFact]], relations: list[str]
) -> str:
    concept = concepts[at]
    named = {"en": [concept.label, *concept.also], "ko": concept.ko, **concept.labels}
    labels = [_literal(name, language) for language, names in named.items() for name in names[:1]]
    others = [_literal(name, language) for language, names in named.items() for name in names[1:]]
    lines = [f"ev:{concept.slug} a kgqa:Concept", f"    rdfs:label {', '.join(labels)}"]
    if others:
        lines.append(f"    skos:altLabel {', '.join(others)}")
    if concept.domains:
        lines.append(f"    kgqa:domain {', '.join(_literal(name) for name in sorted(concept.domains))}")
    if concept.kind:
        lines.append(f"    kgqa:kind {_literal(concept.kind)}")
    if not concept.sense and not re.search(r"[^a-z ]", concept.label):
        lines.append(f"    skos:closeMatch cn:{concept.label.replace(' ', '_')}")
    weighted: list[str] = []
    for relation in relations:
        if facts := outgoing.get(relation):
            facts = sorted(facts, key=lambda fact: (-fact.weight, concepts[fact.tail].slug))
            tails = [f"ev:{concepts[fact.tail].slug}" for fact in facts]
            lines.append(f"    rel:{relation} {', '.join(tails)}")
            # RDF 1.1 has no weights on facts; a statement about the statement is read by every parser. That it
            # is an rdf:Statement follows from the domain of rdf:subject.
            weighted.extend(
                f"[] rdf:subject ev:{concept.slug} ; rdf:predicate rel:{relation} ; "
                f"rdf:object {tail} ; kgqa:weight {fact.weight!r} .\n"
                for fact, tail in zip(facts, tails, strict=True)
                if fact.weight != 1.0
            )
    return " ;\n".join(lines) + " .\n" + "".join(weighted)


def _literal(text: str, language: str = "") -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' + (f"@{language}" if language else "")

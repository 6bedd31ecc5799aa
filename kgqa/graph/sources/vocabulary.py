"""What RDF properties mean to a reader of facts: a fact, a label, a part of the syntax, or noise."""

from __future__ import annotations

from enum import IntEnum

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
DCTERMS = "http://purl.org/dc/terms/"
KGQA = "https://kgqa.org/ontology#"
NIL = RDF + "nil"


class Role(IntEnum):
    """What is done with a statement of a property."""

    FACT = 0
    LABEL = 1
    ALTERNATE = 2
    SKIP = 3
    TYPE = 4
    FIRST = 5
    REST = 6
    REIFIES = 7
    SUBJECT = 8
    PREDICATE = 9
    OBJECT = 10
    WEIGHT = 11
    WORDS = 12
    LICENCE = 13


LABELS = (
    RDFS + "label",
    SKOS + "prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
    DCTERMS + "title",
    "http://purl.org/dc/elements/1.1/title",
)
ALTERNATES = (
    SKOS + "altLabel",
    SKOS + "hiddenLabel",
    "http://schema.org/alternateName",
    "https://schema.org/alternateName",
)
_LICENCES = (
    DCTERMS + "license",
    DCTERMS + "rights",
    "http://schema.org/license",
    "https://schema.org/license",
    "http://creativecommons.org/ns#license",
)
_SYNTAX = {
    RDF + "type": Role.TYPE,
    RDF + "first": Role.FIRST,
    RDF + "rest": Role.REST,
    RDF + "reifies": Role.REIFIES,
    RDF + "subject": Role.SUBJECT,
    RDF + "predicate": Role.PREDICATE,
    RDF + "object": Role.OBJECT,
    KGQA + "words": Role.WORDS,
    RDFS + "subClassOf": Role.FACT,
    RDFS + "member": Role.FACT,
    OWL + "sameAs": Role.FACT,
    SKOS + "broader": Role.FACT,
    SKOS + "narrower": Role.FACT,
    SKOS + "related": Role.FACT,
    SKOS + "broaderTransitive": Role.FACT,
    SKOS + "narrowerTransitive": Role.FACT,
    SKOS + "semanticRelation": Role.FACT,
    SKOS + "member": Role.FACT,
}
# Long prose, and links out of the graph: true, but no facts to reason with.
_PROSE = (DCTERMS + "description", DCTERMS + "creator", DCTERMS + "created", DCTERMS + "modified")
_WEIGHTS = frozenset({"weight", "confidence", "score", "probability", "strength"})


def role_of(relation: str) -> Role:
    """What a property means. Anything of no known vocabulary is a fact.

    >>> role_of(RDFS + "label").name, role_of("http://x/usedFor").name, role_of(OWL + "inverseOf").name
    ('LABEL', 'FACT', 'SKIP')
    """
    if relation in _SYNTAX:
        return _SYNTAX[relation]
    if relation in LABELS:
        return Role.LABEL
    if relation in ALTERNATES:
        return Role.ALTERNATE
    if relation in _LICENCES:
        return Role.LICENCE
    if relation.replace("#", "/").rsplit("/", 1)[-1] in _WEIGHTS:
        return Role.WEIGHT
    if relation.startswith((RDFS, OWL, SKOS, KGQA)) or relation in _PROSE:
        return Role.SKIP
    return Role.FACT


def is_schema(kind: str) -> bool:
    """Whether an rdf:type says nothing about the world, as owl:Class does."""
    return kind.startswith((RDF, RDFS, OWL, SKOS, KGQA))

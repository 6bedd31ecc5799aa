"""What RDF properties mean to a reader of facts: a fact, a label, a part of the syntax, or noise."""

from __future__ import annotations

import re
from enum import IntEnum

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
DCTERMS = "http://purl.org/dc/terms/"
KGQA = "https://kgqa.org/ontology#"
WIKIBASE = "http://wikiba.se/ontology#"
PROV_DERIVED = "http://www.w3.org/ns/prov#wasDerivedFrom"
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
    ON_PROPERTY = 14
    FILLER = 15
    PARTS = 16
    DOMAIN = 17
    RANGE = 18
    INVERSE = 19
    CLAIM = 20
    STATED = 21
    QUALIFIER = 22
    RANK = 23
    PROPERTY = 24
    KIND = 25
    MEANS = 26
    WIDER = 27
    COMPLETE = 28


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
    KGQA + "kind": Role.KIND,
    KGQA + "means": Role.MEANS,
    KGQA + "complete": Role.COMPLETE,
    RDFS + "subPropertyOf": Role.WIDER,
    OWL + "equivalentProperty": Role.WIDER,
    RDFS + "subClassOf": Role.FACT,
    RDFS + "domain": Role.DOMAIN,
    RDFS + "range": Role.RANGE,
    OWL + "equivalentClass": Role.FACT,
    OWL + "inverseOf": Role.INVERSE,
    OWL + "onProperty": Role.ON_PROPERTY,
    OWL + "someValuesFrom": Role.FILLER,
    OWL + "allValuesFrom": Role.FILLER,
    OWL + "hasValue": Role.FILLER,
    OWL + "onClass": Role.FILLER,
    OWL + "onDataRange": Role.FILLER,
    OWL + "intersectionOf": Role.PARTS,
    OWL + "unionOf": Role.PARTS,
    OWL + "oneOf": Role.PARTS,
    WIKIBASE + "rank": Role.RANK,
    WIKIBASE + "directClaim": Role.PROPERTY,
    WIKIBASE + "statementProperty": Role.PROPERTY,
    WIKIBASE + "qualifier": Role.PROPERTY,
    WIKIBASE + "claim": Role.PROPERTY,
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
_PROSE = (
    DCTERMS + "description",
    PROV_DERIVED,
)
_WIKIBASE = (
    ("/prop/direct-normalized/", Role.SKIP),
    ("/prop/direct/", Role.FACT),
    ("/prop/statement/value", Role.SKIP),
    ("/prop/statement/", Role.STATED),
    ("/prop/qualifier/value", Role.SKIP),
    ("/prop/qualifier/", Role.QUALIFIER),
    ("/prop/reference/", Role.SKIP),
    ("/prop/novalue/", Role.SKIP),
    ("/prop/P", Role.CLAIM),
)
"""A Wikibase's properties, by the part of the IRI that its data model prescribes; the first that fits counts."""
_WEIGHTS = frozenset({"weight", "confidence", "score", "probability", "strength"})


def role_of(relation: str) -> Role:
    """What a property means. Anything of no known vocabulary is a fact.

    >>> role_of(RDFS + "label").name, role_of("http://x/usedFor").name, role_of(OWL + "disjointWith").name
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
    if "/prop/" in relation:
        for part, role in _WIKIBASE:
            if part in relation:
                return role
    if relation.replace("#", "/").rsplit("/", 1)[-1] in _WEIGHTS:
        return Role.WEIGHT
    if relation.startswith((RDFS, OWL, SKOS, KGQA, WIKIBASE)) or relation in _PROSE:
        return Role.SKIP
    return Role.FACT


STEP = "!"
"""Between the relations that were walked over what has no name, as in a path of Notation3."""
_STEP = re.compile(r"!(?=[A-Za-z][A-Za-z0-9+.-]*:)")


def joined(first: str, second: str) -> str:
    """Name of the relation that goes over `first` and then over `second`. See `steps_of`."""
    return f"{first}{STEP}{second}"


def steps_of(relation: str) -> list[str]:
    """The relations that a joined one is made of.

    >>> steps_of("http://x/address!http://x/city")
    ['http://x/address', 'http://x/city']
    """
    return _STEP.split(relation)


def is_schema(kind: str) -> bool:
    """Whether an rdf:type says nothing about the world, as owl:Class does."""
    return kind.startswith((RDF, RDFS, OWL, SKOS, KGQA, WIKIBASE))

"""Roles of RDF properties at import: fact, label, part of a structure, or to be skipped."""

from __future__ import annotations

import re
import tomllib
from enum import IntEnum
from pathlib import Path

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
KGQA = "https://kgqa.org/ontology#"
WIKIBASE = "http://wikiba.se/ontology#"
SHACL = "http://www.w3.org/ns/shacl#"
NIL = RDF + "nil"
_DESCRIBING = (RDFS, OWL, SKOS, KGQA, WIKIBASE, SHACL)
"""Vocabularies that describe classes and relations; their properties are not facts, unless listed."""


PropertyRole = IntEnum(
    "PropertyRole",
    "FACT LABEL ALTERNATE SKIP TYPE FIRST REST REIFIES SUBJECT PREDICATE OBJECT WEIGHT WORDS LICENCE "
    "ON_PROPERTY FILLER PARTS INVERSE CLAIM STATED QUALIFIER RANK PROPERTY KIND RELATION_TYPE WIDER "
    "CLOSED_WORLD ADDRESS DEFINITION DERIVED",
)
"""How a property's statements are processed. SUBJECT, PREDICATE and OBJECT must be consecutive (see
`Structures.note`)."""


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_ROLES = {
    start + local: PropertyRole[role.upper()]
    for role, names in _TABLE["roles"].items()
    for prefix, _, local in (name.partition(":") for name in names.split())
    for start in _TABLE["prefixes"][prefix]
}
"""The role of each property of a known vocabulary, by its IRI."""
UNIT_SYMBOLS = {code: symbol for symbol, codes in _TABLE["unit_symbols"].items() for code in codes.split()}
"""Symbols of units by code."""
LABELS = tuple(name for name, role in _ROLES.items() if role is PropertyRole.LABEL)
"""Label properties, preferred ones first."""
ALTERNATES = tuple(name for name, role in _ROLES.items() if role is PropertyRole.ALTERNATE)
_WIKIBASE = (
    ("/prop/direct-normalized/", PropertyRole.SKIP),
    ("/prop/direct/", PropertyRole.FACT),
    ("/prop/statement/value", PropertyRole.SKIP),
    ("/prop/statement/", PropertyRole.STATED),
    ("/prop/qualifier/value", PropertyRole.SKIP),
    ("/prop/qualifier/", PropertyRole.QUALIFIER),
    ("/prop/reference/", PropertyRole.SKIP),
    ("/prop/novalue/", PropertyRole.SKIP),
)
"""Roles of Wikibase properties by the part of the IRI that its data model prescribes; the first match counts."""
VALUE = re.compile(
    r"[/#](?:P\d+_)?(has)?_?(value|numeric_?value|amount|quantity_?amount|quantity_?value)$", re.IGNORECASE
)
"""A property of a quantity that leads to its number."""
UNIT = re.compile(
    r"[/#](?:P\d+_)?(has)?_?(unit|unit_?text|unit_?code|unit_?of_?measure\w*|currency|quantity_?unit)$",
    re.IGNORECASE,
)
"""A property of a quantity that leads to its unit."""
_CLAIM = re.compile(r"/prop/P\d+$")
_NAME = re.compile(r".*[/#:](?:has|full|display|preferred)?_?(?:name|label)", re.IGNORECASE)
_WEIGHTS = frozenset({"weight", "confidence", "score", "probability", "strength"})


def role_of(relation: str) -> PropertyRole:
    """Role of a property. Properties of unknown vocabularies are facts.

    >>> role_of(RDFS + "label").name, role_of("http://x/usedFor").name, role_of(OWL + "disjointWith").name
    ('LABEL', 'FACT', 'SKIP')
    """
    if relation in _ROLES:
        return _ROLES[relation]
    if "/prop/" in relation:
        if _CLAIM.search(relation):
            return PropertyRole.CLAIM
        for part, role in _WIKIBASE:
            if part in relation:
                return role
    if relation.replace("#", "/").rsplit("/", 1)[-1] in _WEIGHTS:
        return PropertyRole.WEIGHT
    return PropertyRole.SKIP if relation.startswith(_DESCRIBING) else PropertyRole.FACT


def names_a_thing(relation: str) -> bool:
    """Whether a property of an unknown vocabulary gives names of entities.

    >>> names_a_thing("http://x/fullName"), names_a_thing("http://x/surname")
    (True, False)
    """
    return _NAME.fullmatch(relation) is not None


STEP = "!"
"""Separator of the relations of a path through blank nodes, as in Notation3."""
_STEP = re.compile(r"!(?=[A-Za-z][A-Za-z0-9+.-]*:)")


def joined(first: str, second: str) -> str:
    """Name of the relation that follows `first` and then `second`. See `steps_of`."""
    return f"{first}{STEP}{second}"


def steps_of(relation: str) -> list[str]:
    """The relations of a joined relation.

    >>> steps_of("http://x/address!http://x/city")
    ['http://x/address', 'http://x/city']
    """
    return _STEP.split(relation)


def is_schema(kind: str) -> bool:
    """Whether a class belongs to a schema vocabulary, such as owl:Class, so that an rdf:type with it is not a fact."""
    return kind.startswith((RDF, *_DESCRIBING))

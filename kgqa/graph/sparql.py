"""A graph behind a SPARQL endpoint: the methods of `KnowledgeGraph`, each with few requests for many entities.

Statements about facts (RDF-star, reification) are not queried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b

import numpy as np

from kgqa.graph.formats.rdf import MAX_DEFINITION, MAX_TEXT
from kgqa.graph.formats.sparql_client import (
    Binding,
    Endpoint,
    RequestCheck,
    iri,
    literal,
    name_of,
    sparql_term,
)
from kgqa.graph.formats.vocabulary import (
    ALTERNATES,
    LABELS,
    RDF,
    WIKIBASE,
    PropertyRole,
    is_schema,
    joined,
    role_of,
    steps_of,
)
from kgqa.graph.linking.label_keys import default_label, plain_key
from kgqa.graph.retrieval.expansion import take
from kgqa.graph.storage.relation_names import name_relations
from kgqa.graph.storage.writer import SHARED
from kgqa.types import Edges, Ints, Label, Relation

SCAN_LIMIT = 200_000
"""Maximum size of an endpoint, in triples, for which all labels are compared in lower case (a full scan)."""
_ALL_LABELS = " ".join(f"<{name}>" for name in (*LABELS, *ALTERNATES))
_PREFERRED = frozenset(LABELS)
_TYPE = f"{RDF}type"
_FACTS = (
    PropertyRole.FACT,
    PropertyRole.TYPE,
    PropertyRole.WEIGHT,
    PropertyRole.ADDRESS,
    PropertyRole.DEFINITION,
)


class SparqlGraph:
    """A `KnowledgeGraph` over HTTP. Entities get ids when they are first returned; facts have weight 1.

    Paths through a blank node become one fact of the node before it. If named graphs hold facts that the default graph
    does not, they are queried too; `graphs` restricts queries to some of them. `headers` are sent with every request.

    A surface form is looked up as a label in the usual spellings (digging, Digging, Digging Tools; in `language`, in
    English, without language), which any endpoint answers from its index. If the endpoint is small (`SCAN_LIMIT`), it
    is also compared with all labels in lower case, and with the local names of entities without a label. Raises
    InputError if `url` is not a valid address; later also if the endpoint does not respond.
    """

    def __init__(
        self,
        url: str,
        language: str = "en",
        timeout_s: float = 30.0,
        retries: int = 3,
        batch: int = 100,
        headers: Mapping[str, str] | None = None,
        graphs: Sequence[str] = (),
        check: RequestCheck | None = None,
    ) -> None:
        self.endpoint = Endpoint(url, timeout_s, retries, headers=headers, graphs=graphs, check=check)
        self.name = url.split("://", 1)[1].rstrip("/")
        self.hash = blake2b(url.encode(), digest_size=16).hexdigest()
        self.language = language
        self.batch = batch
        self._ids: dict[str, int] = {}
        self._names: list[str] = []
        self._labels: dict[int, str] = {}
        self._found: dict[str, Ints] = {}
        self._degrees: dict[int, set[tuple[int, int, int]]] = {}
        self.relations: list[Relation] = []  # those returned so far
        self._relation_ids: dict[str, int] = {}

    is_remote = closed_world = True
    added_entities = np.zeros(0, dtype=np.int32)
    type_names: Sequence[str] = ()
    entity_count = None

    def find(self, surfaces: Sequence[str], language: str = "") -> list[Ints]:
        """Entities with each surface form as a label; those with it as preferred label come first."""
        keys = [plain_key(surface) for surface in surfaces]
        spellings = {key: " ".join(surface.split()) for key, surface in zip(keys, surfaces, strict=True)}
        unknown = [key for key in spellings if key and key not in self._found]
        for part in _parts(unknown, self.batch):
            self._look_up({key: spellings[key] for key in part})
        nothing = np.zeros(0, dtype=np.int32)
        return [self._found.get(key, nothing) for key in keys]

    def _look_up(self, keys: dict[str, str]) -> None:
        grades: dict[str, dict[str, int]] = {key: {} for key in keys}

        def note(row: Binding, key: str) -> None:
            entity, place = row["e"], grades.get(key)
            if place is not None and entity["type"] == "uri":
                grade = 0 if row.get("p", {}).get("value") in _PREFERRED else 1
                place[entity["value"]] = min(grade, place.get(entity["value"], 2))

        languages = dict.fromkeys((self.language, "en", ""))
        spellings = " ".join(
            literal(text, language)
            for key, surface in keys.items()
            for text in dict.fromkeys((surface, key, key.capitalize(), key.title(), key.upper()))
            for language in languages
        )
        # STR in the projection: endpoints differ in whether a language tag comes back
        for row in self.endpoint.select(
            "SELECT ?e ?p (STR(?l) AS ?s) WHERE "
            f"{{ VALUES ?p {{ {_ALL_LABELS} }} VALUES ?l {{ {spellings} }} {self._in_graphs('?e ?p ?l')} }}",
            "e s",
        ):
            note(row, plain_key(row["s"]["value"]))
        missing = [key for key in keys if not grades[key]]
        if missing and self._is_small:
            values = " ".join(literal(key) for key in missing)
            query = _SCAN.replace("$KEYS", values).replace("$LABELS", _ALL_LABELS)
            for row in self.endpoint.select(query, "e k"):
                note(row, row["k"]["value"])
        for key, place in grades.items():
            ordered = sorted(place, key=lambda name: (place[name], name))
            self._found[key] = np.array([self._id(name) for name in ordered], dtype=np.int32)

    @cached_property
    def _is_small(self) -> bool:
        return not self.endpoint.select(f"SELECT ?s WHERE {{ ?s ?p ?o }} LIMIT 1 OFFSET {SCAN_LIMIT}")

    def _in_graphs(self, pattern: str) -> str:
        """A pattern that also matches in any single named graph, if the default graph does not include those."""
        return f"{{ {pattern} }} UNION {{ GRAPH ?g {{ {pattern} }} }}" if self.is_scattered else pattern

    @cached_property
    def is_scattered(self) -> bool:
        """Whether named graphs hold facts that the default graph does not."""
        return not self.endpoint.graphs and bool(self.endpoint.select(_SCATTERED))

    def types_of(self, entities: Ints) -> Ints:
        """-1 for all entities: types are not queried."""
        return np.full(len(entities), -1, dtype=np.int32)

    def neighbours(self, entities: Ints, limit: int | None = None) -> Edges:
        facts: set[tuple[int, int, int]] = set()
        terms = [known for name in self.names(np.unique(entities)) if (known := sparql_term(name))]
        # with a limit, each entity needs a subquery of its own, so queries would become too long for some servers
        for part in _parts(terms, self.batch if limit is None else max(1, self.batch // 4)):
            given = [part] if limit is None else [[value] for value in part]
            cut = "" if limit is None else f" LIMIT {int(limit)}"
            picks = []
            for values in given:
                for shape, ends in _SHAPES:
                    if ends == "?h" and all(value.startswith('"') for value in values):
                        continue  # a literal is never a head
                    pattern = self._in_graphs(shape)
                    chosen = " ".join(value for value in values if ends == "?t" or not value.startswith('"'))
                    picks.append(
                        f"{{ SELECT ?h ?r ?q ?t WHERE {{ VALUES {ends} {{ {chosen} }} {pattern} }}{cut} }}"
                    )
            rows = self.endpoint.select(f"SELECT ?h ?r ?q ?t WHERE {{ {' UNION '.join(picks)} }}", "h r t")
            self._meet({_relation(row) for row in rows})
            for row in rows:
                fact = self._fact(name_of(row["h"]), _relation(row), name_of(row["t"]))
                if fact:
                    facts.add(fact)
        edges = np.array(sorted(facts), dtype=np.int32).reshape(-1, 3)
        return Edges(edges[:, 0], edges[:, 1], edges[:, 2], np.ones(len(edges), dtype=np.float32))

    def find_parts(self, words: Sequence[str]) -> list[Ints]:
        """Nothing: an endpoint has no index of single words."""
        return [np.zeros(0, dtype=np.int32) for _ in words]

    def all_labels(self, entity: int) -> list[Label]:
        """Nothing: this would take a request per entity."""
        return []

    def facts_among(self, entities: Ints, others: Ints, limit: int | None = None) -> Edges:
        edges = self.neighbours(entities, limit)
        inside = np.isin(edges.head, others) & np.isin(edges.tail, others)
        return take(edges, inside)

    def _meet(self, relations: set[str]) -> None:
        """Add relations to the table, fetching their labels in one request."""
        new = sorted(
            relation
            for relation in relations - self._relation_ids.keys()
            if all(role_of(step) in _FACTS for step in steps_of(relation))
        )
        if new:
            self._relation_ids |= {name: len(self.relations) + i for i, name in enumerate(new)}
            steps = sorted({step for relation in new for step in steps_of(relation)})
            labels = self._ask_labels(steps)
            bare = " ".join(
                address
                for step in steps
                if step not in labels and "/prop/" in step and (address := iri(step))
            )
            if bare:  # Wikibase states labels at the property entity, not at the predicates that stand for it
                rows = self.endpoint.select(_PROPERTIES.replace("$VALUES", bare), "e x")
                own = {row["e"]["value"]: row["x"]["value"] for row in rows}
                said_of = self._ask_labels(sorted(set(own.values())))
                labels |= {name: said_of[other] for name, other in own.items() if other in said_of}
            self.relations += name_relations(new, labels={name: [label] for name, label in labels.items()})

    def _fact(self, head: str, relation: str, tail: str) -> tuple[int, int, int] | None:
        if head == tail or relation not in self._relation_ids:
            return None
        most = MAX_DEFINITION if role_of(relation) is PropertyRole.DEFINITION else MAX_TEXT
        # long texts are descriptions, not answers
        if tail.startswith('"') and (len(tail) > most or "\n" in tail):
            return None
        if tail.startswith(RDF) or (relation == _TYPE and is_schema(tail)):
            return None
        fact = (self._id(head), self._relation_ids[relation], self._id(tail))
        for entity in (fact[0], fact[2]):
            self._degrees.setdefault(entity, set()).add(fact)
        return fact

    def ids(self, names: Sequence[str]) -> Ints:
        """Id of each IRI or literal, assigned if it is new; -1 for an invalid name."""
        return np.array([self._id(name) if sparql_term(name) else -1 for name in names], dtype=np.int32)

    def labels(self, entities: Ints) -> list[str]:
        """Preferred label of each entity; the words of its IRI if it has none."""
        ids = np.asarray(entities).tolist()
        unknown = [entity for entity in dict.fromkeys(ids) if entity not in self._labels]
        for part in _parts(unknown, self.batch * 4):
            found = self._ask_labels([self._names[entity] for entity in part])
            for entity in part:
                name = self._names[entity]
                self._labels[entity] = found.get(name) or default_label(name)
        return [self._labels[entity] for entity in ids]

    def _ask_labels(self, names: list[str]) -> dict[str, str]:
        values = " ".join(address for name in names if not name.startswith('"') and (address := iri(name)))
        if not values:
            return {}
        wanted = ", ".join(
            literal(language) for language in dict.fromkeys((self.language, "en", "", *SHARED))
        )
        preferred = " ".join(f"<{name}>" for name in LABELS)
        # Latin before English: names of species are the same in every language
        order = (self.language, "", "la", "en")
        best: dict[str, tuple[int, int, str]] = {}
        for row in self.endpoint.select(
            f"SELECT ?e ?p ?l WHERE {{ VALUES ?e {{ {values} }} VALUES ?p {{ {preferred} }} "
            f"{self._in_graphs('?e ?p ?l')} FILTER(LANG(?l) IN ({wanted})) }}",
            "e p l",
        ):
            if row["p"]["value"] not in _PREFERRED:  # some endpoints return more than VALUES allows
                continue
            language = row["l"].get("xml:lang", "").lower()
            language = "" if language in SHARED and language != "la" else language
            place = order.index(language) if language in order else len(order)
            offer = (place, LABELS.index(row["p"]["value"]), " ".join(row["l"]["value"].split()))
            name = row["e"]["value"]
            best[name] = min(offer, best.get(name, offer))
        return {name: offer[2] for name, offer in best.items()}

    def names(self, entities: Ints) -> list[str]:
        return [self._names[entity] for entity in np.asarray(entities).tolist()]

    def degrees(self, entities: Ints) -> Ints:
        """Number of facts returned so far for each entity, without a request; a lower bound of its degree."""
        counts = [len(self._degrees.get(entity, ())) for entity in np.asarray(entities).tolist()]
        return np.array(counts, dtype=np.int32)

    def _id(self, name: str) -> int:
        if name not in self._ids:
            self._ids[name] = len(self._names)
            self._names.append(name)
        return self._ids[name]


def _parts(items: list, size: int) -> Iterator[list]:  # type: ignore[type-arg]
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _relation(row: Binding) -> str:
    return joined(row["r"]["value"], row["q"]["value"]) if "q" in row else row["r"]["value"]


_SAID = "?h ?r ?t FILTER(isIRI(?h) && !isBlank(?t))"
_THROUGH = f"?h ?r ?b . ?b ?q ?t FILTER(isIRI(?h) && isBlank(?b) && !isBlank(?t) && ?q != <{_TYPE}>)"
_SHAPES = tuple((shape, end) for shape in (_SAID, _THROUGH) for end in ("?h", "?t"))
"""Patterns of facts, direct or through a blank node, each with the variable that is bound."""
_SCATTERED = """SELECT ?s WHERE { { SELECT ?s ?p ?o WHERE { GRAPH ?g { ?s ?p ?o } } LIMIT 1000 }
  FILTER NOT EXISTS { ?s ?p ?o } } LIMIT 1"""
_PROPERTIES = f"""SELECT ?e ?x WHERE {{ VALUES ?e {{ $VALUES }}
  VALUES ?p {{ <{WIKIBASE}directClaim> <{WIKIBASE}qualifier> }} ?x ?p ?e }}"""
_SCAN = r"""SELECT ?e ?p ?k WHERE {
  { VALUES ?p { $LABELS } ?e ?p ?l
    BIND(REPLACE(REPLACE(LCASE(STR(?l)), "[^\\p{L}\\p{N}'’]+", " "), "^ | $", "") AS ?k) }
  UNION
  { { SELECT DISTINCT ?e WHERE { { ?e ?q ?x } UNION { ?x ?q ?e } FILTER(isIRI(?e)) } }
    FILTER NOT EXISTS { VALUES ?p { $LABELS } ?e ?p ?any }
    BIND(REPLACE(STR(?e), "^.*[/#:]([^/#:]+)[/#]?$", "$1") AS ?local)
    BIND(LCASE(REPLACE(REPLACE(?local, "([a-z0-9])([A-Z])", "$1 $2"), "[_-]+", " ")) AS ?k) }
  VALUES ?k { $KEYS }
}"""

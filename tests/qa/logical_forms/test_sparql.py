"""What a form denotes here is what its SPARQL denotes in Oxigraph, over random graphs and forms; over an endpoint the
query is what runs."""

from __future__ import annotations

import random
import re

import pyoxigraph as ox
import pytest
from support.sparql_server import serve

from kgqa.graph.sparql import SparqlGraph
from kgqa.graph.storage.store import GraphStore
from kgqa.qa.compute import execute_form
from kgqa.qa.logical_forms.execute import execute
from kgqa.qa.logical_forms.graph_facts import GraphFacts
from kgqa.qa.logical_forms.language import (
    Aggregate,
    And,
    Class,
    Compare,
    Count,
    Difference,
    Entities,
    Exists,
    Extreme,
    Filter,
    Form,
    Hop,
    Join,
    Minus,
    Relative,
    SetForm,
)
from kgqa.qa.logical_forms.sparql import to_sparql, written
from kgqa.types import InputError, Triple

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
NARROWER = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
XSD = "http://www.w3.org/2001/XMLSchema#"
VALUES = {
    "int": lambda rng: f'"{rng.randint(1, 9)}"^^<{XSD}integer>',
    "dec": lambda rng: f'"{rng.randint(1, 90) / 10}"^^<{XSD}decimal>',
    "day": lambda rng: f'"{rng.randint(1990, 2024)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"^^<{XSD}date>',
    "moment": lambda rng: f'"2010-01-01T{rng.randint(10, 20)}:30:00"^^<{XSD}dateTime>',
    "year": lambda rng: f'"{rng.randint(1990, 2024)}"^^<{XSD}gYear>',
    "kg": lambda rng: f'"{rng.randint(1, 30)} kg"',
    "mixed": lambda rng: f'"{rng.randint(1, 30)} {rng.choice(["kg", "g"])}"',
    "text": lambda rng: f'"{rng.choice(["red", "dark red", "blue"])}"',
    "flag": lambda rng: f'"{rng.choice(["true", "false"])}"^^<{XSD}boolean>',
}
LIMITS = {
    "int": ["3", "5"],
    "dec": ["2.5", "6"],
    "day": ["2005", "2010-05", "3 May 2010"],
    "moment": ["14:30", "3 pm", "2010"],
    "year": ["2005"],
    "kg": ["9 kg", "12", "8000 g"],
    "mixed": ["9 kg", "12 g"],
    "text": ["red", "Blue"],
    "flag": ["true"],
}


def random_graph(rng: random.Random) -> list[Triple]:
    things = [f"http://x/e{n}" for n in range(12)]
    classes = [f"http://x/C{n}" for n in range(4)]
    found = {
        Triple(c, NARROWER, rng.choice(classes[n + 1 :]))
        for n, c in enumerate(classes[:-1])
        if rng.random() < 0.7
    }
    found |= {Triple(thing, RDF_TYPE, rng.choice(classes)) for thing in things}
    for _ in range(25):
        head, tail = rng.sample(things, 2)  # a store keeps no fact of a thing and itself
        found.add(Triple(head, f"http://x/r{rng.randint(0, 2)}", tail))
    for thing in things:
        for kind, make in VALUES.items():
            for _ in range(rng.choice([0, 1, 1, 1, 2])):
                found.add(Triple(thing, f"http://x/{kind}", make(rng)))
    return sorted(found, key=lambda t: (t.head, t.relation, t.tail))


class Maker:
    """Random forms over a graph."""

    def __init__(self, rng: random.Random, graph: GraphStore) -> None:
        self.rng = rng
        self.relation = {relation.name: number for number, relation in enumerate(graph.relations)}
        self.things = [int(e) for e in graph.ids([f"http://x/e{n}" for n in range(12)])]
        self.classes = [int(e) for e in graph.ids([f"http://x/C{n}" for n in range(4)]) if e >= 0]

    def path(self, kind: str) -> tuple[Hop, ...]:
        return (Hop(self.relation[f"http://x/{kind}"]),)

    def link(self) -> tuple[Hop, ...]:
        steps = [
            Hop(self.relation[f"http://x/r{self.rng.randint(0, 2)}"], self.rng.random() < 0.5)
            for _ in range(self.rng.choice([1, 1, 2]))
        ]
        return tuple(steps)

    def set(self, depth: int) -> SetForm:
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            if rng.random() < 0.5:
                return Class(tuple(rng.sample(self.classes, rng.randint(1, 2))))
            return Entities(tuple(rng.sample(self.things, rng.choice([1, 1, 2, 4]))))
        inner = self.set(depth - 1)
        kind = rng.choice(list(VALUES))
        op = "=" if kind in ("text", "flag") else rng.choice(["<", "<=", "=", ">=", ">"])
        limits = (rng.choice(LIMITS[kind]),)
        if kind == "text" and rng.random() < 0.5:
            op = "contains"
        if kind in ("int", "dec") and rng.random() < 0.2:
            op, limits = rng.choice(["between", "="]), tuple(LIMITS[kind])
        made = [
            lambda: Join(self.link(), inner),
            lambda: And(inner, self.set(depth - 1)),
            lambda: Minus(inner, self.set(depth - 1)),
            lambda: Filter(op, self.path(kind), limits, inner),
            lambda: Filter(rng.choice(["<", "<=", "=", ">=", ">"]), self.link()[:1], ("1",), inner, True),
            lambda: Relative(rng.choice("<>"), self.path(kind), Entities((rng.choice(self.things),)), inner),
            lambda: Extreme(rng.random() < 0.5, self.path(kind), inner, rng.choice([1, 1, 2])),
            lambda: Extreme(rng.random() < 0.5, self.link()[:1], inner, rng.choice([1, 1, 2]), True),
        ]
        return rng.choice(made)()

    def form(self) -> Form:
        rng, kind = self.rng, self.rng.choice(list(VALUES))
        source = self.set(rng.choice([1, 2, 2, 3]))
        one, two = (Entities((e,)) for e in rng.sample(self.things, 2))
        made = [
            lambda: source,
            lambda: Count(source),
            lambda: Exists(source),
            lambda: Aggregate(rng.choice(["SUM", "AVG", "MIN", "MAX"]), self.path(kind), source),
            lambda: Compare(rng.choice(["<", ">", "="]), self.path(kind), one, two),
            lambda: Difference(self.path(kind), one, two),
        ]
        return rng.choice(made)()


def asked(store: ox.Store, query: str) -> object:
    answer = store.query(query)
    if isinstance(answer, ox.QueryBoolean):
        return "yes" if bool(answer) else "no"
    rows = list(answer)
    if query.split("WHERE")[0].endswith("SELECT DISTINCT ?x "):
        return frozenset(str(row[0]) for row in rows)
    return None if not rows or rows[0][0] is None else rows[0][0].value


def compare(seed: int, forms: int) -> tuple[int, int]:
    """Forms that were executed, and those of them that SPARQL said too."""
    rng = random.Random(seed)
    triples = random_graph(rng)
    graph = GraphStore.from_triples(triples, name="random")
    store = ox.Store()
    data = "\n".join(f"{written(t.head)} {written(t.relation)} {written(t.tail)} ." for t in triples)
    store.load(data.encode(), format=ox.RdfFormat.TURTLE)
    facts, maker, done, reported = GraphFacts(graph), Maker(rng, graph), 0, 0
    for _ in range(forms):
        form = maker.form()
        result = execute(facts, form)
        if result is None:
            continue
        done += 1
        query = to_sparql(facts, form)
        if not query:
            continue
        reported += 1
        found = asked(store, query)
        if result.is_set:
            expected = frozenset(written(facts.name(e)) for e in result.members)
            assert found == expected, (form, query)
        elif isinstance(form, Aggregate | Difference):
            number = re.match(r"-?[\d.]+", result.text)
            if (
                isinstance(found, str) and "-" not in found[1:] and number is not None
            ):  # dates are written in words
                assert float(number[0]) == pytest.approx(float(found), rel=1e-5), (form, query, result)
        else:
            assert found == result.text, (form, query)
    return done, reported


@pytest.mark.parametrize("seed", range(8))
def test_forms_and_their_sparql_denote_the_same(seed: int) -> None:
    done, reported = compare(seed, 130)
    assert done > 60
    assert reported > 0.8 * done


LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
DATE = "<http://www.w3.org/2001/XMLSchema#date>"
LAMPS = "\n".join(
    f':l{n} a :Lamp ; {LABEL} "lamp {n}" ; :height {n % 7 + 1} ; :weight "{n + 1} kg" ;'
    f" :stands :{'Quay' if n % 3 else 'Mole'} ;"
    f' :lit "19{50 + n}-03-01"^^{DATE} .'
    for n in range(30)
)
TURTLE = f"""@prefix : <http://x/> .
:Lamp {LABEL} "lamp" . :Quay {LABEL} "Quay" . :Mole {LABEL} "Mole" .
{LAMPS}
"""
FORMS = {
    '(JOIN stands "Mole")': "lamp 0",
    '(AND (CLASS "lamp") (JOIN stands "Mole"))': "lamp 0",
    '(MINUS (CLASS "lamp") (JOIN stands "Quay"))': "lamp 0",
    '(FILTER > height 6 (JOIN stands "Quay"))': "lamp 13",
    '(FILTER between weight "3 kg" "4 kg" (CLASS "lamp"))': "lamp 2",
    '(ARGMAX weight (CLASS "lamp"))': "lamp 29",
    '(FILTER > (COUNT (R stands)) "15" (SET "Quay" "Mole"))': "Quay",
    '(FILTER > weight (VALUES weight "lamp 28") (CLASS "lamp"))': "lamp 29",
    '(ARGMIN lit (CLASS "lamp") 2)': "lamp 1",
    '(ARGMAX (COUNT (R stands)) (SET "Quay" "Mole"))': "Quay",
    '(JOIN (R stands) (ARGMIN weight (CLASS "lamp")))': "Mole",
    '(COUNT (JOIN stands "Quay"))': "20",
    '(SUM height (CLASS "lamp"))': "115",
    '(AVG weight (CLASS "lamp"))': "15.5 kg",
    '(MAX weight (CLASS "lamp"))': "30 kg",
    '(MIN lit (CLASS "lamp"))': "1 March 1950",
    '(EXISTS (AND "lamp 3" (JOIN stands "Quay")))': "no",
    '(EVERY (CLASS "lamp") (JOIN stands "Quay"))': "no",
    '(EVERY (JOIN stands "Quay") (FILTER > weight "1 kg" (CLASS "lamp")))': "yes",
    '(COUNT (FILTER = lit "1 March" (CLASS "lamp")))': "30",
    '(COMPARE > (VALUES weight "lamp 4") (VALUES weight "lamp 3"))': "yes",
    '(DIFFERENCE (VALUES weight "lamp 9") (VALUES weight "lamp 4"))': "5 kg",
}


@pytest.mark.parametrize(("form", "expected"), FORMS.items(), ids=FORMS)
def test_the_query_that_is_shown_is_the_one_that_runs(form: str, expected: str) -> None:
    with serve(TURTLE) as server:
        answer = execute_form(form, SparqlGraph(server.url))
        assert (answer.text or "").split(", ")[0] == expected
        assert answer.evidence.query in server.queries
        assert answer.evidence.paths or "COMPARE" in form or expected == "no"


def test_what_takes_too_many_facts_is_asked_of_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.qa.logical_forms.graph_facts.MAX_FACTS", 5)
    with serve(TURTLE) as server:
        answer = execute_form('(AND (CLASS "lamp") (JOIN stands "Mole"))', SparqlGraph(server.url))
        assert len(answer.items) == 10
        assert execute_form('(EXISTS (JOIN stands "Quay"))', SparqlGraph(server.url)).text == "yes"


def test_what_sparql_cannot_say_is_computed_of_the_facts() -> None:
    with serve(TURTLE) as server:
        answer = execute_form(
            '(DIFFERENCE (VALUES lit "lamp 1") (VALUES lit "lamp 0"))', SparqlGraph(server.url)
        )
        assert answer.text == "365 days" and not answer.evidence.query


def test_an_endpoint_that_says_neither_yes_nor_no_is_one_line() -> None:
    with serve(TURTLE) as server, pytest.raises(InputError, match="no Boolean result"):
        SparqlGraph(server.url).endpoint.ask("SELECT ?x WHERE { ?x ?y ?z } LIMIT 1")


def test_a_graph_of_ones_own_is_not_asked() -> None:
    assert GraphFacts(GraphStore.from_triples([])).ask is None

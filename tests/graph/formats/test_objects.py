"""Graphs as Python programs hold them."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

import kgqa
from kgqa.graph.formats.source_files import Tally
from kgqa.graph.formats.tables import read_object
from kgqa.graph.load import open_graph
from kgqa.types import InputError, Triple


def facts(graph: Any) -> set[tuple[str, str, str]]:
    batches = list(read_object(graph, Tally()))
    return {row for b in batches for row in zip(b.heads, b.relations, b.tails, strict=True)}


def labels(graph: Any) -> dict[str, str]:
    return {label.name: label.text for b in read_object(graph, Tally()) for label in b.labels}


def test_triples() -> None:
    given = [("Otter", "eats", "trout"), Triple("Otter", "born", "Elm"), ("Otter", "weight", np.float64(8.5))]
    assert facts(iter([*given, ("Otter", "seen", date(2024, 5, 1))])) == {
        ("Otter", "eats", "trout"),
        ("Otter", "born", "Elm"),
        ("Otter", "weight", '"8.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'),
        ("Otter", "seen", '"2024-05-01"^^<http://www.w3.org/2001/XMLSchema#date>'),
    }


def test_networkx() -> None:
    graph = networkx.MultiDiGraph()
    graph.add_node(1, label="Otter")
    graph.add_node(2, label="trout")
    graph.add_edge(1, 2, relation="eats")
    graph.add_edge(1, 2, key="http://x/hunts")
    one, two = (f'"{n}"^^<http://www.w3.org/2001/XMLSchema#integer>' for n in (1, 2))
    assert facts(graph) == {(one, "eats", two), (one, "http://x/hunts", two)}
    plain = networkx.DiGraph()
    plain.add_edge("Otter", "trout", label="eats")
    assert facts(plain) == {("Otter", "eats", "trout")}
    plain.add_node("Otter", label="otter", weight=8.5, prey=["eel", "crab"], nickname=None)
    assert facts(plain) - {("Otter", "eats", "trout")} == {
        ("Otter", "weight", '"8.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'),
        ("Otter", "prey", "eel"),
        ("Otter", "prey", "crab"),
    }
    neo4j = networkx.MultiDiGraph()
    neo4j.add_edge("Otter", "trout", type="eats")
    assert facts(neo4j) == {("Otter", "eats", "trout")}
    plain.add_edge("Otter", "Elm")
    with pytest.raises(InputError, match="edge 'Otter' to 'Elm': no relation"):
        facts(plain)


def test_rdflib() -> None:
    rdflib = pytest.importorskip("rdflib")
    text = '@prefix : <http://x/> . :o a :Otter ; :eats :t ; :weight 8.5 . :t <http://schema.org/name> "trout"@en .'
    graph = rdflib.Graph().parse(data=text, format="turtle")
    assert ("http://x/o", "http://x/eats", "http://x/t") in facts(graph) and labels(graph)[
        "http://x/t"
    ] == "trout"
    data = rdflib.Dataset()
    data.graph("http://x/g").parse(data=text, format="turtle")
    assert facts(data) == facts(graph)
    assert facts(list(graph)) >= {("http://x/o", "http://x/eats", "http://x/t")}


def test_tables() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    rows = {
        "note": ["", "", ""],
        "object": ["trout", None, "eel"],
        "subject": ["Otter"] * 3,
        "predicate": ["eats"] * 3,
    }
    wanted = {("Otter", "eats", "trout"), ("Otter", "eats", "eel")}
    assert facts(pandas.DataFrame(rows)) == facts(pyarrow.table(rows)) == wanted
    assert facts(pandas.DataFrame([["Otter", "eats", "trout"], ["Otter", "eats", "eel"]])) == wanted
    things = pandas.DataFrame({"name": ["Otter", "Eel"], "eats": ["Eel", None]})
    assert facts(things) == {("Otter", "eats", "Eel")}
    assert facts(pandas.DataFrame({"s": ["Otter"], "p": ["eats"], "o": ["trout"]})) == {
        ("Otter", "eats", "trout")
    }
    ages = pandas.DataFrame({"otter": ["Rill", "Fen"], "born in": ["Elm", "Ash"], "age": [3, 5]})
    kind = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    assert {("Rill", kind, "otter"), ("Fen", "born in", '"Ash"')} < facts(ages)
    assert facts(ages.set_index("otter")) == facts(ages) == facts(pyarrow.table(dict(ages)))


@pytest.mark.parametrize(
    "graph", [7, None, {"a": "b"}, b"x", networkx.Graph([(1, 2)]), [("a", "b")], ["abc"], [("a", "", "b")]]
)
def test_anything_else_is_refused_in_one_line(graph: Any) -> None:
    with pytest.raises(InputError, match="pass|write") as caught:
        open_graph(graph)
    assert "\n" not in str(caught.value)


def test_an_answerer_over_triples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    graph = open_graph([("Otter", "eats", "trout")])
    assert graph.labels(graph.ids(["trout"])) == ["trout"] and open_graph(graph) is graph
    with pytest.raises(InputError, match="graph is of type int"):
        kgqa.load(graph=7)

"""Tables of things by columns."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

import kgqa
from kgqa.graph.formats.source_files import Tally
from kgqa.graph.formats.tables import read_csv, read_object, read_workbook
from kgqa.graph.formats.vocabulary import RDF
from kgqa.graph.load import open_graph
from kgqa.graph.storage.import_graph import import_graph
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError, Label, Triple

INTEGER, DECIMAL, DATE = (
    f"^^<http://www.w3.org/2001/XMLSchema#{kind}>" for kind in ("integer", "decimal", "date")
)


def facts(path: Path, text: str, identifier: str = "") -> set[tuple[str, str, str]]:
    path.write_text(text, encoding="utf-8")
    found = list(read_csv(path, Tally(), identifier))
    return {(f.head, f.relation, f.tail) for f in found if isinstance(f, Triple)}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp949"])
def test_a_table_is_read_as_spreadsheets_save_it(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "영화.csv").write_bytes("영화,감독\n갈매기,박바다\n".encode(encoding))
    found = [f for f in read_csv(tmp_path / "영화.csv", Tally()) if isinstance(f, Triple)]
    assert ("갈매기", "감독", '"박바다"') in {(f.head, f.relation, f.tail) for f in found}


def test_a_row_is_a_thing_and_a_header_a_relation(tmp_path: Path) -> None:
    text = (
        "name,height (cm),team,started,speaks,mentor\n"
        "Ada Voss,171.5,Tides,2019-03-04,Dutch; Polish,Rik Oll\n"
        "Rik Oll,180,Tides,31.12.2001,Dutch,\n"
    )
    assert facts(tmp_path / "people.csv", text) == {
        ("Ada Voss", f"{RDF}type", "person"),
        ("Rik Oll", f"{RDF}type", "person"),
        ("Ada Voss", "height (cm)", f'"171.5"{DECIMAL}'),
        ("Rik Oll", "height (cm)", f'"180"{INTEGER}'),
        ("Ada Voss", "team", "Tides"),
        ("Rik Oll", "team", "Tides"),
        ("Ada Voss", "started", f'"2019-03-04"{DATE}'),
        ("Rik Oll", "started", f'"2001-12-31"{DATE}'),
        ("Ada Voss", "speaks", "Dutch"),
        ("Ada Voss", "speaks", '"Polish"'),
        ("Rik Oll", "speaks", "Dutch"),
        ("Ada Voss", "mentor", "Rik Oll"),
    }


def test_keys_and_semicolons(tmp_path: Path) -> None:
    text = 'id;title;borough_id;opened\n1;"Glass; House";2;04/07/1911\n2;Old Mill;1;25/12/1890\n'
    path = tmp_path / "bath_houses.csv"
    found = facts(path, text)
    assert ("bath house 1", "borough", "bath house 2") in found
    assert ("bath house 1", "opened", f'"1911-07-04"{DATE}') in found
    labels = {(f.name, f.text) for f in read_csv(path, Tally()) if isinstance(f, Label)}
    assert labels == {("bath house 1", "Glass; House"), ("bath house 2", "Old Mill")}


def test_lists_in_cells(tmp_path: Path) -> None:
    text = """player,duo partners,plays,notes,home,drinks?
Ann Oak,Bo and Cy Ash,"flute, bass clarinet","small, but loud","Rye, Kent",tea / rum
Bo,"Ann Oak, Cy Ash",harp,"old, with a limp",Rye,tea
Cy Ash,"Ann Oak, Bo, Di",rock and roll,,"Hythe, Kent",rum
"""
    found = {(head, relation, tail.strip('"')) for head, relation, tail in facts(tmp_path / "g.csv", text)}
    assert {tail for head, relation, tail in found if relation == "duo partners"} == {
        "Ann Oak",
        "Bo",
        "Cy Ash",
        "Di",
    }
    assert {tail for head, relation, tail in found if relation == "plays"} == {
        "flute",
        "bass clarinet",
        "harp",
        "rock and roll",
    }
    assert {tail for head, relation, tail in found if relation == "notes"} == {
        "small, but loud",
        "old, with a limp",
    }
    assert {tail for head, relation, tail in found if relation == "home"} == {
        "Rye, Kent",
        "Rye",
        "Hythe, Kent",
    }
    assert {tail for head, relation, tail in found if (head, relation) == ("Ann Oak", "drinks")} == {
        "tea",
        "rum",
    }


def test_tables_read_together_refer_to_each_other(tmp_path: Path) -> None:
    (tmp_path / "dogs.csv").write_text("dog,keeper_id\nRex,2\nOdo,1\n")
    (tmp_path / "keepers.csv").write_text("id,name,walks\n1,Ada,ODO\n2,Rik,Rex\n")
    sources = [tmp_path / "dogs.csv", tmp_path / "keepers.csv"]
    import_graph(sources, tmp_path / "g")
    graph = GraphStore.open(tmp_path / "g")
    (odo, rex), (ada, rik) = graph.ids(["Odo", "Rex"]).tolist(), graph.ids(["keeper 1", "keeper 2"]).tolist()
    heads, relations, tails, *_ = graph.neighbours(graph.ids(["Odo", "Rex"]))
    names = [graph.relations[r].name for r in relations.tolist()]
    assert {(odo, "keeper", ada), (rex, "keeper", rik), (ada, "walks", odo), (rik, "walks", rex)} <= {
        *zip(heads.tolist(), names, tails.tolist(), strict=True)
    }


def test_a_cell_may_have_the_label_of_a_row(tmp_path: Path) -> None:
    (tmp_path / "members.csv").write_text("id,name,mentor\nC1,Ann Oak,\nC2,Bo Lind,Ann Oak\nC3,Di,\nC4,Di,\n")
    (tmp_path / "boards.csv").write_text(
        'board,chair,members\nTraffic,C2,"Ann Oak, Bo Lind"\nParks,Di,Ann Oak\n'
    )
    sources = [tmp_path / "boards.csv", tmp_path / "members.csv"]
    import_graph(sources, tmp_path / "g")
    graph = GraphStore.open(tmp_path / "g")
    boards = graph.neighbours(graph.ids(["Traffic", "Parks", "C2"]))
    names = [graph.relations[r].name for r in boards.relation.tolist()]
    found = {*zip(graph.names(boards.head), names, graph.names(boards.tail), strict=True)}
    assert {
        ("Traffic", "chair", "C2"),
        ("Traffic", "members", "C1"),
        ("Traffic", "members", "C2"),
        ("Parks", "members", "C1"),
        ("Parks", "chair", '"Di"'),
        ("C2", "mentor", "C1"),
    } <= found


def test_another_column_names_the_things(tmp_path: Path) -> None:
    text = "year,ship\n1903,Kittiwake\n1911,Petrel\n"
    assert ("Petrel", "year", f'"1911"{INTEGER}') in facts(tmp_path / "ships.csv", text, "ship")


def test_facts_between_commas(tmp_path: Path) -> None:
    assert facts(tmp_path / "a.csv", 'subject,predicate,object\nSpade,made of,"ash, steel"\n') == {
        ("Spade", "made of", "ash, steel")
    }


@pytest.mark.parametrize(
    ("text", "identifier", "message"),
    [
        ("name,age\nAda,7\n", "nom", "no column 'nom'; its columns are name, age"),
        ("name,age\n", "", "a row below it"),
        ("name\nAda\n", "", "two columns"),
        ("name,age\nAda,7,8\n", "", ":2: 3 cells under 2 headers"),
    ],
)
def test_what_is_no_table_is_one_line(tmp_path: Path, text: str, identifier: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        facts(tmp_path / "a.csv", text, identifier)


def test_a_table_opens_as_any_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "ferries.csv").write_text("ferry,berths\nMoth,12\nWasp,40\n")
    graph = open_graph(tmp_path / "ferries.csv")
    assert isinstance(graph, GraphStore) and graph.edge_count == 4
    assert [len(found) for found in graph.find(["ferry", "Wasp", "40"])] == [1, 1, 1]


def test_a_workbook(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Dogs"
    for row in (["name", "weight"], ["Rex", 12.5], ["Odo", 7]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    found = [f for f in read_workbook(tmp_path / "a.xlsx", Tally()) if isinstance(f, Triple)]
    assert {(f.head, f.tail) for f in found if f.relation == "weight"} == {
        ("Rex", f'"12.5"{DECIMAL}'),
        ("Odo", f'"7"{INTEGER}'),
    }
    sheet = book.create_sheet("Owners")
    for row in (["name", "dog"], ["Ada", "Odo"], ["Rik", "Rex"]):
        sheet.append(row)
    book.save(tmp_path / "c.xlsx")
    found = [f for f in read_workbook(tmp_path / "c.xlsx", Tally()) if isinstance(f, Triple)]
    assert {(f.head, f.tail) for f in found if f.relation == "dog"} == {("Ada", "Odo"), ("Rik", "Rex")}
    (tmp_path / "b.xlsx").write_bytes(b"PK nonsense")
    with pytest.raises(InputError, match="not an Excel workbook"):
        list(read_workbook(tmp_path / "b.xlsx", Tally()))


# Graphs as Python programs hold them.


def object_facts(graph: Any) -> set[tuple[str, str, str]]:
    batches = list(read_object(graph, Tally()))
    return {row for b in batches for row in zip(b.heads, b.relations, b.tails, strict=True)}


def labels(graph: Any) -> dict[str, str]:
    return {label.name: label.text for b in read_object(graph, Tally()) for label in b.labels}


def test_triples() -> None:
    given = [("Otter", "eats", "trout"), Triple("Otter", "born", "Elm"), ("Otter", "weight", np.float64(8.5))]
    assert object_facts(iter([*given, ("Otter", "seen", date(2024, 5, 1))])) == {
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
    assert object_facts(graph) == {(one, "eats", two), (one, "http://x/hunts", two)}
    plain = networkx.DiGraph()
    plain.add_edge("Otter", "trout", label="eats")
    assert object_facts(plain) == {("Otter", "eats", "trout")}
    plain.add_node("Otter", label="otter", weight=8.5, prey=["eel", "crab"], nickname=None)
    assert object_facts(plain) - {("Otter", "eats", "trout")} == {
        ("Otter", "weight", '"8.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'),
        ("Otter", "prey", "eel"),
        ("Otter", "prey", "crab"),
    }
    neo4j = networkx.MultiDiGraph()
    neo4j.add_edge("Otter", "trout", type="eats")
    assert object_facts(neo4j) == {("Otter", "eats", "trout")}
    plain.add_edge("Otter", "Elm")
    with pytest.raises(InputError, match="edge 'Otter' to 'Elm': no relation"):
        object_facts(plain)


def test_rdflib() -> None:
    rdflib = pytest.importorskip("rdflib")
    text = '@prefix : <http://x/> . :o a :Otter ; :eats :t ; :weight 8.5 . :t <http://schema.org/name> "trout"@en .'
    graph = rdflib.Graph().parse(data=text, format="turtle")
    assert ("http://x/o", "http://x/eats", "http://x/t") in object_facts(graph) and labels(graph)[
        "http://x/t"
    ] == "trout"
    data = rdflib.Dataset()
    data.graph("http://x/g").parse(data=text, format="turtle")
    assert object_facts(data) == object_facts(graph)
    assert object_facts(list(graph)) >= {("http://x/o", "http://x/eats", "http://x/t")}


def test_tables() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    rows = {
        "note": ["", "", ""],
        "object": ["trout", None, "eel"],
        "subject": ["Otter"] * 3,
        "predicate": ["eats"] * 3,
    }
    wanted = {("Otter", "eats", "trout"), ("Otter", "eats", "eel")}
    assert object_facts(pandas.DataFrame(rows)) == object_facts(pyarrow.table(rows)) == wanted
    assert object_facts(pandas.DataFrame([["Otter", "eats", "trout"], ["Otter", "eats", "eel"]])) == wanted
    things = pandas.DataFrame({"name": ["Otter", "Eel"], "eats": ["Eel", None]})
    assert object_facts(things) == {("Otter", "eats", "Eel")}
    assert object_facts(pandas.DataFrame({"s": ["Otter"], "p": ["eats"], "o": ["trout"]})) == {
        ("Otter", "eats", "trout")
    }
    ages = pandas.DataFrame({"otter": ["Rill", "Fen"], "born in": ["Elm", "Ash"], "age": [3, 5]})
    kind = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    assert {("Rill", kind, "otter"), ("Fen", "born in", '"Ash"')} < object_facts(ages)
    assert (
        object_facts(ages.set_index("otter")) == object_facts(ages) == object_facts(pyarrow.table(dict(ages)))
    )


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

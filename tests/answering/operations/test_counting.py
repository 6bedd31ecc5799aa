import pyoxigraph
import pytest

from kgqa.answering.operations import lookup
from kgqa.graph.opening import open_graph
from kgqa.types import Source


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many ships does the Island Line own?", "2"),
        ("How many ships are there?", "2"),
        ("How many people does the Island Line employ?", "40"),
    ],
)
def test_things_are_counted_and_stored_numbers_are_told(reader, question: str, expected: str) -> None:
    answer = reader.ask(question)
    assert answer.text == expected and answer.source is Source.KNOWLEDGE


def test_how_many_there_are_in_a_passage_is_no_count_of_facts(reader) -> None:
    answer = reader.ask("How many ships are there?", "Nobody knew how many ships the Island Line had lost.")
    assert answer.text is None and answer.source is not Source.KNOWLEDGE


def test_the_kind_that_is_asked_for_is_counted_alone(reader) -> None:
    answer = reader.ask("How many ships does the Island Line own?")
    tails = {fact.tail.rsplit("/", 1)[1] for fact in answer.evidence.triples(answer.evidence.paths[0])}
    assert tails == {"Gull", "Tern"}


MENU = """
@prefix : <http://menu.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Cheese rdfs:label "cheese" . :Hard rdfs:subClassOf :Cheese ; rdfs:label "hard cheese" .
:Soft rdfs:subClassOf :Cheese ; rdfs:label "soft cheese" . :Blue rdfs:subClassOf :Soft ; rdfs:label "blue cheese" .
:a a :Hard ; rdfs:label "Arvo" ; :madeBy :lom ; :isSmoked true . :b a :Soft ; rdfs:label "Brel" ; :isSmoked false .
:c a :Blue ; rdfs:label "Cobal" ; :madeBy :lom ; :isSmoked true . :lom rdfs:label "Lom Dairy" ; :floorNumber 1 .
:CityBike rdfs:label "city bike" . :RoadBike rdfs:label "road bike" . :x a :CityBike . :y a :RoadBike . :z a :RoadBike .
:r1 :crew :p1, :p2 ; :mass 9800 ; rdfs:label "Albatross" . :p1 rdfs:label "Peter Vale" . :p2 rdfs:label "Anna Kent" .
:r1 :cargo :flour, :salt, :tea .
"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many cheeses are there?", "3"),
        ("How many cheeses does Lom Dairy make?", "2"),
        ("How many cheeses are smoked?", "2"),
        ("How many smoked cheeses are there?", "2"),
        ("How many soft cheeses are there?", "2"),
        ("How many bikes are there?", "3"),
        ("How many people flew on the Albatross?", "2"),
    ],
)
def test_what_is_of_a_narrower_kind_is_counted_too(tmp_path, over, question: str, expected: str) -> None:
    (tmp_path / "menu.ttl").write_text(MENU, encoding="utf-8")
    answer = over(open_graph(tmp_path / "menu.ttl")).ask(question)
    assert answer.text == expected


def test_an_adjective_that_the_graph_does_not_tell_is_not_passed_over(tmp_path, over) -> None:
    (tmp_path / "menu.ttl").write_text(MENU, encoding="utf-8")
    assert over(open_graph(tmp_path / "menu.ttl")).ask("How many expensive bikes are there?").text is None


def test_the_query_counts_the_same(tmp_path, over) -> None:
    (tmp_path / "menu.ttl").write_text(MENU, encoding="utf-8")
    answer = over(open_graph(tmp_path / "menu.ttl")).ask("How many cheeses are smoked?")
    store = pyoxigraph.Store()
    store.load(MENU, format=pyoxigraph.RdfFormat.TURTLE)
    assert [row[0].value for row in store.query(answer.evidence.query)] == ["2"]


def test_many_things_are_all_counted_and_too_many_are_not(tmp_path, over, monkeypatch) -> None:
    lines = [f':s{n} a :Ship ; rdfs:label "Ship {n}" .' for n in range(2_100)]
    head = "@prefix : <http://x.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    (tmp_path / "fleet.ttl").write_text(
        "\n".join([head, ':Ship rdfs:label "ship" .', *lines]), encoding="utf-8"
    )
    reader = over(open_graph(tmp_path / "fleet.ttl"))
    assert reader.ask("How many ships are there?").text == "2100"
    monkeypatch.setattr(lookup, "MOST_COUNTED", 2_000)
    assert reader.ask("How many ships are there?").text != "2000"

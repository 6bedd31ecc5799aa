import pytest

from kgqa.graph.opening import open_graph
from kgqa.types import Source


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which is longer, Gull or Tern?", "Gull"),
        ("Which ship is older, Gull or Tern?", "Gull"),
        ("Which was built later, Gull or Tern?", "Tern"),
        ("Is Tern older than Gull?", "no"),
        ("Which is the shortest ship?", "Tern"),
    ],
)
def test_values_are_put_in_order(reader, question: str, expected: str) -> None:
    answer = reader.ask(question)
    assert answer.text == expected and answer.source is Source.KNOWLEDGE


def test_what_cannot_be_compared_stays_unanswered(reader) -> None:
    assert reader.ask("Which is longer, Gull or the East Pier?").text is None


def test_what_both_share_does_not_stand_in_the_way(over, tmp_path) -> None:
    path = tmp_path / "schools.tsv"
    facts = ["head relation tail", "Alba belongs Uni", "Bern belongs Uni", "Uni opened 1850"]
    facts += ["Alba began 1901", "Bern began 1899"]
    path.write_text("".join(fact.replace(" ", "\t") + "\n" for fact in facts), encoding="utf-8")
    assert over(open_graph(path)).ask("Which opened first, Alba or Bern?").text == "Bern"


def test_values_of_the_measure_that_is_asked_for_are_compared(over, tmp_path) -> None:
    path = tmp_path / "dishes.tsv"
    facts = ["head relation tail", "Stew serves 2", "Stew cooks PT3H", "Soup serves 8", "Soup cooks PT20M"]
    path.write_text("".join(fact.replace(" ", "\t") + "\n" for fact in facts), encoding="utf-8")
    assert over(open_graph(path)).ask("Which takes longer, Stew or Soup?").text == "Stew"


def test_the_largest_of_all_that_are_of_narrower_kinds(over, tmp_path) -> None:
    path = tmp_path / "bikes.ttl"
    facts = "@prefix : <http://bikes.example/> . :Glide a :CityBike ; :price 749 . :Strada a :RoadBike ; :price 1899 ."
    path.write_text(facts, encoding="utf-8")
    answerer = over(open_graph(path))
    assert answerer.ask("Which is the cheapest bike?").text == "Glide"
    assert answerer.ask("Which bike is the dearest?").text == "Strada"
    assert answerer.ask("Which is the cheapest car?").text is None


def test_what_there_is_most_of_may_be_a_kind_too(over, tmp_path) -> None:
    path = tmp_path / "shows.ttl"
    facts = (
        "@prefix : <http://s.example/> . :Gale a :Show ; :episodeCount 9 . :Dune a :Show ; :episodeCount 3 ."
    )
    path.write_text(facts + " :E1 a :Episode ; :partOf :Dune .", encoding="utf-8")
    assert over(open_graph(path)).ask("Which show has the most episodes?").text == "Gale"


def test_an_adjective_is_compared_by_what_its_values_are_called(over, tmp_path) -> None:
    path = tmp_path / "bikes.tsv"
    facts = [
        "head;relation;tail",
        "Glide;price;749",
        "Glide;weight;14",
        "Strada;price;1899",
        "Strada;weight;8",
    ]
    path.write_text("".join(fact.replace(";", "\t") + "\n" for fact in facts), encoding="utf-8")
    ask = over(open_graph(path)).ask
    assert ask("Which is lighter, Glide or Strada?").text == "Strada"
    assert ask("Which is cheaper, Glide or Strada?").text == "Glide"


def test_where_several_are_first_another_relation_is_compared(over, tmp_path) -> None:
    path = tmp_path / "bikes.ttl"
    facts = """@prefix : <http://b.example/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    :A a :Bike ; :new "1990"^^xsd:gYear ; :releaseDate "2020-01-01"^^xsd:date .
    :B a :Bike ; :new "1990"^^xsd:gYear ; :releaseDate "2021-01-01"^^xsd:date ."""
    path.write_text(facts, encoding="utf-8")
    assert over(open_graph(path)).ask("Which is the newest bike?").text == "B"

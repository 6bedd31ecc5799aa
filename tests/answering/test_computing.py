from dataclasses import replace
from pathlib import Path

from kgqa.answering.computing import compute
from kgqa.answering.draft import Draft
from kgqa.graph.overlay import Fact, OverlayGraph
from kgqa.graph.serving import serve
from kgqa.graph.sparql import SparqlGraph
from kgqa.types import Question, Source, Subgraph, Triple

NAME = "http://fleet.example/"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def test_the_facts_are_the_evidence_and_the_query_says_the_same(reader, file: Path) -> None:
    import pyoxigraph

    answer = reader.ask("How many ships does the Island Line own?")
    facts = answer.evidence.triples(answer.evidence.paths[0])
    assert {fact.tail for fact in facts} == {f"{NAME}Gull", f"{NAME}Tern"}
    store = pyoxigraph.Store()
    store.load(path=file)
    assert next(iter(store.query(answer.evidence.query)))[0].value == "2"
    longer = reader.ask("Which ship is older, Gull or Tern?")
    assert longer.candidates[0].concept == f"{NAME}Gull"
    assert next(iter(store.query(longer.evidence.query)))[0].value == f"{NAME}Gull"
    assert bool(store.query(reader.ask("Was Ada Berg born in Oslo?").evidence.query))
    assert not bool(store.query(reader.ask("Is the East Pier a ship?").evidence.query))


def test_an_edit_changes_the_answer(reader, over) -> None:
    owned = Fact(Triple(f"{NAME}Line", f"{NAME}owns", "new:Skua"), ("Island Line", "Skua"))
    ship = Fact(Triple("new:Skua", TYPE, f"{NAME}Ship"), ("Skua", "ship"))
    added = OverlayGraph(reader.graph, [owned, ship])
    assert over(added).ask("How many ships does the Island Line own?").text == "3"
    gull = Fact(Triple(f"{NAME}Line", f"{NAME}owns", f"{NAME}Gull"), ("Island Line", "Gull"))
    struck = OverlayGraph(reader.graph, (), [gull])
    assert over(struck).ask("Does the Island Line own Gull?").text == "no"


def test_an_endpoint_answers_the_same(reader, file: Path, over) -> None:
    questions = [
        "How many ships does the Island Line own?",
        "Is the East Pier a ship?",
        "Does Tern take cars?",
        "Is Tern older than Gull?",
        "Which is the shortest ship?",
    ]
    with serve(file, reader.graph) as url:
        remote = over(SparqlGraph(url))
        assert [remote.ask(text).text for text in questions] == [reader.ask(text).text for text in questions]


def test_what_is_not_computed_stays_as_it_was(reader) -> None:
    assert reader.ask("Who founded the Island Line?").text is None
    said = reader.ask("Is Gull a ship?", "Gull is a bird.", Source.PASSAGE)
    assert said.source is Source.PASSAGE
    choosing = Draft(Question("Is Gull a ship?", ("yes", "no")))
    assert compute((choosing,), reader.graph, reader.score)[0].computed is None
    nothing = replace(reader.draft(Question("How many xyzzy?")), subgraphs=(Subgraph(),))
    assert compute((nothing,), reader.graph, reader.score)[0].computed is None

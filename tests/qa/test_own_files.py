"""What files that people have hold beside the plain case: for each question the right form, and no other yes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.graph.linking.fuzzy import fuzzy_linker
from kgqa.graph.load import open_graph
from kgqa.qa.compute import _with_names
from kgqa.qa.logical_forms.enumerate import Enumerator
from kgqa.qa.logical_forms.graph_facts import GraphFacts
from kgqa.qa.logical_forms.graph_index import GraphIndex
from kgqa.qa.logical_forms.mentions import question_mentions
from kgqa.qa.logical_forms.rank import RankedForm, shortlist
from kgqa.types import Question

PREFIXES = """@prefix : <http://example.org/harbour#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <http://schema.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
CREW = """:ada rdfs:label "Ada Voss" ; :trusts :rik ; :holdsLicence :coast . :rik rdfs:label "Rik Oll" .
:una rdfs:label "Una Brede" . :coast rdfs:label "coastal licence" . :trusts a owl:ObjectProperty ;
rdfs:label "trusts" .
:fears a owl:ObjectProperty ; rdfs:label "fears" ."""
GIVEN = """<http://example.org/p/lou-marsh> schema:givenName "Lou" ; schema:familyName "Marsh" ;
  schema:additionalName "Odile" ; schema:knows <http://example.org/p/kai-berg> .
<http://example.org/p/kai-berg> schema:givenName "Kai" ; schema:familyName "Berg" .
<http://example.org/p/una-brede> schema:givenName "Una" ; schema:familyName "Brede" ."""
LATIN = """:q1 rdfs:label "Ricardus Ollius"@la , "Rik Oll"@mul ; :town :q2 .
:q2 rdfs:label "Portus Novus"@la , "Newport"@mul .
:town rdfs:label "home town"@en ."""
ABROAD = """:RyeBread a owl:Class ; rdfs:label "Roggenbrot"@de ; :madeOf :RyeFlour .
:RyeFlour rdfs:label "Roggenmehl"@de .
:Baguette rdfs:label "Baguette"@de ; :madeOf :WheatFlour . :WheatFlour rdfs:label "Weizenmehl"@de ."""
THESAURUS = """:c1 skos:prefLabel "buoy"@en , "Boje"@de , "bouée"@fr ; skos:altLabel "floating mark"@en ;
skos:broader :c0 ;
  skos:definition "A float that is moored to mark a channel." .
:c0 skos:prefLabel "aid to navigation"@en , "Seezeichen"@de ."""
CAPITALS = """:Ewan_McFarlane a :Helmsman ; :owns :iPad ; :boat :YouTube . :Iona_MacCrae a :Helmsman ;
:boat :YouTube ."""
LETTERS = """:ROV a owl:Class . :r1 a :ROV . :r2 a :ROV . :s1 :tows :r1 , :r2 ."""
KINDS = """:Boat rdfs:label "boat" . :Yacht rdfs:label "yacht" ; rdfs:subClassOf :Boat .
:Ketch rdfs:label "ketch" ;
rdfs:subClassOf :Yacht . :a a :Yacht ; rdfs:label "Moth" . :b a :Ketch ; rdfs:label "Wasp" . :d a :Boat ;
rdfs:label "Gnat" ."""
STATED = """:w rdfs:label "The Wet Ropes" ; :numberOfSingers 7 ; :singer :x , :y .
:x rdfs:label "Bo Tarn" . :y rdfs:label "Di Low" ."""
BOTH = """:v1 a :Voyage ; rdfs:label "Grey Run" ; :sailor :x , :y . :v2 a :Voyage ;
rdfs:label "Last Run" ; :sailor :x .
:x rdfs:label "Bo Tarn" . :y rdfs:label "Di Low" ."""

EVENTS = """:h rdfs:label "long harp" .
:b7 a :Production ; :hasProduced :h ; :carriedOutBy :n ; :tookPlaceAt :l .
:b7 :timeSpan :t9 . :t9 :begin "1702"^^xsd:gYear . :n rdfs:label "Nora Pike" .
:l rdfs:label "Leith" . :b8 a :Production ; :hasProduced :g ;
:carriedOutBy :o . :g rdfs:label "small harp" . :o rdfs:label "Otto Rill" ."""
MEASURES = """:c rdfs:label "keel weight" ; :quantityValue :q1 .
:q1 :numericValue 4.5 ; :unit :tonne . :tonne rdfs:label "tonne" ."""
GEAR = """:bh rdfs:label "Boat hook" ; :ownedBy :u . :u rdfs:label "Una Brede" .
:rope rdfs:label "tar rope" ; :madeOf "tar" .
:f rdfs:label "Forging of the boat hook" ; :forged :bh ; :doneBy :o . :o rdfs:label "Otto Rill" ."""
POSTS = """:n rdfs:label "Nora Pike" ; :post :s1 , :s2 .
:s1 :employer :y ; :since "2009"^^xsd:gYear ; :sureness "high" .
:s2 :employer :z ; :since "2015"^^xsd:gYear . :y rdfs:label "Leith Yard" . :z rdfs:label "Dock Six" ."""


def candidates(folder: Path, turtle: str, question: str) -> tuple[GraphFacts, list[RankedForm]]:
    path = folder / "a.ttl"
    path.write_text(PREFIXES + turtle, encoding="utf-8")
    graph = open_graph(path)
    index, facts = GraphIndex(graph), GraphFacts(graph)
    asked = question_mentions(facts, fuzzy_linker(graph), index, Question(question))
    facts = _with_names(facts, asked)
    return facts, shortlist(facts, asked, Enumerator(facts, asked, index.classes).forms())


def results(folder: Path, turtle: str, question: str) -> list[str]:
    facts, found = candidates(folder, turtle, question)
    return [c.result.text or ", ".join(map(facts.label, facts.by_label(c.result.members))) for c in found]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("turtle", "question", "right"),
    [
        (CREW, "Does Ada Voss trust Rik Oll?", "yes"),
        (CREW, "Does Ada Voss trust Una?", "no"),
        (CREW, "Does Ada Voss trust anybody?", "yes"),
        (GIVEN, "Does Lou know Kai Berg?", "yes"),
        (GIVEN, "Does Lou Marsh know Una?", "no"),
        (GIVEN, "What is Lou's middle name?", "Odile"),
        (LATIN, "Where does Rik Oll live?", "Newport"),
        (LATIN, "Who lives in Newport?", "Rik Oll"),
        (ABROAD, "What is made of rye flour?", "Roggenbrot"),
        (ABROAD, "Is the baguette made of rye flour?", "no"),
        (THESAURUS, "What is a buoy called in German?", "Boje"),
        (THESAURUS, "What is the French word for buoy?", "bouée"),
        (THESAURUS, "What is another name for a buoy?", "floating mark"),
        (THESAURUS, "What is the preferred term for a floating mark?", "buoy"),
        (THESAURUS, "What is the definition of a buoy?", "A float that is moored to mark a channel."),
        (CAPITALS, "Who has the boat YouTube?", "Ewan McFarlane, Iona MacCrae"),
        (CAPITALS, "What does Ewan McFarlane own?", "iPad"),
        (LETTERS, "How many ROVs are there?", "2"),
        (LETTERS, "Which ROVs does s1 tow?", "r1, r2"),
        (KINDS, "How many yachts are there?", "2"),
        (KINDS, "Which yachts are there?", "Moth, Wasp"),
        (KINDS, "Which kinds of boat are there?", "yacht"),
        (STATED, "How many singers do The Wet Ropes have?", "7"),
        (EVENTS, "Who made the long harp?", "Nora Pike"),
        (EVENTS, "Where was the long harp made?", "Leith"),
        (EVENTS, "When was the long harp made?", "1702"),
        (EVENTS, "What did Otto Rill make?", "small harp"),
        (EVENTS, "How many productions are there?", "2"),
        (MEASURES, "What is the value of the keel weight?", "4.5"),
        (MEASURES + ':q1 rdfs:label "weight of the keel" .', "How heavy is the keel weight?", "4.5"),
        (POSTS, "Who employs Nora Pike?", "Dock Six, Leith Yard"),
        (POSTS, "Since when does Nora Pike work for Dock Six?", "2015"),
        (POSTS, "How sure is it that Nora Pike works for Leith Yard?", "high"),
        (GEAR, "Who owns the boat hook?", "Una Brede"),
        (GEAR, "What is made with tar?", "tar rope"),
        (BOTH, "On which voyage did both Bo Tarn and Di Low sail?", "Grey Run"),
    ],
)
def test_the_right_result_is_among_the_candidates(
    tmp_path: Path, turtle: str, question: str, right: str
) -> None:
    assert right in results(tmp_path, turtle, question)


@pytest.mark.parametrize(
    ("turtle", "question"),
    [
        (CREW, "Does Ada Voss trust Quentin?"),
        (CREW, "Does Ada Voss trust Una?"),
        (CREW, "Does Ada Voss hold an inland licence?"),
        (CREW, "Has Ada Voss a coastal boat and a dog?"),
        (ABROAD, "Is the baguette made of rye flour?"),
    ],
)
def test_yes_is_no_candidate_where_the_graph_does_not_say_all(
    tmp_path: Path, turtle: str, question: str
) -> None:
    assert "yes" not in results(tmp_path, turtle, question)
    _, found = candidates(tmp_path, turtle, question)
    assert not any(c.result.is_set for c in found)


def test_a_given_name_is_who_bears_it(tmp_path: Path) -> None:
    _, found = candidates(tmp_path, GIVEN, "Does Lou know Kai?")
    assert found[0].result.text == "yes"
    assert not any("whose given name is" in c.phrase for c in found)
    _, found = candidates(tmp_path, GIVEN, "Whose given name is Kai?")
    assert any("whose given name is Kai" in c.phrase for c in found)


def test_names_in_a_language_are_asked_of_labels_in_sparql(tmp_path: Path) -> None:
    from kgqa.qa.logical_forms.sparql import to_sparql

    facts, found = candidates(tmp_path, THESAURUS, "What is a buoy called in German?")
    query = to_sparql(facts, next(c.form for c in found if "German name" in c.phrase))
    pyoxigraph = pytest.importorskip("pyoxigraph")
    store = pyoxigraph.Store()
    store.load((PREFIXES + THESAURUS).encode(), format=pyoxigraph.RdfFormat.TURTLE)
    assert [row["x"].value for row in store.query(query)] == ["Boje"]


@pytest.mark.parametrize(
    ("turtle", "question"),
    [
        (EVENTS, "Who made the long harp?"),
        (MEASURES, "What is the keel weight?"),
        (POSTS, "Who employs Nora Pike?"),
    ],
)
def test_a_number_for_a_name_is_no_answer(tmp_path: Path, turtle: str, question: str) -> None:
    nameless = {"b7", "b8", "q1", "s1, s2", "t9"}
    assert nameless.isdisjoint(results(tmp_path, turtle, question))


def test_where_nothing_has_a_label_numbers_are_names(tmp_path: Path) -> None:
    assert "r1, r2" in results(tmp_path, LETTERS + " :r1 :depth 40 ; :pilot :p1 .", "What does s1 tow?")

"""Forms in words, without their result."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.forms import TYPE, forms_of, names_of, ranked

from kgqa.graph.load import open_graph
from kgqa.qa.logical_forms.execute import execute
from kgqa.qa.logical_forms.graph_facts import GraphFacts, rows_of
from kgqa.qa.logical_forms.graph_index import NameLookup
from kgqa.qa.logical_forms.language import Entities, Hop, Join
from kgqa.qa.logical_forms.verbalize import Verbalizer

CASES = {
    '(JOIN (R driver) "Rook")': "the driver of Rook",
    '(JOIN driver "Tom Firth")': "those whose driver is Tom Firth",
    '(AND (CLASS Van) (JOIN driver "Tom Firth"))': "vans whose driver is Tom Firth",
    '(FILTER > load "950 kg" (CLASS Van))': "vans whose load is more than 950 kg",
    '(FILTER > bought "2018" (CLASS Van))': "vans bought after 2018",
    '(FILTER = bought "3 May 2018" (CLASS Van))': "vans bought on 3 May 2018",
    '(FILTER >= bought "3 May 2018" (CLASS Van))': "vans bought on or after 3 May 2018",
    '(FILTER = bought "May 2018" (CLASS Van))': "vans bought in May 2018",
    '(EVERY (CLASS Van) (JOIN driver "Tom Firth"))': "whether all vans are those whose driver is Tom Firth",
    '(EVERY (CLASS Van) (FILTER > bought "2018" (CLASS Van)))': "whether all vans are bought after 2018",
    '(FILTER >= (COUNT driver) "2" (CLASS Van))': "vans with at least 2 drivers",
    '(FILTER > load (VALUES load "Rook") (CLASS Van))': "vans whose load is more than that of Rook",
    '(FILTER < bought (VALUES bought "Swift") (CLASS Van))': "vans whose bought is earlier than that of Swift",
    "(JOIN (R subClassOf) (CLASS Van))": "what vans is a kind of",
    '(ARGMAX "top speed" (CLASS Vehicle) 2)': "vehicles with the second largest top speed",
    "(AND (CLASS Van) (JOIN driver (JOIN (R driver) (CLASS Van))))": "vans that have a driver",
    '(MINUS (CLASS Van) (JOIN driver "Tom Firth"))': "vans except those whose driver is Tom Firth",
    "(MINUS (CLASS Vehicle) (JOIN (R driver) (CLASS Van)))": "vehicles that are the driver of no van",
    '(FILTER > (COUNT (R driver)) "1" (JOIN (R driver) (CLASS Vehicle)))': "the drivers of more than 1 vehicle",
    "(ARGMAX (COUNT (R driver)) (JOIN (R driver) (CLASS Vehicle)))": "the drivers of the most vehicles",
    '(AND (CLASS Van) (JOIN driver (SET "Tom Firth" "Mia Orbell")))': "vans whose driver is Tom Firth or Mia Orbell",
    "(COUNT (CLASS Van))": "the number of vans",
    "(COUNT (JOIN (R driver) (CLASS Van)))": "the number of drivers of vans",
    "(AVG load (CLASS Van))": "the average load of vans",
    '(COMPARE > (VALUES load "Swift") (VALUES load "Rook"))': "whether the load of Swift is more than that of Rook",
}


@pytest.mark.parametrize(("form", "phrase"), CASES.items())
def test_phrases(names: NameLookup, form: str, phrase: str) -> None:
    assert Verbalizer(names.facts).phrase(names.parse(form)) == phrase


VERBS = {
    '(JOIN (R owns) "Ann")': "what Ann owns",
    '(AND (CLASS Boat) (JOIN (R owns) "Ann"))': "boats that Ann owns",
    '(AND (CLASS Person) (JOIN owns "Gull"))': "people that own Gull",
    '(JOIN (R "moored at") "Gull")': "what Gull is moored at",
    '(AND (CLASS Boat) (JOIN "moored at" "Pier 2"))': "boats moored at Pier 2",
    '(JOIN (R built) "Gull")': "when Gull was built",
    '(FILTER > built "1990-01-01" (CLASS Boat))': "boats built after 1990-01-01",
    "(ARGMAX built (CLASS Boat) 1)": "boats built latest",
    '(FILTER > weighs "900 kg" (CLASS Boat))': "boats that weigh more than 900 kg",
    "(ARGMAX weighs (CLASS Boat) 1)": "boats that weigh the most",
    '(JOIN (R "has skipper") "Gull")': "the skipper of Gull",
    '(JOIN (R "hull painted by") "Gull")': "what the hull of Gull is painted by",
    '(JOIN "part of" "Fleet 1")': "those that are part of Fleet 1",
    "(ARGMAX (COUNT owns) (CLASS Person) 1)": "people that own the most boats",
    '(JOIN (R "works for") "Ann")': "what Ann works for",
    '(FILTER = waterproof "yes" (CLASS Boat))': "boats that are waterproof",
    '(FILTER = "is insured" "no" (CLASS Boat))': "boats that are not insured",
    '(FILTER = "has radio" "yes" (CLASS Boat))': "boats with radio",
    '(AND (CLASS Person) (JOIN languages "Welsh"))': "people whose languages include Welsh",
    '(JOIN (R joined) "Ann")': "when Ann joined",
    '(JOIN (R "moored at") (JOIN (R owns) "Ann"))': "what the one Ann owns is moored at",
    '(COMPARE < (VALUES built "Gull") (VALUES built "Tern"))': "whether Gull was built earlier than Tern",
    '(COMPARE > (VALUES weighs "Gull") (VALUES weighs "Tern"))': "whether Gull weighs more than Tern",
}


@pytest.mark.parametrize(("form", "phrase"), VERBS.items())
def test_relations_are_worded_by_their_part_of_speech(form: str, phrase: str) -> None:
    date = "http://www.w3.org/2001/XMLSchema#date"
    lines = f"""
Gull|{TYPE}|Boat
Ann|{TYPE}|Person
Ann|owns|Gull
Ann|works for|Dray & Co
Ann|languages|Welsh
Ann|joined|"2011-05-02"^^<{date}>
Gull|moored at|Pier 2
Gull|built|"1994-05-02"^^<{date}>
Gull|weighs|"940 kg"
Tern|weighs|"900 kg"
Tern|waterproof|yes
Tern|is insured|no
Tern|has radio|yes
Tern|built|"1991-05-02"^^<{date}>
Gull|has skipper|Ann
Gull|hull painted by|Ben
Gull|part of|Fleet 1
"""
    names = names_of(lines)
    assert Verbalizer(names.facts).phrase(names.parse(form)) == phrase


FOR_PEOPLE = {
    '(JOIN (R crosses) "Otter")': "the lakes that Otter crosses",
    '(JOIN "skippered by" "May")': "the ferries skippered by May",
    '(JOIN (R crosses) (JOIN "skippered by" "May"))': "the lakes that the ferries skippered by May cross",
    '(JOIN (R depth) (JOIN (R crosses) "Otter"))': "the depth of the lakes that Otter crosses",
    '(JOIN (R owner) "Otter")': "the owner of Otter",
    '(COUNT (JOIN "skippered by" "May"))': "the number of the ferries skippered by May",
    '(EXISTS (AND "May" (JOIN (R "skippered by") "Otter")))': "whether Otter is skippered by May",
    '(EXISTS (AND "Otter" (JOIN crosses "Lorn")))': "whether Otter crosses Lorn",
    '(EXISTS (AND "Otter" (CLASS Ferry)))': "whether Otter is among the ferries",
    '(FILTER = launched "May" "July" (CLASS Ferry))': "ferries launched in May or July",
    '(FILTER between "launched on" "May" "July" (CLASS Ferry))': "ferries launched between May and July",
}


@pytest.mark.parametrize(("form", "phrase"), FOR_PEOPLE.items())
def test_people_are_told_the_class_of_what_is_asked_for(form: str, phrase: str) -> None:
    lines = f"""Otter|{TYPE}|Ferry
Tern|{TYPE}|Ferry
Lorn|{TYPE}|Lake
May|{TYPE}|Skipper
Otter|crosses|Lorn
Tern|crosses|Lorn
Otter|skippered by|May
Lorn|depth|"88"
Otter|owner|May
Otter|launched|"2001-05-02"
Otter|launched on|"2001-05-02"\n"""
    names = names_of(lines)
    assert Verbalizer(names.facts, for_people=True).phrase(names.parse(form)) == phrase


def test_members_are_told_and_numbers_are_not(names: NameLookup) -> None:
    verbalizer = Verbalizer(names.facts)
    for form, phrase in (
        ("(CLASS Van)", "vans: Rook, Swift"),
        ("(COUNT (CLASS Van))", "the number of vans"),
    ):
        parsed = names.parse(form)
        result = execute(names.facts, parsed)
        assert result is not None
        assert verbalizer.with_result(parsed, result) == phrase


def test_relations_called_in_another_language_are_worded_in_english() -> None:
    graph = open_graph("tests/graphs/railway.ttl")
    facts = GraphFacts(graph)
    (operator,) = (n for n, relation in enumerate(graph.relations) if relation.label == "Betreiber")
    line = next(
        row.head for row in rows_of(graph, range(graph.entity_count or 0)) if row.relation == operator
    )
    phrase = Verbalizer(facts).phrase(Join((Hop(operator, True),), Entities((line,))))
    assert phrase == f"the operator of {facts.label(line)}"


def test_a_year_that_is_a_plain_number_is_a_time() -> None:
    facts = f"""Gull|surveyed|"1731"\nTern|surveyed|"1802"\nGull|{TYPE}|Map
Tern|{TYPE}|Map\nGull|withdrawn in|"1731"
Gull|year of survey|"1731"
Tern|year of survey|"1802"
Gull|roof renewed in|"1731"\nGull|employed since|"2017-11-20"\nTern|sheets|"1802"\nGull|sheets|"3"
Gull|date from|"1731-02-03"\nGull|to|"1733-10-01"
"""
    names = names_of(facts)
    phrases = {
        "(ARGMIN surveyed (CLASS Map))": "maps surveyed earliest",
        '(ARGMAX "year of survey" (CLASS Map))': "maps with the latest year of survey",
        "(FILTER > surveyed 1760 (CLASS Map))": "maps surveyed after 1760",
        '(JOIN (R surveyed) "Gull")': "when Gull was surveyed",
        '(JOIN (R "withdrawn in") "Gull")': "when Gull was withdrawn",
        '(JOIN (R "roof renewed in") "Gull")': "when the roof of Gull was renewed",
        '(JOIN (R "employed since") "Gull")': "when Gull was employed",
        '(JOIN (R "date from") "Gull")': "when Gull began",
        '(JOIN (R to) "Gull")': "when Gull ended",
        "(ARGMAX sheets (CLASS Map))": "maps with the largest number of sheets",
    }
    assert {form: Verbalizer(names.facts).phrase(names.parse(form)) for form in phrases} == phrases


def test_what_a_question_calls_otherwise_is_called_so(names: NameLookup) -> None:
    form = names.parse('(AND (CLASS Van) (JOIN driver "Tom Firth"))')
    called = {names.entity("Van"): "lorry", names.entity("Tom Firth"): "Big Tom"}
    assert Verbalizer(names.facts, called).phrase(form) == "lorries whose driver is Big Tom"


def test_a_unit_stands_with_the_value_not_with_the_relation() -> None:
    names = names_of('Night Mail|crossing time (min)|"410"\nTern|height in metres|"18"')
    said = Verbalizer(names.facts)
    form = names.parse('(JOIN (R "crossing time (min)") "Night Mail")')
    result = execute(names.facts, form)
    assert result is not None
    assert said.with_result(form, result) == "the crossing time of Night Mail: 410 min"
    assert said.phrase(names.parse('(JOIN (R "height in metres") "Tern")')) == "the height of Tern"


EVENTS = """@prefix : <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:h a :Harp ; rdfs:label "Rill harp" . :ann a :Person ; rdfs:label "Ann" . :bo a :Person ; rdfs:label "Bo" .
:e1 a :Production ; :hasProduced :h ; :carriedOutBy :ann ; :timeSpan :t1 . :t1 :within "1742"^^xsd:gYear .
:s1 a :Sale ; :soldItem :h ; :seller :ann ; :buyer :bo ; :price :q1 . :q1 :value 90 ; :unit "guilders" .
:o1 a :Observation ; :code :iron ; :subject :bo ; :date "2024-05-02"^^xsd:date ; :valueQuantity :q2 .
:q2 :value 31 ; :unit "g" . :iron rdfs:label "iron" . :c rdfs:label "Rill choir" ; :member :r1 .
:r1 a :MemberRole ; :member :bo ; :roleName "tenor" ."""


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("Who made the Rill harp?", "what the production of Rill harp is carried out by: Ann"),
        ("When was the Rill harp made?", "when the production of Rill harp was: 1742"),
        ("Who sold the Rill harp?", "the seller of the sale of Rill harp: Ann"),
        ("What did Ann sell?", "the sold item of those whose seller is Ann: Rill harp"),
        ("What is the price of the Rill harp?", "the price of the sale of Rill harp: 90 guilders"),
        ("What is the iron of Bo?", "the iron of Bo: 31 g"),
        ("When was the iron of Bo measured?", "when the observation of iron of Bo was: 2 May 2024"),
        ("Who is in the Rill choir?", "the member of Rill choir: Bo"),
        ("In which choir is Bo?", "those whose member is Bo: Rill choir"),
        ("What role has Bo?", "the role name of Bo: tenor"),
    ],
)
def test_nodes_without_a_name_are_called_by_their_class(tmp_path: Path, question: str, phrase: str) -> None:
    (tmp_path / "harps.ttl").write_text(EVENTS)
    facts = GraphFacts(open_graph(tmp_path / "harps.ttl"))
    assert phrase in [candidate.phrase for candidate in ranked(facts, question, most=60)]


def test_a_quantity_is_called_by_what_it_is_of(tmp_path: Path) -> None:
    (tmp_path / "harps.ttl").write_text(EVENTS)
    names = NameLookup(GraphFacts(open_graph(tmp_path / "harps.ttl")))
    form = names.parse('(ARGMAX price/value (CLASS "Sale"))')
    assert Verbalizer(names.facts).phrase(form) == "sales with the largest price"


NAMED = """@prefix : <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:h a :Harp ; rdfs:label "Rill harp" ; :dimension :d .
:d a :Dimension ; rdfs:label "height of the Rill harp" ; :value 90 ; :unit "cm" .
:p a :Production ; rdfs:label "Production of the Rill harp" ; :produced :h ; :carriedOutBy :ann .
:p :tookPlaceAt :rill . :ann rdfs:label "Ann" . :bo rdfs:label "Bo" . :rill rdfs:label "Rill" .
:r a :Modification ; rdfs:label "Restringing of the harp" ; :modified :h ; :carriedOutBy :bo .
:r :timeSpan :t . :t rdfs:label "1764" ."""


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("Who made the Rill harp?", "what the production of the Rill harp is carried out by: Ann"),
        ("Where was the Rill harp made?", "where the production of the Rill harp took place: Rill"),
        ("Who restrung the Rill harp?", "what the restringing of the harp is carried out by: Bo"),
        ("When was the Rill harp restrung?", "the time of the restringing of the harp: 1764"),
        ("How tall is the Rill harp?", "the height of the Rill harp: 90 cm"),
    ],
)
def test_events_named_after_a_thing_are_called_so(tmp_path: Path, question: str, phrase: str) -> None:
    (tmp_path / "harps.ttl").write_text(NAMED)
    facts = GraphFacts(open_graph(tmp_path / "harps.ttl"))
    assert phrase in [candidate.phrase for candidate in ranked(facts, question, most=60)]


READINGS = """@prefix : <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:maeve rdfs:label "Maeve" . :fionn rdfs:label "Fionn" . :mill rdfs:label "Millgate" . :hill rdfs:label "Hill" .
[] a :Event ; :performer :maeve ; :place :mill . [] a :Event ; :performer :fionn ; :place :hill .
"""


def test_a_blank_node_that_nothing_leads_to_is_walked_through_and_called_by_its_class(tmp_path: Path) -> None:
    (tmp_path / "readings.ttl").write_text(READINGS)
    facts = GraphFacts(open_graph(tmp_path / "readings.ttl"))
    phrases = map(Verbalizer(facts).phrase, forms_of(facts, "Where does Maeve read?"))
    assert "the place of the event of Maeve" in phrases


def test_anything_is_one_thing() -> None:
    names = names_of('O-1|customer|Ann\nO-1|paid|"yes"\nO-2|paid|"no"')
    form = names.parse('(EXISTS (FILTER = paid "yes" (JOIN customer "Ann")))')
    assert (
        Verbalizer(names.facts).phrase(form) == "whether there is anything whose customer is Ann that is paid"
    )

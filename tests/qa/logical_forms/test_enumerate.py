"""For what a question names, the form that it asks for is among those that are grown."""

from __future__ import annotations

import pytest
from support.forms import TYPE, forms_of, names_of, triples_of

from kgqa.graph.linking.label_keys import XSD
from kgqa.graph.load import open_graph
from kgqa.qa.logical_forms.execute import execute
from kgqa.qa.logical_forms.graph_facts import GraphFacts
from kgqa.qa.logical_forms.graph_index import NameLookup
from kgqa.qa.logical_forms.verbalize import Verbalizer
from kgqa.types import Label, Triple

CASES = {
    "Who drives Rook?": '(JOIN (R driver) "Rook")',
    "What does Tom Firth drive?": '(JOIN driver "Tom Firth")',
    "What does the driver of Rook earn?": '(JOIN (R salary) (JOIN (R driver) "Rook"))',
    "How many vans are there?": "(COUNT (CLASS Van))",
    "Which vans carry more than 950 kg?": '(FILTER > load "950 kg" (CLASS Van))',
    "Which vans were bought after 2018?": '(FILTER > bought "2018" (CLASS Van))',
    "Which vehicle is not driven by Tom Firth?": '(MINUS (CLASS Vehicle) (JOIN driver "Tom Firth"))',
    "Which vehicle is the fastest?": '(ARGMAX "top speed" (CLASS Vehicle))',
    "Which is the second fastest vehicle?": '(ARGMAX "top speed" (CLASS Vehicle) 2)',
    "Who drives the slowest vehicle?": '(JOIN (R driver) (ARGMIN "top speed" (CLASS Vehicle)))',
    "What is the average load of the vans?": "(AVG load (CLASS Van))",
    "Does Tom Firth drive Rook?": '(EXISTS (AND "Tom Firth" (JOIN (R driver) "Rook")))',
    "Is Swift faster than Rook?": '(COMPARE > (VALUES "top speed" "Swift") (VALUES "top speed" "Rook"))',
    "How much more does Swift carry than Rook?": '(DIFFERENCE (VALUES load "Swift") (VALUES load "Rook"))',
    "Which of Swift and Rook carries more?": '(ARGMAX load (SET "Swift" "Rook"))',
    "Which vans are slower than Swift?": '(FILTER < "top speed" (VALUES "top speed" "Swift") (CLASS Van))',
    "What does the driver of the slowest vehicle earn?": (
        '(JOIN (R salary) (JOIN (R driver) (ARGMIN "top speed" (CLASS Vehicle))))'
    ),
    "Who drives vehicles faster than 130?": '(JOIN (R driver) (FILTER > "top speed" "130" (CLASS Vehicle)))',
    "Is a van a kind of vehicle?": '(EXISTS (AND "Van" (JOIN subClassOf "Vehicle")))',
    "Which vans were checked after 2 pm?": '(FILTER > checked "14:00" (CLASS Van))',
    "Which vans does Tom Firth or Mia Orbell drive?": (
        '(AND (CLASS Van) (JOIN driver (SET "Tom Firth" "Mia Orbell")))'
    ),
    "Who drives Swfit?": '(JOIN (R driver) "Swift")',
    "What does Orbell earn?": '(JOIN (R salary) "Mia Orbell")',
}


@pytest.mark.parametrize(("question", "form"), CASES.items())
def test_the_form_asked_for_is_grown(names: NameLookup, question: str, form: str) -> None:
    facts, wanted = names.facts, names.parse(form)
    forms, result = forms_of(facts, question), execute(facts, wanted)
    assert result is not None
    same = [f for f in forms if type(f) is type(wanted) and (r := execute(facts, f)) and r.key == result.key]
    assert wanted in forms or same


def grown(names: NameLookup, question: str) -> list[str]:
    return [names.show(form) for form in forms_of(names.facts, question)]


def test_a_third_relation_follows_two_of_which_the_second_is_named() -> None:
    facts = (
        "Salt Road|prize|Heron\nSalt Road|director|Ann Lee\nAnn Lee|birthplace|Tartu\nSalt Road|country|Peru"
    )
    names = names_of(facts)
    asked = "Where was the director of the one with the Heron born?"
    third = '(JOIN (R birthplace) (JOIN (R director) (JOIN prize "Heron")))'
    assert third in grown(names, asked)
    assert third not in grown(names, "Where is the Heron?")


def test_a_value_is_compared_as_the_words_beside_it_say() -> None:
    triples = [Triple(head, "wheels", f'"{n}"') for n, head in enumerate("abcdef")]
    triples += [Triple(head, TYPE, "Cart") for head in "abcdef"]
    names = names_of(triples)
    forms = grown(names, "Which carts have at least 4 wheels?")
    assert '(FILTER >= wheels "4" (CLASS "Cart"))' in forms
    assert not [form for form in forms if "FILTER >" in form and "FILTER >=" not in form]
    assert '(JOIN wheels "4")' not in forms  # exactly four
    assert '(FILTER = wheels "4" (CLASS "Cart"))' in grown(names, "Which carts have 4 wheels?")


def test_what_a_class_is_asks_for_no_instances(names: NameLookup) -> None:
    assert '(CLASS "Van")' in grown(names, "Which are the vans?")
    assert '(CLASS "Van")' not in grown(names, "What is a van?")


def test_a_number_that_is_stated_goes_before_what_is_listed() -> None:
    triples = [Triple("Larks", "member", name) for name in ("Ann", "Bo")]
    triples += [
        Triple("Larks", "number of members", '"4"'),
        Triple("Larks", "song", "Dawn"),
        Triple("Larks", "song", "Dusk"),
    ]
    names = names_of(triples)
    forms = grown(names, "How many members do the Larks have?")
    assert '(JOIN (R "number of members") "Larks")' in forms
    assert '(COUNT (JOIN (R member) "Larks"))' not in forms
    assert '(COUNT (JOIN (R song) "Larks"))' in grown(names, "How many songs do the Larks have?")


def named_events() -> NameLookup:
    """Two teapots; one was made and gilded, by events with labels, the other made."""
    facts = [
        ("e:1", "has produced", "Cobalt teapot", "Production of the Cobalt teapot", "Production"),
        ("e:2", "has produced", "Plum pot", "Production of the Plum pot", "Production"),
        ("e:3", "has modified", "Cobalt teapot", "Gilding of the Cobalt teapot", "Modification"),
    ]
    triples = [Triple(e, relation, thing) for e, relation, thing, _, _ in facts]
    triples += [Triple(e, TYPE, kind) for e, _, _, _, kind in facts]
    triples += [
        Triple(e, "carried out by", who)
        for e, who in (("e:1", "Ito"), ("e:2", "Louis"), ("e:3", "Adam Sasse"))
    ]
    return names_of(triples, [Label(e, label, "en") for e, _, _, label, _ in facts])


def test_an_event_that_is_named_after_a_thing_is_asked_for_what_is_asked_of_the_thing() -> None:
    forms = grown(named_events(), "Who gilded the Cobalt teapot?")
    assert '(JOIN (R "carried out by") "Gilding of the Cobalt teapot")' in forms
    assert '(JOIN (R "carried out by") "Production of the Cobalt teapot")' in forms
    assert not any('(JOIN (R "carried out by") (JOIN' in form for form in forms)


def test_a_class_of_thousands_is_ordered_by_its_values() -> None:
    carts = [f"Cart {n}" for n in range(2_500)]
    triples = [Triple(cart, TYPE, "Cart") for cart in carts]
    triples += [Triple(cart, "wheels", f'"{n % 7 + 2}"') for n, cart in enumerate(carts)]
    triples += [Triple(carts[9], "wheels", '"40"'), Triple(carts[9], "owner", "Ann")]
    names = names_of(triples)
    assert '(ARGMAX wheels (CLASS "Cart"))' in grown(names, "Which cart has the most wheels?")
    found = execute(names.facts, names.parse('(JOIN (R owner) (ARGMAX wheels (CLASS "Cart")))'))
    assert found is not None and [*found.members] == [names.entity("Ann")]
    (rows,) = found.members.values()
    assert {names.facts.name(row.tail) for row in rows} >= {
        '"40"',
        "Ann",
    }  # of its two numbers the one that counts


@pytest.mark.parametrize(
    ("question", "form"),
    {
        "Which is the runner-up for length among the vans?": "(ARGMAX length {} 2)",
        "Which vans were built in the eighties?": '(FILTER between built "1980" "1989" {})',
        "What is the average length of the vans with a lift?": '(AVG length (FILTER = lift "yes" {}))',
        "Which vans over 5 m were built before 1990?": '(FILTER > length "5 m" (FILTER < built "1990" {}))',
        "Which vans belong to depots with over 20 bays?": '(AND {} (JOIN depot (FILTER > bays "20" (CLASS Depot))))',
        "Could you list the vans?": "{}",
        "Which of them is the longest?": "(ARGMAX length {})",
        "How many depots are there?": "(COUNT (CLASS Depot))",
        "How many bays are there?": "(SUM bays (CLASS Depot))",
        "Which depot does the longest van belong to?": "(JOIN (R depot) (ARGMAX length {}))",
    }.items(),
)
def test_several_classes_that_share_a_noun_are_asked_for_together(question: str, form: str) -> None:
    rows = [("a", 4, 1979, "true"), ("b", 6, 1984, "false"), ("c", 7, 1988, "true"), ("d", 9, 1995, "true")]
    triples = [
        Triple(name, TYPE, kind)
        for (name, *_), kind in zip(rows, ["Camper Van", "Post Van"] * 2, strict=True)
    ]
    for name, length, built, lift in rows:
        triples += [Triple(name, "length", f'"{length}"'), Triple(name, "built", f'"{built}"^^<{XSD}gYear>')]
        triples += [
            Triple(name, "lift", f'"{lift}"^^<{XSD}boolean>'),
            Triple(name, "depot", f"site {length % 2}"),
        ]
    triples += [Triple("site 0", "bays", '"12"'), Triple("site 1", "bays", '"30"')]
    triples += [Triple(f"site {n}", TYPE, "Depot") for n in range(2)]
    names = names_of(triples)
    vans = '(CLASS "Camper Van" "Post Van")'
    assert names.show(names.parse(form.format(vans))) in grown(names, question)


def test_a_further_relation_from_a_class_that_is_not_asked_for() -> None:
    triples = [
        Triple(name, TYPE, kind) for name, kind in (("Ash", "Lift"), ("Elm", "Lift"), ("Nord", "Firm"))
    ]
    triples += [Triple(lift, "serviced by", "Nord") for lift in ("Ash", "Elm")]
    triples += [Triple("Ash", "house", "Mill"), Triple("Elm", "house", "Mill")]
    names = names_of(triples)
    form = '(JOIN (R "serviced by") (AND (CLASS "Lift") (JOIN house "Mill")))'
    assert form in grown(names, "Which firm looks after the lifts in Mill?")


def test_what_is_not_true_is_left_out_once() -> None:
    triples = [Triple(farm, TYPE, "Farm") for farm in "abc"]
    triples += [
        Triple(farm, "organic", f'"{truth}"^^<{XSD}boolean>')
        for farm, truth in zip("abc", ("true", "false", "true"), strict=True)
    ]
    forms = grown(names_of(triples), "Which farms are not organic?")
    assert '(FILTER = organic "no" (CLASS "Farm"))' in forms
    assert not [form for form in forms if form.startswith("(MINUS") and '"no"' in form]


def test_numbers_of_a_table_are_values() -> None:
    triples = [Triple(fund, TYPE, "fund") for fund in ("Polar", "Marsh")]
    triples += [Triple("Polar", "months", "36"), Triple("Marsh", "months", "30")]
    names = names_of(triples)
    assert '(FILTER > months "30 months" (CLASS "fund"))' in grown(
        names, "Which funds run for more than 30 months?"
    )


def people_and_boats() -> NameLookup:
    """Three people, two of whom own boats, and a race that is a node without a name."""
    triples = [Triple(name, TYPE, "Person") for name in ("Ann", "Bo", "Cy")]
    triples += [Triple(f"Boat {n}", TYPE, "Boat") for n in range(3)]
    triples += [Triple(f"Boat {n}", "owner", "Ann" if n < 2 else "Bo") for n in range(3)]
    triples += [Triple("Ann", "coach", "Cy"), Triple("Bo", "cook", "Cy"), Triple("Boat 0", "hull", "wood")]
    race = "http://x.org/race7"
    triples += [Triple(race, TYPE, "Race"), Triple(race, "won by", "Boat 1")]
    triples += [Triple(race, "held on", f'"2022-05-01"^^<{XSD}date>')]
    return names_of(triples, [Label("Boat 1", "Boat 1", "en")])


@pytest.mark.parametrize(
    ("question", "form"),
    {
        "Who owns at least two boats?": '(FILTER >= (COUNT (R owner)) "2" (CLASS "Person"))',
        "Which members don't own a boat?": '(MINUS (CLASS "Person") (JOIN (R owner) (JOIN owner (CLASS "Person"))))',
        "Which boats won in 2022?": (
            '(AND (CLASS "Boat") (JOIN (R "won by") (FILTER = "held on" "2022" (CLASS "Race"))))'
        ),
        "Which wooden boats are there?": '(AND (CLASS "Boat") (JOIN hull "wood"))',
        "Who has neither a coach nor a cook?": (
            '(MINUS (MINUS (CLASS "Person") (JOIN coach (JOIN (R coach) (CLASS "Person")))) '
            '(JOIN cook (JOIN (R cook) (CLASS "Person"))))'
        ),
    }.items(),
)
def test_what_people_ask_of_counts_events_and_lacks(question: str, form: str) -> None:
    names = people_and_boats()
    assert names.show(names.parse(form)) in grown(names, question)


def test_only_the_end_of_a_scale_that_is_asked_for_is_grown(names: NameLookup) -> None:
    assert not [
        form for form in grown(names, "Which vehicle is the slowest?") if '(ARGMAX "top speed"' in form
    ]
    forms = grown(names, "Which van was bought last?")
    assert any("(ARGMAX bought" in form for form in forms) and not any(
        "(ARGMIN bought" in form for form in forms
    )


FLATS = """
@prefix : <http://flats.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Flat rdfs:label "flat" . :rooms rdfs:label "rooms" . :floor rdfs:label "floor" .
:rent rdfs:label "rent (thousand euros)" .
:balcony rdfs:label "balcony" .
:tenant rdfs:label "tenant" .
:leaves rdfs:label "bus leaves at" .
:seen rdfs:label "last seen" .
:a a :Flat ; rdfs:label "Mill Flat" ; :rooms 3 ; :floor 2 ; :rent 1.2 ;
  :balcony true ; :tenant "Rolf Tann" ;
  :leaves "07:15" ;
  :seen "2021-03-01"^^<http://www.w3.org/2001/XMLSchema#date> .
:b a :Flat ; rdfs:label "Pier Flat" ; :rooms 3 ; :floor 3 ; :rent 0.6 ;
  :balcony false ; :tenant "Ida Moor" ;
  :leaves "14:30" ;
  :seen "2022-03-01"^^<http://www.w3.org/2001/XMLSchema#date> .
:c a :Flat ; rdfs:label "Loft" ; :rooms 1 ; :floor 3 ; :rent 0.9 ;
  :balcony true ; :tenant "Max Lind" ;
  :leaves "18:00" .
"""


@pytest.fixture(scope="module")
def flats(tmp_path_factory) -> GraphFacts:
    file = tmp_path_factory.mktemp("flats") / "flats.ttl"
    file.write_text(FLATS)
    return GraphFacts(open_graph(file))


@pytest.mark.parametrize(
    ("question", "wanted", "unwanted"),
    [
        (
            "Which three-room flats have no balcony?",
            "flats whose number of rooms is exactly 3 and without balcony",
            "floor is exactly",
        ),
        ("Which places have three rooms?", "flats whose number of rooms is exactly 3", "floor is exactly"),
        ("Which flats are on the third floor?", "flats whose floor is exactly 3", "third largest"),
        (
            "Which flats lie higher than the second floor?",
            "flats whose floor is more than 2",
            "second largest",
        ),
        (
            "Which flats cost more than 700 euros?",
            "flats whose rent is more than 700 euros",
            "floor is more than",
        ),
        ("Which flats have a bus after noon?", "flats bus leaves after 12:00", "more than 12"),
        ("Which flats have a bus at noon or later?", "flats bus leaves at or after 12:00", "in or after"),
        ("Which one-room flats are there?", "flats whose number of rooms is exactly 1", "floor is exactly"),
        (
            "Who pays more rent, Rolf Tann or Ida Moor?",
            "the tenant of Mill Flat and Pier Flat with the largest rent",
            "smallest rent",
        ),
        (
            "Which was last seen earlier, Mill Flat or Pier Flat?",
            "Mill Flat and Pier Flat with the earliest last seen",
            "latest last seen",
        ),
        ("How many flats have a balcony?", "the number of flats with balcony", "the number of balconies"),
    ],
)
def test_numbers_go_with_their_noun_and_values_with_their_unit(
    flats: GraphFacts, question: str, wanted: str, unwanted: str
) -> None:
    phrases = [*map(Verbalizer(flats).phrase, forms_of(flats, question))]
    assert wanted in phrases and not any(unwanted in text for text in phrases)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ('(SUM rent (CLASS "flat"))', "2.7 thousand euros"),
        ('(MAX rent (CLASS "flat"))', "1.2 thousand euros"),
        ('(DIFFERENCE (VALUES rent "Mill Flat") (VALUES rent "Pier Flat"))', "0.6 thousand euros"),
        ('(AVG floor (CLASS "flat"))', "2.666667"),
    ],
)
def test_what_is_computed_has_the_unit_of_its_relation(flats: GraphFacts, form: str, text: str) -> None:
    result = execute(flats, NameLookup(flats).parse(form))
    assert result is not None and result.text == text


CLAIMS = """
@prefix : <http://claims.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Policy rdfs:label "policy" . :Claim rdfs:label "claim" . :Adjuster rdfs:label "adjuster" .
:claim rdfs:label "has claim" . :part rdfs:label "damaged part" . :amount rdfs:label "amount claimed (EUR)" .
:settled rdfs:label "settled" . :fee rdfs:label "fee paid" . :Senior rdfs:label "senior adjuster" .
:handledBy rdfs:label "handled by" . :bought rdfs:label "bought for (EUR)" .
:ann a :Adjuster , :Senior ; rdfs:label "Ann Roe" . :bo a :Adjuster ; rdfs:label "Roe Bakery" .
:p1 a :Policy ; rdfs:label "Policy 1" ; :bought 700 ; :claim
  [ a :Claim ; :part "roof" ; :amount 100 ; :settled true ; :fee true ; :handledBy :ann ] ,
  [ a :Claim ; :part "axle" ; :amount 300 ; :settled false ; :handledBy :ann ] .
:p2 a :Policy ; rdfs:label "Policy 2" ; :bought 900 ;
  :claim [ a :Claim ; :part "axle" ; :amount 50 ; :settled true ; :fee false ] .
:p3 a :Policy ; rdfs:label "Policy 3" ; :bought 800 ;
  :claim [ a :Claim ; :part "door" ; :amount 40 ; :settled false ; :handledBy :ann ] .
"""


@pytest.fixture(scope="module")
def claims(tmp_path_factory) -> NameLookup:
    file = tmp_path_factory.mktemp("claims") / "claims.ttl"
    file.write_text(CLAIMS)
    return NameLookup(GraphFacts(open_graph(str(file))))


@pytest.mark.parametrize(
    ("question", "phrase", "answer"),
    [
        ("How many claims did Ann Roe handle?", "the number of claims handled by Ann Roe", "3"),
        (
            "What is the total amount of the claims that are unsettled?",
            "the sum of the amount claimed of claims that are not settled",
            "340 EUR",
        ),
        (
            "Which policy has an unsettled axle claim?",
            "policies whose claim is one of the claims whose damaged part is axle that are not settled",
            "Policy 1",
        ),
        (
            "Which policy has a claim that nobody handles?",
            "policies whose claim is one of the claims that are not handled",
            "Policy 2",
        ),
        (
            "Which policies have an axle claim?",
            "policies whose claim damaged part is axle",
            "Policy 1, Policy 2",
        ),
        ("How many claims have an unpaid fee?", "the number of claims whose fee is not paid", "1"),
        (
            "How many claims do senior adjusters handle?",
            "the number of claims handled by senior adjusters",
            "3",
        ),
        (
            "Has the roof claim been settled?",
            "whether there are claims whose damaged part is roof that are settled",
            "yes",
        ),
        ("What is the second highest amount claimed?", "the second largest amount claimed of claims", "100"),
        (
            "What did the axle on Policy 1 come to?",
            "the amount claimed of the claim of Policy 1 whose damaged part is axle",
            "300",
        ),
        (
            "Which policy had the second-highest price?",
            "policies with the second largest bought for",
            "Policy 3",
        ),
        (
            "What was paid for Policy 1 and Policy 3 put together?",
            "the sum of the bought for of Policy 1 and Policy 3",
            "1500 EUR",
        ),
    ],
)
def test_facts_of_nodes_without_a_name_stay_together(
    claims: NameLookup, question: str, phrase: str, answer: str
) -> None:
    facts, verbalizer = claims.facts, Verbalizer(claims.facts)
    forms = {verbalizer.phrase(form): form for form in forms_of(facts, question)}
    assert phrase in forms
    result = execute(facts, forms[phrase])
    assert result is not None
    assert answer == (", ".join(sorted(map(facts.label, result.members))) if result.is_set else result.text)


def test_two_things_of_one_record_are_not_taken_from_two(claims: NameLookup) -> None:
    forms = forms_of(claims.facts, "Which part did Ann Roe settle for Policy 2?")
    phrases = set(map(Verbalizer(claims.facts).phrase, forms))
    assert "the damaged part of the claim of Ann Roe" in phrases
    assert not any("damaged part of the claim of Ann Roe and at once the damaged part" in p for p in phrases)


def test_other_scripts_marks_and_digits_are_read_as_english_ones() -> None:
    triples = [
        Triple("الرباط", "capital of", "المغرب"),
        Triple("ירושלים", "mayor", "משה ליאון"),
        Triple("東京タワー", "height", '"３３３ m"'),
        Triple("スカイツリー", "height", '"634 m"'),
        Triple("Café", "owner", "Zoë"),
    ]
    names = names_of(triples)
    assert '(JOIN "capital of" "المغرب")' in grown(names, "What is the capital of المغرب?")
    assert '(JOIN (R mayor) "ירושלים")' in grown(names, "Who is the mayor of ירושלים?")
    assert '(JOIN (R owner) "Café")' in grown(names, "Who owns the Cafe\u0301?")  # e and its mark apart
    form = names.parse('(COMPARE < (VALUES height "東京タワー") (VALUES height "スカイツリー"))')
    result = execute(names.facts, form)
    assert result is not None and result.text == "yes"


ORDERS = f"""
O-1|customer|"Ann"
O-2|customer|"Ann"
O-3|customer|"Bo"
O-1|sent on|"2024-03-02"^^<{XSD}date>
O-2|sent on|"2024-03-09"^^<{XSD}date>
O-3|sent on|"2024-05-01"^^<{XSD}date>
O-1|price|"12"
O-2|price|"9"
O-3|price|"40"
O-1|paid|"yes"
O-2|paid|"yes"
O-3|paid|"no"
O-1|{TYPE}|order
O-2|{TYPE}|order
O-3|{TYPE}|order
"""


def orders(*more: str) -> NameLookup:
    return names_of("\n".join((ORDERS.strip(), *more)))


def test_a_date_without_its_year_is_of_the_only_year_there_is() -> None:
    asked, later = "Which orders were sent after 5 March?", 'FILTER > "sent on" "5 March'
    assert f'({later} 2024" (CLASS "order"))' in grown(orders(), asked)
    assert '(FILTER = "sent on" "March 2024" (CLASS "order"))' in grown(orders(), "Which were sent in March?")
    of_two_years = orders(f'O-1|sent on|"2023-03-02"^^<{XSD}date>')
    assert not any("5 March" in form for form in grown(of_two_years, asked))
    assert '(FILTER = "sent on" "March" (CLASS "order"))' in grown(of_two_years, "Which were sent in March?")
    april = '(FILTER between "sent on" "March" "April" (CLASS "order"))'
    assert april in grown(of_two_years, "Which were sent between March and April?")
    for either in ("in March or May", "in March and May"):
        forms = grown(of_two_years, f"Which orders were sent {either}?")
        assert '(FILTER = "sent on" "March" "May" (CLASS "order"))' in forms
        assert not any("between" in form for form in forms)
    assert not any("between" in form for form in grown(of_two_years, "Which came between May and March?"))


STAFF = f"""
Ann|{TYPE}|Baker
Bo|{TYPE}|Driver
Cy|{TYPE}|Manager
Oven 1|{TYPE}|Oven
Ann|hired|"2020-05-03"^^<{XSD}date>
Bo|hired|"2021-03-02"^^<{XSD}date>
Cy|hired|"2019-05-02"^^<{XSD}date>
Ann|shift|"1"
Bo|shift|"2"
Ann|wage|"20"
Bo|wage|"21"
Oven 1|bought|"2021-03-02"^^<{XSD}date>
"""


def test_who_is_of_any_class_of_which_the_same_is_said() -> None:
    forms = grown(names_of(STAFF), "Who was hired in March or May?")
    assert '(FILTER = hired "March" "May" (CLASS "Baker" "Driver" "Manager"))' in forms
    assert not any("Oven" in form and "Baker" in form or '(CLASS "Baker")' in form for form in forms)


def test_what_is_not_more_is_at_most_as_much() -> None:
    forms = grown(orders(), "Which orders have a price not higher than 12?")
    assert '(FILTER <= price "12" (CLASS "order"))' in forms
    assert not any('(MINUS (CLASS "order") (FILTER <=' in form for form in forms)
    forms = grown(orders(), "Which orders with a price higher than 12 are not paid?")
    assert '(FILTER <= price "12" (CLASS "order"))' not in forms  # only the payment is negated
    heavy = orders(*(f"O-{n}|weight|{n} kg" for n in (1, 2, 3)))
    forms = grown(heavy, "Which orders do not weigh more than 2 kg?")
    assert '(FILTER <= weight "2 kg" (CLASS "order"))' in forms
    assert not any("(JOIN weight" in form for form in forms)  # 2 kg is a limit, not what is left out


BIKES = f"""
Swift|owner|Ann
Swift|electric|"yes"
Heron|owner|Bo
Heron|electric|"yes"
Kite|owner|Cy
Kite|electric|"no"
Kite|colour|green
Kite|price|"480"
Swift|price|"900"
Ann|lives in|Delft
Bo|lives in|Gouda
Cy|lives in|Delft
Ann|phone number|"12"
Ann|{TYPE}|customer
Bo|{TYPE}|customer
Cy|{TYPE}|customer
Swift|{TYPE}|bike
Heron|{TYPE}|bike
Kite|{TYPE}|bike
"""
ELECTRIC = '(FILTER = electric "yes" (CLASS "bike"))'


def bikes() -> NameLookup:
    return names_of(BIKES)


def test_a_condition_on_a_thing_is_joined_with_one_on_things_of_a_class() -> None:
    forms = grown(bikes(), "Which customers live in Delft and own an electric bike?")
    both = f'(AND (JOIN "lives in" "Delft") (JOIN (R owner) {ELECTRIC}))'
    assert f'(AND (CLASS "customer") {both})' in forms
    assert both in grown(bikes(), "Who lives in Delft and is the owner of an electric bike?")


def test_a_relation_that_is_named_leads_on_from_a_class() -> None:
    assert '(JOIN (R owner) (CLASS "bike"))' in grown(bikes(), "Who is the owner of a bike?")


def test_a_relation_that_is_named_may_be_all_that_is_asked_for() -> None:
    holding = '(AND (CLASS "customer") (JOIN "phone number" (JOIN (R "phone number") (CLASS "customer"))))'
    assert holding in grown(bikes(), "Which customers have a phone number?")
    assert holding not in grown(bikes(), "Which customers have a bike?")


def test_conditions_that_nothing_meets_are_grown() -> None:
    assert '(FILTER > price "1000" (CLASS "bike"))' in grown(bikes(), "Which bikes cost more than 1000?")
    forms = grown(bikes(), "Which customers live in Gouda and own a green bike?")
    green = '(JOIN (R owner) (AND (CLASS "bike") (JOIN colour "green")))'
    assert f'(AND (CLASS "customer") (AND (JOIN "lives in" "Gouda") {green}))' in forms


def test_all_members_meet_a_condition() -> None:
    forms = grown(orders(), "Are all orders paid?")
    assert '(EVERY (CLASS "order") (FILTER = paid "yes" (CLASS "order")))' in forms
    assert not any("EXISTS" in form for form in forms)
    assert '(EVERY (CLASS "order") (JOIN customer "Ann"))' in grown(orders(), "Are all the orders by Ann?")
    assert not any("EVERY" in form for form in grown(orders(), "Are any orders paid?"))


def test_texts_are_counted_by_what_has_them() -> None:
    most = '(ARGMAX (COUNT (R customer)) (JOIN (R customer) (CLASS "order")))'
    assert most in grown(orders(), "Who placed the most orders?")
    forms = grown(orders(), "Which customers ordered more than once?")
    assert '(FILTER > (COUNT (R customer)) "1" (JOIN (R customer) (CLASS "order")))' in forms
    assert not any("price" in form and '"1"' in form for form in forms)  # once is no price


def test_what_a_thing_has_may_be_true() -> None:
    whether = '(EXISTS (FILTER = paid "yes" (AND (CLASS "order") (JOIN customer "Bo"))))'
    assert whether in grown(orders(), "Has Bo paid?")
    # some of them are paid and some are not
    mixed = grown(orders('O-4|customer|"Bo"', 'O-4|paid|"yes"', f"O-4|{TYPE}|order"), "Has Bo paid?")
    assert whether not in mixed


def test_a_class_may_be_what_is_lacking() -> None:
    triples = triples_of("Lesson 1|pupil|Ann\nTest 1|pupil|Bo\nTest 2|pupil|Ann")
    kinds = {"Lesson 1": "lesson", "Test 1": "test", "Test 2": "test", "Ann": "pupil", "Bo": "pupil"}
    triples += [Triple(e, TYPE, kind) for e, kind in kinds.items()]
    forms = grown(names_of(triples), "Which pupils have had no lesson?")
    assert '(MINUS (CLASS "pupil") (JOIN (R pupil) (CLASS "lesson")))' in forms

"""Values, ranks and words that ask for an operation."""

from __future__ import annotations

import pytest
from support.forms import TYPE, mentions_of, names_of

from kgqa.graph.storage.store import GraphStore
from kgqa.qa.logical_forms.graph_index import GraphIndex, NameLookup
from kgqa.qa.logical_forms.mentions import class_asked
from kgqa.qa.logical_forms.operators import opposed
from kgqa.qa.logical_forms.question_values import comparators_in, values_in
from kgqa.types import Triple


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("over 12,000 people", ("12,000",)),
        ("less than 15 euros", ("15 euros",)),
        ("after 3 May 2018", ("3 May 2018",)),
        ("between 2015 and 2019", ("2015", "2019")),
        ("at least ten days", ("10 days",)),
        ("under €20", ("€20",)),
        ("before May 2021", ("May 2021",)),
        ("after 10 March or on May 3rd", ("10 March", "3 May")),
        ("in march or before June", ("March", "June")),
        ("Who may march?", ()),
        ("Which 10 may be sold?", ("10",)),
        ("Who won the 3rd march?", ("3",)),
        ("before 3 march", ("3 March",)),
        ("in May or June", ("May", "June")),
        ("between April and June", ("April", "June")),
    ],
)
def test_values(text: str, values: tuple[str, ...]) -> None:
    assert values_in(text) == values


@pytest.mark.parametrize(
    ("text", "value", "comparators"),
    [
        ("at least ten days", "10 days", {">="}),
        ("Who works 4 night shifts or more?", "4", {">="}),
        ("no more than 3 kg", "3 kg", {"<="}),
        ("built before 1930", "1930", {"<"}),
        ("opened between 1900 and 1930", "1900", {"between"}),
        ("opened between May and June", "May", {"between"}),
        ("opened in May or July", "May", {"="}),
        ("opened in March, June and July", "June", {"="}),
        ("opened in May and closed in July", "May", set()),
        ("not taller than 4 metres", "4 metres", {"<="}),
        ("longer than an hour and a half", "1.5 hour", {">"}),
        ("two and a half metres or less", "2.5 metres", {"<="}),
        ("more than 3 vans and over 4 kg", "3", {">"}),
        ("hired in 2012", "2012", set()),
    ],
)
def test_comparators_stand_beside_their_value(text: str, value: str, comparators: set[str]) -> None:
    assert comparators_in(text)[value] == comparators


@pytest.mark.parametrize(
    ("text", "operators"),
    [
        ("Who looks after Rook?", set()),
        ("Which are at least 4 m long?", {"more"}),
        ("What is in the forest?", set()),
        ("Which rides last more than 2 hours?", {"more", "pair"}),
        ("Which ride was opened last?", {"extreme"}),
    ],
)
def test_words_that_only_seem_to_ask(names: NameLookup, text: str, operators: set[str]) -> None:
    asked = mentions_of(names.facts, text)
    assert asked.operators == operators


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("Which van does Tom Firth drive?", ["Van"]),
        ("Which van's load is largest?", []),
        ("Which van driver earns most?", []),
        ("Who drives a van?", []),
    ],
)
def test_the_class_asked_for(names: NameLookup, text: str, classes: list[str]) -> None:
    asked = mentions_of(names.facts, text)
    assert [names.facts.label(kind) for kind in class_asked(names.facts, asked)] == classes


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("How many vans are there?", "count"),
        ("Is Rook a van?", "truth"),
        ("Which vans are not driven by Tom?", "negation"),
        ("Which van is the fastest?", "extreme"),
        ("What is the average load?", "average"),
        ("What do they weigh in all?", "sum"),
        ("Which carries more, Rook or Swift?", "pair"),
    ],
)
def test_operators(names: NameLookup, text: str, operator: str) -> None:
    asked = mentions_of(names.facts, text)
    assert operator in asked.operators


def test_a_rank(names: NameLookup) -> None:
    assert mentions_of(names.facts, "Which is the third fastest?").rank == 3


def named(facts: str, text: str) -> dict[str, list[str]]:
    """What a question over a graph names: its words, and what the entities are called."""
    known = names_of(facts).facts
    found = mentions_of(known, text).mentions
    return {text[m.start : m.end]: [known.label(e) for e in m.entities] for m in found}


@pytest.mark.parametrize(
    ("text", "rank"),
    [("Which van has the second-highest load?", 2), ("Which third-party van has the highest load?", 1)],
)
def test_a_hyphen_splits_a_rank_before_a_superlative_alone(names: NameLookup, text: str, rank: int) -> None:
    asked = mentions_of(names.facts, text)
    assert asked.rank == rank


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Which claims are unsettled?", "Which claims are not settled?"),
        ("Who wrote The Unknown Soldier?", "Who wrote The Unknown Soldier?"),
        ("Which bill is unpaid?", "Which bill is unpaid?"),
        ("Who came under it unless told?", "Who came under it unless told?"),
    ],
)
def test_prefixes_negate_words_of_relations_but_no_names_and_values(text: str, read: str) -> None:
    triples = [
        Triple("c1", "settled", '"true"'),
        Triple("The Unknown Soldier", "known for", "war"),
        Triple("b1", "paid on", '"unpaid"'),
        Triple("b1", "less than", "c1"),
    ]
    index = GraphIndex(GraphStore.from_triples(triples, name="claims"))
    assert index.with_negations(text) == read


def test_a_part_of_a_name_is_not_a_name_that_goes_on_otherwise() -> None:
    facts = "Sea Pledge|skipper|Elsie Bruin\nAuk|skipper|Noor Haddad"
    assert named(facts, "Who skippers the Sea Lark?") == {}
    assert named(facts, "Who skippers the Pledge?") == {"Pledge": ["Sea Pledge"]}


def test_a_text_may_be_a_part_of_a_name_as_well() -> None:
    facts = 'Auk|moored at|Skarrow station\nKestrel|home port|"Skarrow"'
    assert named(facts, "Which boats lie at Skarrow?")["Skarrow"] == ["Skarrow station", "Skarrow"]


def test_the_first_word_of_a_name_with_of_names_it() -> None:
    facts = "Harp of Ulm|maker|Ilse Kern\nLute of Bern|maker|Otto Frey"
    assert named(facts, "Which is older, the harp or the lute?") == {
        "harp": ["Harp of Ulm"],
        "lute": ["Lute of Bern"],
    }


@pytest.mark.parametrize(
    ("question", "relation", "excluded"),
    [
        ("When is the next service of Rook?", "last service", True),
        ("Who was the third examiner?", "second examiner", True),
        ("How wide is it?", "length", True),
        ("Who won the second race?", "winner", False),
        ("How many students dropped out?", "enrolment course", True),
        ("Which offer was rejected?", "accepted on", True),
        ("Who wrote the last letter?", "written by", False),
    ],
)
def test_words_that_exclude_each_other(question: str, relation: str, excluded: bool) -> None:
    assert opposed(question, relation) is excluded


SHOWS = f"""Salt Road|{TYPE}|Movie\nPaper Orchard|{TYPE}|Movie\nThe Lark|{TYPE}|Cinema\nHarle|{TYPE}|Festival
Harle|sponsor|Ostrel\nSalt Road|shown at|The Lark\nPaper Orchard|shown at|The Lark\nHarle|at|The Lark"""


def test_a_class_of_one_member_stands_for_it() -> None:
    assert named(SHOWS, "Who sponsors the festival?") == {"festival": ["Harle"]}
    assert named(SHOWS, "Who sponsors a festival?") == {"festival": ["Festival"]}
    assert named(SHOWS, "What is shown at the Lark, a movie?")["movie"] == ["Movie"]
    assert named(SHOWS, "Who is sponsor of the festival of Ostrel?")["festival"] == ["Festival"]


def test_the_verb_of_do_is_no_class() -> None:
    facts = f"Ostrel|{TYPE}|Sponsor\nThe Lark|{TYPE}|Cinema\nThe Lark|sponsored by|Ostrel"
    assert named(facts, "What does Ostrel sponsor?") == {"Ostrel": ["Ostrel"]}
    assert named(facts, "Does the Lark have a sponsor?")["sponsor"] == ["Sponsor"]


def test_a_noun_that_is_asked_for_may_be_another_word_for_a_class() -> None:
    assert named(SHOWS, "Which films are shown?") == {"films": ["Movie"]}
    assert named(SHOWS, "How many Irish films are there?") == {"films": ["Movie"]}
    assert named(SHOWS, "films at the Lark")["films"] == ["Movie"]
    assert "film" not in named(SHOWS, "Who would film that?")
    assert not named(SHOWS, "Which show is it?")  # a relation is called so: "shown at"
    assert named(SHOWS.replace("Festival", "Performance"), "Which movies play?") == {
        "movies": ["Movie"]
    }  # a verb
    assert named(SHOWS.replace("Movie", "Painting"), "Which artworks hang there?") == {
        "artworks": ["Painting"]
    }


def test_what_or_joins_may_be_the_answer(names: NameLookup) -> None:
    def either(text: str) -> list[str]:
        asked = mentions_of(names.facts, text)
        assert ("truth" in asked.operators) is not bool(asked.either)
        return sorted(map(names.facts.label, asked.either))

    assert either("Is the Rook or the Swift faster?") == ["Rook", "Swift"]
    assert either("Is there a van of Tom Firth or Mia Orbell?") == []
    assert either("Is Rook a van?") == []


def test_a_month_that_is_a_text_of_the_graph_is_no_date() -> None:
    triples = [Triple("Lilac", "flowers in", '"May"'), Triple("Rose", "flowers in", '"June"')]
    facts = names_of(triples).facts
    found = [mentions_of(facts, f"What flowers in {month}?").values for month in ("May", "March")]
    assert found == [(), ("March",)]


def test_the_day_of_a_date_is_no_rank() -> None:
    facts = names_of('Lilac|planted on|"2024-05-03"').facts
    ranks = {
        "What was planted on the 3rd of May?": 1,
        "Which was the 3rd oldest?": 3,
        "Who won the 3rd march?": 3,
        "Who came on the 3rd of march?": 1,
    }
    assert {text: mentions_of(facts, text).rank for text in ranks} == ranks


@pytest.mark.parametrize(
    ("text", "things", "values"),
    [
        ("Who was hired in May 2023?", [], ("May 2023",)),
        ("Who was hired on 3 June 2023?", [], ("3 June 2023",)),
        ("Was Tom hired in May?", ["Tom"], ("May",)),
        ("Was May hired in May?", ["May"], ("May",)),
        ("Who is managed by May?", ["May"], ()),
        ("May I see who was hired?", [], ()),
        ("Who was hired between May and June?", [], ("May", "June")),
        ("Was Tom hired in May or June?", ["Tom"], ("May", "June")),
        ("Was Tom hired in April, May, or June?", ["Tom"], ("April", "May", "June")),
        ("Was Tom hired on 3 June?", ["Tom"], ("3 June",)),
        ("Who is in June's team?", ["June"], ()),
        ("Who was hired before June?", ["June"], ()),
    ],
)
def test_a_month_of_a_date_is_no_person(text: str, things: list[str], values: tuple[str, ...]) -> None:
    triples = [Triple(person, "hired", '"2023-05-04"') for person in ("May", "June", "Tom")]
    facts = names_of(triples).facts
    asked = mentions_of(facts, text)
    assert [facts.label(e) for m in asked.mentions for e in m.entities] == things
    assert asked.values == values

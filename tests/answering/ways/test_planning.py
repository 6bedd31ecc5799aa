from dataclasses import replace

import numpy as np
from ship import LABELS, RELATIONS, graph, said

from kgqa.answering.decision import Following
from kgqa.answering.ways.planning import (
    as_choices_along,
    as_choices_to,
    ends_with,
    log_odds_of_none,
    names_unknown,
    plan,
    reached_by,
    training_ways,
)
from kgqa.answering.ways.ways import ways
from kgqa.types import Example, NodeRole, Question, Relation


def test_words_choose_the_way() -> None:
    for question, answer in (
        ("Who is the captain of the Gull?", "Ada Moss"),
        ("Where does the captain of the Gull live?", "Port Ellin"),
        ("When was the Gull launched?", "1902"),
        ("What kind of thing is the Gull?", "ship"),
    ):
        asked = said(question, "Gull")
        made = plan(question, asked, {})
        assert LABELS[made.ways[int(made.scores.argmax())].ends[0]] == answer, question


def test_what_is_read_decides_between_ways() -> None:
    question = "Who sails the Gull?"
    asked = said(question, "Gull")
    made = plan(question, asked, {"Ada Moss": 0.5})
    for wanted in ("Ada Moss", "1902"):
        read = [30.0 if LABELS[made.ways[way].ends[end]] == wanted else 0.0 for way, end in made.chosen]
        best = reached_by(made, asked, {"Ada Moss": 0.5}, read)[0]
        assert LABELS[best.node] == wanted
        assert [asked.edges[row, 2] for row in best.path.steps][-1] == best.node
    low, high = (log_odds_of_none(made, asked, {}, [score] * len(made.chosen)) for score in (-5.0, 5.0))
    assert low > high
    assert log_odds_of_none(plan("Who?", graph(), {}), graph(), {}, []) > Following().none_before
    leading = [9.0, *[5.0] * (len(made.chosen) - 1)]
    assert log_odds_of_none(made, asked, {}, leading) < log_odds_of_none(
        made, asked, {}, [9.0] * len(made.chosen)
    )


def test_what_the_graph_says_only_of_other_things_is_lacking() -> None:
    question = "What does the Gull weigh?"
    asked = said(question, "Gull")
    other = (*RELATIONS, Relation("weight", "weight", "has the weight"))
    assert plan(question, asked, {}, RELATIONS).lacks == 0 < plan(question, asked, {}, other).lacks


def test_a_choice_is_told_with_its_way_alone() -> None:
    question = Question("Where does the captain of the Gull live?")
    asked = said(question.text, "Gull")
    way = next(way for way in ways(asked) if way.ends == (2,))
    chosen, (part,) = as_choices_along(question, asked, [(way, 0)])
    assert chosen.choices == ("Port Ellin",) and part.labels == ("Gull", "Ada Moss", "Port Ellin")
    assert len(part.edges) == 2 and part.roles.tolist().count(int(NodeRole.CHOICE)) == 1
    _, parts = as_choices_to(question, asked, [2, 3])
    assert [len(one.edges) for one in parts] == [2, 1]


def test_training_takes_an_accepted_end_and_others() -> None:
    example = Example(Question("Who is the captain of the Gull?"), concepts=("Ada Moss",))
    asked = said(example.question.text, "Gull")
    made = training_ways(example, asked, 3, np.random.default_rng(0))
    assert made is not None and made[0].golds == ("Ada Moss",) and len(made[1]) == 3
    nobody = Example(example.question, concepts=("Nobody",))
    assert training_ways(nobody, asked, 3, np.random.default_rng(0)) is None


def test_of_facts_that_lead_the_same_way_the_surer_is_told() -> None:
    question = "Who sails the Gull?"
    asked = said(question, "Gull")
    made = plan(question, asked, {})
    number, end = next((way, end) for way, end in made.chosen if len(made.ways[way].ends) == 1)
    way = made.ways[number]
    (row,), other = way.edges[0], len(asked.edges)
    twice = replace(
        asked,
        edges=np.concatenate([asked.edges, asked.edges[[row]]]),
        weights=np.append(asked.weights, np.float32(0.2)),
    )
    ends = (way.ends[0], next(node for node in range(len(asked.nodes)) if node != way.ends[0]))
    both = made._replace(ways=[way._replace(ends=ends, edges=((row,), (other,)))], chosen=[(0, end)])
    first, second = reached_by(both, twice, {}, [0.0])
    assert first.node == ends[0] and first.score > second.score


def test_a_noun_that_is_asked_for_is_the_last_relation_of_a_way() -> None:
    asked = said("What home does the captain of the Gull have?", "Gull")
    ways_there = [
        way for way in ways(asked) if ends_with("What home does the captain of the Gull have?", asked, way)
    ]
    assert ways_there and {LABELS[end] for way in ways_there for end in way.ends} == {"Port Ellin"}
    kinds = [way for way in ways(asked) if ends_with("What kind of thing is the Gull?", asked, way)]
    assert {"ship"} <= {LABELS[end] for way in kinds for end in way.ends} <= {"ship", "person"}
    assert not any(ends_with("Where is the Gull?", asked, way) for way in ways(asked))


def test_a_name_that_the_graph_does_not_know() -> None:
    for question, unknown in (
        ("Who is the captain of the Gull?", False),
        ("Who is the captain of Atlantis?", True),
        ("What did Tom use?", False),
        ("What do Koreans sail?", False),
        ("What should I do?", False),
        ("What Is a Captain For?", False),
        ("WHAT DOES IT SAIL?", False),
    ):
        names = ["Gull"] if "Gull" in question else []
        assert names_unknown(question, said(question, *names)) is unknown, question

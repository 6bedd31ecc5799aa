"""Ways over a small graph: a ship's captain, where he lives, and what kind of thing it is."""

import numpy as np
import pytest

from kgqa.operations.following import (
    SILENT,
    as_choices_along,
    as_choices_to,
    clues,
    follows,
    led_to,
    nested_in,
    plan,
    silence,
    sources_of,
    training_ways,
    ways,
)
from kgqa.types import Example, Link, NodeRole, Question, Relation, Subgraph

LABELS = ("Gull", "Ada Moss", "Port Ellin", "ship", "1902", "person")
RELATIONS = (
    Relation("captain", "captain", "has captain"),
    Relation("home", "home", "lives in"),
    Relation("type", "is a", "is a"),
    Relation("launched", "launched", "was launched in"),
)
FACTS = ((0, 0, 1), (1, 1, 2), (0, 2, 3), (0, 3, 4), (1, 2, 5))


def graph(*mentioned: tuple[int, int, int]) -> Subgraph:
    """The subgraph of a question that mentions nodes at character ranges."""
    roles = np.full(len(LABELS), int(NodeRole.OTHER), dtype=np.int32)
    for node, _, _ in mentioned:
        roles[node] = int(NodeRole.QUESTION)
    names = tuple(f'"{label}"' if label.isdigit() else label for label in LABELS)
    return Subgraph(
        names,
        LABELS,
        roles,
        np.full(len(LABELS), 0.5, dtype=np.float32),
        np.array(FACTS, dtype=np.int32),
        np.ones(len(FACTS), dtype=np.float32),
        RELATIONS,
        tuple(Link(NodeRole.QUESTION, start, end, node) for node, start, end in mentioned),
    )


def said(question: str, *names: str) -> Subgraph:
    places = [(LABELS.index(name), question.index(name), question.index(name) + len(name)) for name in names]
    return graph(*places)


def test_ways_have_one_fact_or_two_and_begin_at_what_is_named() -> None:
    found = {(way.steps, way.ends) for way in ways(said("Who is the captain of the Gull?", "Gull"))}
    assert (((0, True),), (1,)) in found and (((0, True), (1, True)), (2,)) in found
    assert all(0 not in ends for _, ends in found)


def test_a_kind_beside_a_name_says_what_is_asked_for() -> None:
    question = "Which person sails the Gull?"
    asked = said(question, "Gull", "person")
    assert sources_of(asked) == [0]
    found = ways(asked)
    fits = dict(zip([way.ends for way in found], clues(question, asked, found).fits.tolist(), strict=True))
    assert fits[(1,)] == 1 and fits[(4,)] == -1
    assert sources_of(said("Which ship?", "ship")) == [3]


def test_words_choose_the_way() -> None:
    for question, answer in (
        ("Who is the captain of the Gull?", "Ada Moss"),
        ("Where does the captain of the Gull live?", "Port Ellin"),
        ("When was the Gull launched?", "1902"),
        ("What kind of thing is the Gull?", "ship"),
    ):
        asked = said(question, "Gull")
        made = plan(question, asked, {})
        assert LABELS[made.ways[int(made.worth.argmax())].ends[0]] == answer, question


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does the captain of the Gull live?", ("captain", "live")),
        ("Who lives in the port the Gull left?", ("port left", "lives")),
        ("Where was the Gull's captain born?", ("captain", "born")),
        ("Who is the captain of the Gull?", ("", "")),
        ("Who built the Gull?", ("", "")),
    ],
)
def test_a_thing_named_by_what_it_is_to_another(question: str, expected: tuple[str, str]) -> None:
    assert nested_in(question, said(question, "Gull"), [0]) == expected


def test_what_is_read_decides_between_ways() -> None:
    question = "Who sails the Gull?"
    asked = said(question, "Gull")
    made = plan(question, asked, {"Ada Moss": 0.5})
    for wanted in ("Ada Moss", "1902"):
        read = [30.0 if LABELS[made.ways[way].ends[end]] == wanted else 0.0 for way, end in made.chosen]
        best = led_to(made, asked, {"Ada Moss": 0.5}, read)[0]
        assert LABELS[best.node] == wanted
        assert [asked.edges[row, 2] for row in best.path.steps][-1] == best.node
    assert silence(made, [-5.0] * len(made.chosen)) > silence(made, [5.0] * len(made.chosen))
    assert silence(plan("Who?", graph(), {}), []) > SILENT


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


class _Graph:
    """What `follows` looks at."""

    def __init__(self, name: str, count: int | None, is_remote: bool = False) -> None:
        self.name, self.entity_count, self.is_remote = name, count, is_remote


def test_facts_are_followed_over_ones_own_graph() -> None:
    named, common = said("Who sails the Gull?", "Gull"), said("Which ship?", "ship")
    assert follows(_Graph("fleet", 100), common) and follows(_Graph("wiki", None, True), common)
    assert follows(_Graph("wiki", 10**6), named) and not follows(_Graph("wiki", 10**6), common)
    assert not follows(_Graph("everyday", 100), named)

from collections import Counter, defaultdict

from kgqa.graph.linking.label_keys import default_label
from kgqa.text.synthesis.operations import operation_worlds
from kgqa.text.synthesis.valued import read_wordings
from kgqa.types import OPERATIONS


def test_a_seed_makes_the_same_worlds_again() -> None:
    assert (
        list(operation_worlds(2, seed=1))
        == list(operation_worlds(2, seed=1))
        != list(operation_worlds(2, seed=2))
    )


def test_every_operation_is_asked_in_many_wordings() -> None:
    asked = Counter(posed.operation for world in operation_worlds(40, seed=0) for posed in world.posed)
    assert set(asked) == set(OPERATIONS) and min(asked.values()) > 10
    wordings = read_wordings()[2]
    for tables in (
        ("of_all", "of_two"),
        ("whether",),
        ("difference", "difference_is"),
        ("sum",),
        ("members", "count_role", "count_some"),
        ("list_members", "list_role", "list_some"),
        ("exists_role", "exists_any"),
    ):
        assert sum(len(wordings[table]) for table in tables) >= 12, tables


def test_what_is_meant_is_stated_and_some_questions_have_no_answer() -> None:
    told = untold = 0
    for world in operation_worlds(30, seed=4):
        things: dict[str, set[str]] = defaultdict(set)
        for fact in world.triples:
            things[fact.relation] |= {default_label(fact.head), default_label(fact.tail)}
        for posed in world.posed:
            told, untold = told + bool(posed.meant), untold + (not posed.meant)
            for meant in posed.meant:
                assert set(meant.relations) <= things.keys() and meant.things, posed
                assert meant.things <= set().union(*things.values()), posed
    assert 0.02 < untold / (told + untold) < 0.25

import pytest

from kgqa.answering.operations.telling import UNTOLD
from kgqa.trainer.data.mixture import DataSettings, load_examples
from kgqa.trainer.data.operations import asked_worlds, operations_in_worlds
from kgqa.types import OPERATIONS, Example


@pytest.fixture(scope="module")
def made() -> list[Example]:
    return list(operations_in_worlds(200, seed=0))


def test_most_questions_find_their_right_operand_among_those_that_are_read(made) -> None:
    assert len(made) > 0.9 * 200
    for example in made:
        assert example.choice is not None and example.question.choices[-1] == UNTOLD
        assert example.operation in OPERATIONS
    untold = sum(example.question.choices[example.choice] == UNTOLD for example in made)
    assert 0.03 < untold / len(made) < 0.3


def test_no_two_choices_are_the_same(made) -> None:
    assert all(len(set(example.question.choices)) == len(example.question.choices) for example in made)


def test_the_data_set_is_known_by_name(made) -> None:
    settings = DataSettings(name="operations", graph="none", limit=40)
    assert load_examples(settings, None) == list(operations_in_worlds(40, seed=0))[:40]


def test_questions_for_their_operation_alone_are_short() -> None:
    found = load_examples(DataSettings(name="operation-questions", graph="none", limit=100), None)
    assert len(found) == 100 and {example.operation for example in found} > {"count", "least", "most"}
    assert all(example.question.choices == (UNTOLD,) and example.choice == 0 for example in found)


def test_questions_come_with_a_subgraph_of_their_own_world() -> None:
    asked = list(asked_worlds(40, seed=0, max_nodes=60))
    assert len(asked) > 20
    found = [set(example.concepts) & set(graphs[0].labels) for example, graphs in asked if example.concepts]
    assert sum(map(bool, found)) > 0.8 * len(found)

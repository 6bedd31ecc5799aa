import pytest

from kgqa.operations.checking import OPEN_WORLD
from kgqa.types import Source


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Does the Island Line own Gull?", "yes"),
        ("Is Gull a ship?", "yes"),
        ("Is Gull a captain's vessel (ship)?", "yes"),
        ("Is the East Pier a ship?", "no"),
        ("Was Ada Berg born in Oslo?", "yes"),
        ("Did Ada Berg found Gull?", "no"),
        ("Was Ada Berg founded by the Island Line?", "no"),
        ("Does Gull take cars?", "yes"),
        ("Does Tern take cars?", "no"),
        ("Is Tern the East Pier?", "no"),
        ("Is Tern not to be confused with the East Pier?", "yes"),
        ("Has Oslo building?", "yes"),
    ],
)
def test_what_the_graph_states_is_yes_and_the_rest_no(reader, question: str, expected: str) -> None:
    answer = reader.ask(question)
    assert answer.text == expected and answer.source is Source.KNOWLEDGE


def test_a_graph_that_does_not_say_all_leaves_it_open(reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader.graph, "name", OPEN_WORLD[0])
    assert reader.ask("Is the East Pier a ship?").source is Source.NONE
    assert reader.ask("Is Gull a ship?").text == "yes"

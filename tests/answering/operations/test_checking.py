import pytest

from kgqa.graph.opening import open_graph
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


def test_who_makes_a_thing_is_not_what_it_is_made_from(tmp_path, over) -> None:
    path = tmp_path / "cheeses.tsv"
    facts = ["Karvin;made from;milk", "Karvin;produced by;Lom Dairy", "Lom Dairy;is a;dairy"]
    rows = "".join(fact.replace(";", "\t") + "\n" for fact in ["head;relation;tail", *facts])
    path.write_text(rows, encoding="utf-8")
    ask = over(open_graph(path)).ask
    assert ask("Does Lom Dairy make Karvin?").text == "yes"
    assert ask("Is Karvin made from milk?").text == "yes"


def test_a_graph_that_does_not_say_all_leaves_it_open(reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader.graph, "is_complete", False)
    assert reader.ask("Is the East Pier a ship?").source is Source.NONE
    assert reader.ask("Is Gull a ship?").text == "yes"

import numpy as np

from kgqa.operations.choosing import Option, Thing, alike, choose, content, without
from kgqa.operations.lookup import groups_of


def test_words_are_compared_in_their_base_form() -> None:
    assert alike("Who won the cup", "won by") == alike("Did Ann win it", "won by") == 1
    assert alike("How many seats has the hall", "number of seats") == 1 and alike("Who sings", "depth") == 0
    assert "win" in content("won") and "the" not in content("the cup")


def test_names_are_taken_out_of_a_question() -> None:
    assert without("Is Ann a nurse?", [Thing(3, 6, (1,)), Thing(9, 14, (2,))]).split() == ["Is", "a", "?"]


def test_the_reader_chooses_the_relation(reader) -> None:
    line = reader.graph.find(["Island Line"])[0].tolist()
    groups = groups_of(reader.graph, line)
    options = [Option(group.anchor, group.rows[:1], group.ends[0]) for group in groups]
    weights = choose(reader, ["Who founded the Island Line?"], options, "Who founded")
    best = reader.graph.relations[groups[int(np.argmax(weights))].relation]
    assert best.label == "founded by" and abs(sum(weights) - 1) < 1e-6
    assert choose(reader, ["what"], options[:1], "") == [1.0]


def test_a_doer_and_an_irregular_past_are_their_verb() -> None:
    assert alike("Who won it?", "winner") == alike("the winner of it", "won by") == 1
    assert alike("Who is the father?", "fathom") < 1

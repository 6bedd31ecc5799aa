import numpy as np

from kgqa.answering.operations.choosing import Option, Thing, choose, without
from kgqa.answering.operations.lookup import groups_of


def test_names_are_taken_out_of_a_question() -> None:
    assert without("Is Ann a nurse?", [Thing(3, 6, (1,)), Thing(9, 14, (2,))]).split() == ["Is", "a", "?"]


def test_the_reader_chooses_the_relation(reader) -> None:
    line = reader.graph.find(["Island Line"])[0].tolist()
    groups = groups_of(reader.graph, line)
    options = [Option(group.anchor, group.rows[:1], group.ends[0]) for group in groups]
    weights = choose(reader.graph, reader.score, ["Who founded the Island Line?"], options, "Who founded")
    best = reader.graph.relations[groups[int(np.argmax(weights))].relation]
    assert best.label == "founded by" and abs(sum(weights) - 1) < 1e-6
    assert choose(reader.graph, reader.score, ["what"], options[:1], "") == [1.0]

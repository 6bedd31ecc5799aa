from dataclasses import replace

import numpy as np

from kgqa.models.collation.rows import LONGEST, as_choices, shortened, training_choices
from kgqa.types import Example, Link, NodeRole, Passage, Question, Subgraph


def test_each_candidate_plays_the_choice_of_its_own_part(digging: Subgraph) -> None:
    nodes = list(range(len(digging.nodes)))[-2:]
    question, graphs = as_choices(Question("what did i dig with"), digging, nodes, 2)
    assert question.choices == tuple(digging.labels[n] for n in nodes)
    for label, graph in zip(question.choices, graphs, strict=True):
        chosen = [graph.labels[i] for i, role in enumerate(graph.roles) if role == NodeRole.CHOICE]
        assert chosen == [label] and len(graph.nodes) <= len(digging.nodes)


def test_training_candidates_hold_an_accepted_one(digging: Subgraph) -> None:
    example = Example(Question("what did i dig with"), concepts=("trowel",))
    made = training_choices(example, digging, 2, 2, np.random.default_rng(0))
    assert made is not None and made[0].golds == ("trowel",) and len(made[1]) == 2
    unknown = Example(example.question, concepts=("moon",))
    assert training_choices(unknown, digging, 2, 2, np.random.default_rng(0)) is None


def test_a_long_passage_is_cut_to_what_the_question_is_about(digging: Subgraph) -> None:
    text = "It rained all day. " * 40 + "Then I planted flowers with joy. " + "The bus was late. " * 40
    place = text.index("planted flowers")
    graph = replace(digging, links=(Link(NodeRole.PASSAGE, place, place + 15, 0),))
    question, moved = shortened(Question("Who planted the flowers?", (), Passage(text)), graph)
    assert len(question.passage_text) <= LONGEST and "planted flowers" in question.passage_text
    link = moved.links[0]
    assert question.passage_text[link.start : link.end] == "planted flowers"
    short = Question("Who?", (), Passage("I planted flowers."))
    assert shortened(short, digging) == (short, digging)

import numpy as np

from kgqa.models.rereading import as_choices, training_choices
from kgqa.types import Example, NodeRole, Question, Subgraph


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

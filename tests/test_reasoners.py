"""What every reasoner owes: it follows relations, has no favourite node order, and answers without a graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.reader import Reader
from kgqa.models.reasoners import REASONERS, ReasonerSettings
from kgqa.types import Example, Link, NodeRole, Passage, Question, Relation, Subgraph

RELATIONS = (Relation("r:UsedFor", "used for", "is used for"), Relation("r:Step", "has step", "has step"))
DEAF = {"text-only", "ernie"}
"""Text alone; and entities as vectors, of which ERNIE reads no fact."""
ONE_HOP = {"k-bert"}
"""K-BERT writes the facts of mentioned concepts into the sentence, and no further ones."""


def reader_of(name: str, encoder) -> Reader:
    settings = ReasonerSettings(name=name, graph_size=16, num_layers=2, num_heads=2, dropout=0.0)
    return Reader(encoder, settings)


def chain(last: int, hops: int) -> Subgraph:
    """From "garden" to the choice; what the last relation is tells whether the choice is right."""
    edges = [[0, last, 1]] if hops == 1 else [[0, 1, 2], [2, last, 1]]
    return Subgraph(
        nodes=("ex:garden", "ex:bee", "ex:house")[: hops + 1],
        labels=("garden", "bee", "house")[: hops + 1],
        roles=np.array([NodeRole.QUESTION, NodeRole.CHOICE, NodeRole.OTHER], dtype=np.int32)[: hops + 1],
        scores=np.array([1.0, 1.0, 0.5], dtype=np.float32)[: hops + 1],
        edges=np.array(edges, dtype=np.int32),
        weights=np.ones(hops, dtype=np.float32),
        relations=RELATIONS,
        links=(Link(NodeRole.QUESTION, 5, 11, 0),),
    )


def toy(tokenizer, hops: int):
    """Four questions whose two choices are the same words: only a relation tells them apart."""
    golds = (0, 1, 1, 0)
    question = Question("what garden", ("bee", "bee"))
    graphs = [[chain(int(choice != gold), hops) for choice in (0, 1)] for gold in golds]
    return Collator(tokenizer)([Example(question, choice=g) for g in golds], graphs, with_gold=True)


@pytest.mark.parametrize("name", sorted(set(REASONERS) - DEAF))
def test_it_learns_to_follow_a_relation(name: str, encoder, tokenizer) -> None:
    reader, collated = reader_of(name, encoder), toy(tokenizer, 1 if name in ONE_HOP else 2)
    optimizer = torch.optim.AdamW(reader.parameters(), lr=5e-3)
    for _ in range(120):
        loss, _ = reader.choice.loss(reader(collated.batch).choice, collated.batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if loss < 0.2:
            break
    with torch.no_grad():
        scores = reader.eval()(collated.batch).choice.view(-1, 2)
    assert scores.argmax(1).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("name", sorted(DEAF))
def test_without_facts_the_toy_task_cannot_be_learnt(name: str, encoder, tokenizer) -> None:
    reader, collated = reader_of(name, encoder).eval(), toy(tokenizer, 2)
    with torch.no_grad():
        scores = reader(collated.batch).choice.view(-1, 2)
    assert torch.allclose(scores[:, 0], scores[:, 1], atol=1e-6)  # whatever the weights: the rows are alike


@pytest.mark.parametrize("name", sorted(REASONERS))
def test_the_order_of_nodes_and_facts_does_not_matter(name: str, encoder, tokenizer, digging) -> None:
    order, facts = np.array([4, 2, 0, 1, 3]), np.array([2, 0, 1])
    place = np.argsort(order).astype(np.int32)
    edges = digging.edges[facts]
    shuffled = replace(
        digging,
        nodes=tuple(digging.nodes[i] for i in order),
        labels=tuple(digging.labels[i] for i in order),
        roles=digging.roles[order],
        scores=digging.scores[order],
        edges=np.stack([place[edges[:, 0]], edges[:, 1], place[edges[:, 2]]], 1),
        weights=digging.weights[facts],
        links=tuple(replace(link, node=int(place[link.node])) for link in digging.links),
    )
    reader, collate = reader_of(name, encoder).eval(), Collator(tokenizer)
    open_question = Example(Question("what did i dig with", passage=Passage("i want to plant flowers")))
    chosen = Example(Question("what is it", ("trowel", "bee"), Passage("i want to plant flowers")))
    with torch.no_grad():
        a, b = (reader(collate([open_question], [[g]]).batch) for g in (digging, shuffled))
        c, d = (reader(collate([chosen], [[g, g]]).batch) for g in (digging, shuffled))
    assert torch.allclose(a.concept[1:][order], b.concept[1:], atol=1e-4)
    assert torch.allclose(a.answer_type, b.answer_type, atol=1e-4) and torch.allclose(
        c.choice, d.choice, atol=1e-4
    )


@pytest.mark.parametrize("name", sorted(REASONERS))
def test_a_question_with_an_empty_subgraph_still_gets_an_answer(name: str, encoder, tokenizer) -> None:
    reader = reader_of(name, encoder).eval()
    examples = [Example(Question("what is it", ("bee", "hive"))), Example(Question("where"))]
    collated = Collator(tokenizer)(examples, [[Subgraph()]] * 2)
    with torch.no_grad():
        scores = reader(collated.batch)
    assert len(reader.choice.decode(scores.choice, collated)[0]) == 2
    assert scores.answer_type.isfinite().all() and scores.span.isfinite().all()


@pytest.mark.parametrize("name", sorted(REASONERS))
def test_a_question_is_read_alike_alone_and_beside_others(name: str, encoder, tokenizer) -> None:
    """Padding, other rows and their graphs change nothing."""
    reader, collate = reader_of(name, encoder).eval(), Collator(tokenizer)
    question = Question("what garden", ("bee", "house"))
    other = Question(
        "what is there beside the old house in the garden of the bee", ("garden", "bee", "house")
    )
    graphs = [chain(0, 2), chain(1, 2)]
    alone = collate([Example(question)], [graphs]).batch
    beside = collate([Example(other), Example(question)], [[Subgraph(), *graphs], graphs]).batch
    with torch.no_grad():
        one, two = reader(alone), reader(beside)
    assert torch.allclose(one.choice, two.choice[-len(one.choice) :], atol=1e-4)
    assert torch.allclose(one.concept, two.concept[-len(one.concept) :], atol=1e-4)
    assert torch.allclose(one.answer_type, two.answer_type[-len(one.answer_type) :], atol=1e-4)

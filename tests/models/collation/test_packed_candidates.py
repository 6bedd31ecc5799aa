from dataclasses import replace

import numpy as np
import pytest
import torch

from kgqa.metrics import surface_key
from kgqa.models.collation.collate import Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.collation.rows import answer_nodes, merged_subgraph, pack_candidates
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.types import Example, Link, NodeRole, Passage, Question, Subgraph

OPEN = Question("What did I dig with?", passage=Passage("I want to plant flowers so I dug the ground."))


def test_concepts_that_no_text_mentions_come_first_and_the_gold_one_always(digging) -> None:
    nodes = answer_nodes(digging, 2)
    assert all(digging.roles[node] == NodeRole.OTHER for node in nodes)
    assert digging.scores[nodes[0]] >= digging.scores[nodes[1]]
    left_out = next(n for n, label in enumerate(digging.labels) if n not in nodes)
    assert left_out in answer_nodes(digging, 2, {surface_key(digging.labels[left_out])})


def test_a_choice_tells_the_fact_nearest_to_the_question(digging) -> None:
    near = np.zeros(len(digging.edges), np.float32)
    trowel = digging.labels.index("trowel")
    row = next(r for r, (head, _, tail) in enumerate(digging.edges.tolist()) if trowel in (head, tail))
    near[row] = 0.8
    chosen = Link(NodeRole.CHOICE, 0, 6, trowel)
    reading = InputConfig(packed=True, candidates=3, facts=1)
    asked = Example(Question(OPEN.text, ("trowel",)))
    _, (reported,) = pack_candidates(asked, [replace(digging, near=near, links=(chosen,))], reading, False)
    assert reported.text.startswith("trowel. ") and "plant flowers" in reported.text
    _, open_branches = pack_candidates(Example(OPEN), [replace(digging, near=near)], reading, False)
    assert "trowel" in [branch.text for branch in open_branches]


def test_subgraphs_of_choices_become_one(digging) -> None:
    first = replace(digging, links=(Link(NodeRole.CHOICE, 0, 6, 0), Link(NodeRole.QUESTION, 0, 4, 1)))
    second = replace(digging, nodes=tuple(f"{n}x" if n == digging.nodes[0] else n for n in digging.nodes))
    both = merged_subgraph([first, second])
    assert len(both.nodes) == len(digging.nodes) + 1 and len(set(both.nodes)) == len(both.nodes)
    assert [link.part for link in both.links if link in first.links] == [NodeRole.QUESTION]
    assert len(both.weights) == len(both.edges) == len(both.near)
    example = Example(Question("What?", ("one", "two")))
    graph, packed = pack_candidates(example, [first, second], InputConfig(packed=True), False)
    assert [branch.node for branch in packed] == [graph.nodes.index(digging.nodes[0]), -1]


@pytest.mark.parametrize("name", ["text-only", "fused"])
def test_a_concept_is_learnt_from_its_branch(name: str, tokenizer, encoder, digging) -> None:
    torch.manual_seed(0)
    settings = ReasonerSettings(name=name, graph_size=16, num_layers=2, num_heads=2, dropout=0.0)
    reader = Reader(encoder, settings)
    other = replace(OPEN, passage=Passage("I want to build a house so I dug the ground."))
    examples = [Example(OPEN, concepts=("trowel",)), Example(other, concepts=("excavator",))]
    reading = InputConfig(packed=True, candidates=3, facts=1, context_facts=1)
    collated = Collator(tokenizer, reading)(examples, [[digging]] * 2, with_gold=True)
    optimizer = torch.optim.Adam(reader.parameters(), 3e-3)
    for _ in range(40):
        optimizer.zero_grad()
        loss = reader.loss(collated.batch)
        loss.total.backward()
        optimizer.step()
    with torch.no_grad():
        found = reader.concept.decode(reader(collated.batch).concept, collated)
    assert [best[0].text for best in found] == ["trowel", "excavator"]
    read = {c.text for c in found[0] if c.score > 1e-6}
    assert read <= {digging.labels[n] for n in answer_nodes(digging, 3, {"trowel"})}


def test_facts_are_told_behind_the_passage_and_are_no_answer(tokenizer, digging) -> None:
    near = np.full(len(digging.edges), 0.5, np.float32)
    reading = InputConfig(packed=True, context_facts=2)
    batch = Collator(tokenizer, reading)([Example(OPEN)], [[replace(digging, near=near)]]).batch
    bare = Collator(tokenizer, InputConfig(packed=True))([Example(OPEN)], [[digging]]).batch
    assert batch.tokens.attention_mask.sum() > bare.tokens.attention_mask.sum()
    assert batch.passage_mask.sum() == bare.passage_mask.sum()


def test_an_empty_subgraph_has_no_branches(tokenizer) -> None:
    reading = InputConfig(packed=True, candidates=8, facts=2, context_facts=2)
    batch = Collator(tokenizer, reading)([Example(OPEN)], [[Subgraph()]]).batch
    assert batch.packed is not None and len(batch.packed.row) == 0

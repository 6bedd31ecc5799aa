from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from support.tiny import fit

from kgqa.metrics import surface_key
from kgqa.models.collation.collate import TRAINED_WINDOWS, Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.collation.rows import (
    LONGEST,
    MAX_MENTION_TOKENS,
    Pieces,
    RowBuilder,
    as_choices,
    candidate_nodes,
    mention_places,
    mentions_of_row,
    merged_subgraph,
    nearest_windows,
    pack_candidates,
    shortened,
    training_choices,
)
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.types import Example, Link, NodeRole, Passage, Question, Span, Subgraph


def test_every_row_has_its_own_copy_of_the_subgraph(digging) -> None:
    parts = RowBuilder()
    passage = Pieces([7, 8, 9], [(0, 1), (2, 5), (6, 9)])
    for left in (0, 1):
        ids = [1, 5, 2, *passage.ids[left : left + 2], 2]
        assert parts.add_row(0, -1, ids, [0] * 6, passage, 3, left, digging) == left
    offsets = [list(row.offsets) for row in parts.rows]
    assert offsets == [[(0, 0)] * 3 + [(0, 1), (2, 5)], [(0, 0)] * 3 + [(2, 5), (6, 9)]]
    assert [row.first_node for row in parts.rows] == [0, len(digging.nodes) + 1]
    assert [row.first_edge for row in parts.rows] == [0, len(digging.edges)]


def test_a_mention_covers_its_tokens_and_moves_with_its_part() -> None:
    words = Pieces([7, 8, 9], [(0, 3), (4, 8), (9, 12)])
    graph = Subgraph(links=(Link(NodeRole.PASSAGE, 4, 12, 5), Link(NodeRole.QUESTION, 0, 3, 6)))
    places = mention_places(graph, {NodeRole.PASSAGE: words})
    assert places == {NodeRole.PASSAGE: [(1, 0, 5), (2, 0, 5)]}
    seen = {NodeRole.PASSAGE: (10, 0, 2), NodeRole.QUESTION: (1, 0, 3)}
    assert mentions_of_row(places, seen, 3, 100) == [(3, 11, 105)]  # the third token is beyond the window


def test_of_a_long_mention_a_few_tokens_count() -> None:
    words = Pieces(list(range(9)), [(2 * i, 2 * i + 1) for i in range(9)])
    graph = Subgraph(links=(Link(NodeRole.QUESTION, 0, 18, 0),))
    assert len(mention_places(graph, {NodeRole.QUESTION: words})[NodeRole.QUESTION]) == MAX_MENTION_TOKENS


FILLER = "the house was red and it was blue . " * 12
TEXT = FILLER + "bees want honey . " + FILLER
ASKED = Question("where is honey", passage=Passage(TEXT))
READING = InputConfig(max_tokens=48, stride=8, windows=2)


def pieces(tokenizer, text: str) -> tuple[str, Pieces]:  # type: ignore[no-untyped-def]
    found = tokenizer.encode(text, add_special_tokens=False)
    return text, Pieces(found.ids, found.offsets)


def test_windows_with_rare_words_of_the_question_are_read(tokenizer, digging) -> None:  # type: ignore[no-untyped-def]
    collated = Collator(tokenizer, READING)([Example(ASKED)], [[digging]])
    every = Collator(tokenizer, READING.model_copy(update={"windows": 0}))([Example(ASKED)], [[digging]])
    assert len(collated.rows) == 2 < len(every.rows)
    at = TEXT.index("honey")
    assert any(row.offsets.count((at, at + 5)) for row in collated.rows)
    kept = [row.offsets for row in collated.rows]
    assert kept == [row.offsets for row in every.rows if row.offsets in kept]  # in their order


def test_what_is_near_in_meaning_alone_is_read(tokenizer) -> None:  # type: ignore[no-untyped-def]
    text = pieces(tokenizer, TEXT)
    windows = [(start, start + 20) for start in range(0, len(text[1][0]) - 19, 10)]
    asked = pieces(tokenizer, "who needs flowers")

    def similarity(_question: str, others: list[str]) -> list[float]:
        return [float("honey" in other) for other in others]

    place = next(n for n, (_, end) in enumerate(text[1][1]) if end > TEXT.index("honey"))
    near = nearest_windows(windows, 3, asked, text, similarity)
    assert near == sorted(near) and any(left - 48 <= place < right + 48 for left, right in near)
    assert all(end <= left for (_, end), (left, _) in itertools.pairwise(near))  # no two tell the same
    assert nearest_windows(windows[:3], 3, asked, text, similarity) == windows[:3]


def test_to_learn_from_a_very_long_passage_the_answer_and_what_is_near_are_read(tokenizer, digging) -> None:  # type: ignore[no-untyped-def]
    long = Question("where is honey", passage=Passage(FILLER * 20 + "bees want honey . " + FILLER * 20))
    at = long.passage_text.index("bees")
    for spans in ((Span(at, at + 4),), (Span(4, 9),)):
        collated = Collator(tokenizer, READING)([Example(long, spans=spans)], [[digging]], with_gold=True)
        gold = collated.batch.gold
        assert gold is not None and gold.start.max() > 0 and len(collated.rows) <= 2 * TRAINED_WINDOWS
        assert any(row.offsets.count((at + 10, at + 15)) for row in collated.rows)


def test_to_learn_from_a_passage_all_of_it_is_read(tokenizer, digging) -> None:  # type: ignore[no-untyped-def]
    example = Example(ASKED, spans=(Span(0, 9),))
    assert Collator(tokenizer, READING)([example], [[digging]], with_gold=True).batch.num_rows > 2


def test_a_passage_without_words_has_no_answer_to_learn(tokenizer, digging) -> None:  # type: ignore[no-untyped-def]
    example = Example(Question("where is honey", passage=Passage(" ")), spans=(Span(0, 1),))
    gold = Collator(tokenizer, READING)([example], [[digging]], with_gold=True).batch.gold
    assert gold is not None and not gold.start.any()


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


OPEN = Question("What did I dig with?", passage=Passage("I want to plant flowers so I dug the ground."))


def test_concepts_that_no_text_mentions_come_first_and_the_gold_one_always(digging) -> None:
    nodes = candidate_nodes(digging, 2)
    assert all(digging.roles[node] == NodeRole.OTHER for node in nodes)
    assert digging.scores[nodes[0]] >= digging.scores[nodes[1]]
    left_out = next(n for n, label in enumerate(digging.labels) if n not in nodes)
    assert left_out in candidate_nodes(digging, 2, {surface_key(digging.labels[left_out])})


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
    fit(lambda: reader.loss(collated.batch).total, reader.parameters())
    with torch.no_grad():
        found = reader.concept.decode(reader(collated.batch).concept, collated)
    assert [best[0].text for best in found] == ["trowel", "excavator"]
    read = {c.text for c in found[0] if c.score > 1e-6}
    assert read <= {digging.labels[n] for n in candidate_nodes(digging, 3, {"trowel"})}


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

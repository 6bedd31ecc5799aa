from __future__ import annotations

import time

import numpy as np
import pytest
import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.collation.input_config import InputConfig, input_config_of
from kgqa.models.collation.rows import PathTable, choice_nodes, paths_text
from kgqa.types import Example, InputError, Link, NodeRole, Passage, Question, Span, Subgraph

PASSAGE = "I want to plant flowers so I dug the ground."


def test_rows_nodes_and_mentions(tokenizer, digging) -> None:
    question = Question("What did I dig with?", passage=Passage(PASSAGE))
    collated = Collator(tokenizer)([Example(question, concepts=("a trowel",))], [[digging]], with_gold=True)
    batch = collated.batch
    assert batch.num_rows == 1 and batch.graph.role[0] == NodeRole.CONTEXT
    assert batch.graph.node_label.shape == (6,) and batch.graph.edge_index.shape == (2, 3)
    assert batch.graph.edge_index[:, 0].tolist() == [3, 1]
    assert batch.gold is not None and batch.gold.node.tolist() == [False, False, False, True, False, False]
    assert batch.gold.source.tolist() == [1]
    ids = batch.tokens.input_ids[0, batch.graph.mention_token].tolist()
    assert [tokenizer.id_to_token(i) for i in ids] == ["plant", "flowers"]
    assert batch.graph.mention_node.tolist() == [1, 1]


def test_choices_become_rows(tokenizer, digging) -> None:
    example = Example(Question("What?", ("trowel", "excavator", "bee")), choice=1)
    batch = Collator(tokenizer)([example], [[digging, digging, Subgraph()]], with_gold=True).batch
    assert batch.question.tolist() == [0, 0, 0] and batch.choice.tolist() == [0, 1, 2]
    assert batch.gold is not None and batch.gold.choice.tolist() == [1]
    assert (batch.graph.batch == 2).sum() == 1  # an empty subgraph still has its context node


def test_spans_are_token_positions_inside_windows(tokenizer) -> None:
    long = "the ground and the house . " * 20 + "a red shovel was in the garden ."
    start = long.index("red shovel")
    example = Example(Question("What was it?", passage=Passage(long)), spans=(Span(start, start + 10),))
    collated = Collator(tokenizer, InputConfig(max_tokens=64, stride=16))(
        [example], [[Subgraph()]], with_gold=True
    )
    batch = collated.batch
    assert batch.num_rows > 2 and batch.tokens.input_ids.shape[1] <= 64
    assert batch.gold is not None
    held = [row for row in range(batch.num_rows) if batch.gold.start[row] > 0]
    assert held
    for row in held:
        first, last = int(batch.gold.start[row]), int(batch.gold.end[row])
        offsets = collated.rows[row].offsets
        assert long[offsets[first][0] : offsets[last][1]] == "red shovel"
    covered = set()
    for row in collated.rows:
        covered.update(range(len(long)) if not row.offsets else [s for s, e in row.offsets if e > s])
    assert {i for i, c in enumerate(long) if c.isalpha() and (i == 0 or long[i - 1] == " ")} <= covered


def test_only_passage_tokens_may_be_answers(tokenizer, digging) -> None:
    question = Question("What did I dig with?", passage=Passage(PASSAGE))
    batch = Collator(tokenizer)([Example(question)], [[digging]]).batch
    assert torch.equal(batch.passage_mask, batch.tokens.token_type_ids.bool() & batch.passage_mask)
    assert batch.passage_mask.sum() == 11


def linked(*starts: int) -> Subgraph:
    """One concept, which a passage names "shovel" at these places."""
    return Subgraph(
        nodes=("n",),
        labels=("shovel",),
        roles=np.array([1], dtype=np.int32),
        scores=np.ones(1, dtype=np.float32),
        links=tuple(Link(NodeRole.PASSAGE, start, start + 6, 0) for start in starts),
    )


def test_links_of_a_long_passage_are_placed_in_every_window_that_shows_them(tokenizer) -> None:
    text = "the red shovel . " * 40
    starts = [i for i in range(len(text)) if text.startswith("shovel", i)]
    example = Example(Question("What?", passage=Passage(text)))
    collate = Collator(tokenizer, InputConfig(max_tokens=64, stride=16))
    batch = collate([example], [[linked(*reversed(starts))]]).batch
    marked = batch.tokens.input_ids[batch.graph.mention_row, batch.graph.mention_token]
    shovel = tokenizer.token_to_id("shovel")
    assert set(marked.tolist()) == {shovel} and len(marked) == int((batch.tokens.input_ids == shovel).sum())


def test_repeated_words_take_time_in_proportion(tokenizer) -> None:
    text = "shovel " * 20_000
    graph = linked(*range(0, len(text), 7))
    began = time.process_time()
    Collator(tokenizer)([Example(Question("What?", passage=Passage(text)))], [[graph]])
    assert time.process_time() - began < 20  # minutes, were every link sought in every token of every window


def test_a_text_of_endless_tokens_is_refused(tokenizer) -> None:
    with pytest.raises(InputError, match="tokens"):
        Collator(tokenizer)([Example(Question("What?", passage=Passage("." * 200_000)))], [[Subgraph()]])


def test_choices_become_branches_of_one_row(tokenizer, digging) -> None:
    question = Question("What did I dig with?", ("red shovel", "bee"), Passage(PASSAGE))
    collator = Collator(tokenizer, InputConfig(packed=True))
    batch = collator([Example(question, choice=1)], [[digging]], with_gold=True).batch
    assert batch.num_rows == 1 and batch.packed is not None and batch.tokens.candidate_index is not None
    assert [part.tolist() for part in batch.scored] == [[0, 0], [0, 1]]
    assert batch.tokens.position is not None
    ids, branch, position = (
        batch.tokens.input_ids[0],
        batch.tokens.candidate_index[0],
        batch.tokens.position[0],
    )
    output = [[tokenizer.id_to_token(i) for i in ids[branch == number].tolist()] for number in (1, 2)]
    assert output == [["red", "shovel", "[SEP]"], ["bee", "[SEP]"]]
    prefix = int(position[branch == 1][0])
    # both go on from the end of the shared prefix
    assert position[branch == 2].tolist() == [prefix, prefix + 1]
    assert not (
        batch.passage_mask[0] & (branch > 0)
    ).any()  # a packed candidate holds no words of the passage


def test_every_window_has_all_branches(tokenizer) -> None:
    long = Passage("the ground and the house . " * 20)
    collator = Collator(tokenizer, InputConfig(max_tokens=64, stride=16, packed=True))
    batch = collator([Example(Question("What?", ("bee", "hive"), long))], [[Subgraph()]]).batch
    assert batch.packed is not None and batch.num_rows > 2
    assert batch.packed.row.tolist() == [row for row in range(batch.num_rows) for _ in range(2)]


def test_the_best_path_to_a_node_is_told_first(digging: Subgraph) -> None:
    table = PathTable(digging)
    tool = digging.labels.index("trowel")
    paths = table.paths(tool, 2)
    assert paths and paths == sorted(paths, key=lambda reported: -reported.worth)
    assert "trowel" in paths_text(table, [tool], 2)


def test_nothing_is_told_of_a_graph_without_facts() -> None:
    assert paths_text(PathTable(Subgraph()), [], 2) == "" and choice_nodes(Subgraph()) == []


def test_settings_come_from_the_card() -> None:
    settings = InputConfig(max_nodes=50, facts=2)
    assert input_config_of({"input": settings.model_dump()}) == settings


def test_what_an_older_card_still_names_is_dropped() -> None:
    assert input_config_of({"input": {"facts": 2, "reread": 4}}) == InputConfig(facts=2)
    with pytest.raises(InputError, match="input.rereads"):
        input_config_of({"input": {"rereads": 4}})


def test_an_older_card_has_them_among_the_recipe() -> None:
    old = input_config_of({"max_nodes": 20, "ablation": "shuffled", "recipe": {"max_tokens": 192}})
    assert (old.max_nodes, old.ablation, old.max_tokens, old.facts) == (20, "shuffled", 192, 0)

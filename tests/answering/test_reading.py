from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kgqa.answering.decision import Decision
from kgqa.answering.draft import Draft
from kgqa.answering.reading import read
from kgqa.answering.retrieving import Retriever, retrieve
from kgqa.graph.opening import open_graph
from kgqa.graph.retrieval.ablation import without_facts
from kgqa.models.opening import open_reader
from kgqa.types import Passage, Question

PASSAGE = Passage("I want to plant flowers so I dug the ground.")


def test_each_question_has_the_scores_of_its_own_rows(model_folder: Path, tools_file: Path) -> None:
    reader = open_reader(model_folder)
    retriever = Retriever(open_graph(tools_file), reader.settings)
    questions = (
        Question("What did I dig with?", passage=PASSAGE),
        Question("What did I dig with?", ("trowel", "excavator"), PASSAGE),
    )
    opened, chosen = read(retrieve(tuple(map(Draft, questions)), retriever), reader)
    assert opened.scores.spans and opened.scores.concepts and not opened.scores.choices
    assert [c.text for c in chosen.scores.choices] and not chosen.scores.concepts
    assert [r.row.choice for r in chosen.scores.rows] == [0, 1] and len(opened.scores.rows) == 1
    (row,) = opened.scores.rows
    assert len(row.concepts) == len(opened.subgraph.nodes)
    best = opened.subgraph.nodes[int(row.concepts.argmax())]
    assert best == opened.scores.concepts[0].concept
    alone = read((opened,), reader)[0].scores
    assert torch.allclose(alone.gate, opened.scores.gate, atol=1e-4)
    assert {"encode", "reason"} <= set(opened.timing_ms)


def test_a_second_reading_without_facts_is_averaged(model_folder: Path, tools_file: Path) -> None:
    reader = open_reader(model_folder)
    retriever = Retriever(open_graph(tools_file), reader.settings)
    questions = (
        Question("What did I dig with?", passage=PASSAGE),
        Question("What did I dig with?", ("trowel", "trowel", "excavator"), PASSAGE),
        Question("Why?"),
    )
    drafts = retrieve(tuple(map(Draft, questions)), retriever)
    stripped = tuple(replace(d, subgraphs=tuple(map(without_facts, d.subgraphs))) for d in drafts)
    told, bare, mean = read(drafts, reader), read(stripped, reader), read(drafts, reader, 0.25)
    for first, second, both in zip(told, bare, mean, strict=True):
        assert torch.allclose(
            both.scores.gate, 0.75 * first.scores.gate + 0.25 * second.scores.gate, atol=1e-4
        )
    chosen = mean[1].scores.choices
    assert [c.text for c in chosen].count("trowel") == 2 and sum(c.score for c in chosen) == pytest.approx(1)
    for candidate in mean[0].scores.concepts:
        both = (found[0].scores.concepts for found in (told, bare))
        first, second = (next(c.score for c in found if c.concept == candidate.concept) for found in both)
        assert candidate.score == pytest.approx(0.75 * first + 0.25 * second, abs=1e-4)
    assert mean[0].scores.rows[0].row.subgraph is drafts[0].subgraph, "what explains has its facts"
    assert mean[0].timing_ms["reason"] > 0


def test_a_graph_that_says_all_there_is_is_read_once(tools_file: Path) -> None:
    graph, decision = open_graph(tools_file), Decision(without_facts=0.5)
    graph.is_complete = True
    assert decision.bare(graph) == 0
    graph.is_complete = False
    assert decision.bare(graph) == 0.5

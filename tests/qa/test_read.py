from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kgqa.graph.load import open_graph
from kgqa.graph.retrieval.ablation import no_facts
from kgqa.models.load import open_reader
from kgqa.qa.decide import DecisionConfig
from kgqa.qa.read import read, reword
from kgqa.qa.retrieve import Retriever, retrieve
from kgqa.qa.state import QAState, QAStates
from kgqa.types import Passage, Question, Subgraph

PASSAGE = Passage("I want to plant flowers so I dug the ground.")


def test_each_question_has_the_scores_of_its_own_rows(model_folder: Path, tools_file: Path) -> None:
    reader = open_reader(model_folder)
    retriever = Retriever(open_graph(tools_file), reader.settings)
    questions = (
        Question("What did I dig with?", passage=PASSAGE),
        Question("What did I dig with?", ("trowel", "excavator"), PASSAGE),
    )
    opened, chosen = read(retrieve(tuple(map(QAState, questions)), retriever), reader)
    assert opened.scores.spans and opened.scores.concepts and not opened.scores.choices
    assert [c.text for c in chosen.scores.choices] and not chosen.scores.concepts
    assert [r.row.choice for r in chosen.scores.rows] == [0, 1] and len(opened.scores.rows) == 1
    (row,) = opened.scores.rows
    assert len(row.concepts) == len(opened.subgraph.nodes)
    best = opened.subgraph.nodes[int(row.concepts.argmax())]
    assert best == opened.scores.concepts[0].concept
    alone = read((opened,), reader)[0].scores
    assert torch.allclose(alone.answer_type, opened.scores.answer_type, atol=1e-4)
    assert {"encode", "reason"} <= set(opened.timing_ms)


def test_which_of_these_is_not_is_read_without_the_not(model_folder: Path, tools_file: Path) -> None:
    reader = open_reader(model_folder)
    retriever = Retriever(open_graph(tools_file), reader.settings)
    choices = ("trowel", "excavator", "flower")
    questions = [Question(f"Which of these is {word}a tool?", choices) for word in ("", "not ")]
    plain, negated = read(retrieve(tuple(map(QAState, questions)), retriever), reader)
    assert negated.question == questions[1]
    assert [c.text for c in negated.scores.choices] == [c.text for c in reversed(plain.scores.choices)]
    assert sum(c.score for c in negated.scores.choices) == pytest.approx(1)


def test_a_second_reading_without_facts_is_averaged(model_folder: Path, tools_file: Path) -> None:
    reader = open_reader(model_folder)
    with torch.no_grad():
        reader.network.choice.known.fill_(1.0)  # untrained, a choice would not depend on its concept
    retriever = Retriever(open_graph(tools_file), reader.settings)
    questions = (
        Question("What did I dig with?", passage=PASSAGE),
        Question("What did I dig with?", ("trowel", "trowel", "excavator"), PASSAGE),
        Question("Why?"),
    )
    states = retrieve(tuple(map(QAState, questions)), retriever)
    # choices are read as in training without a graph: no node, so that no score of a concept is added either
    stripped = tuple(
        replace(d, subgraphs=(Subgraph(),) if d.question.choices else tuple(map(no_facts, d.subgraphs)))
        for d in states
    )
    reported, graph_free, mean = (
        read(states, reader),
        read(stripped, reader),
        read(states, reader, lambda _: 0.25),
    )
    for first, second, both in zip(reported, graph_free, mean, strict=True):
        assert torch.allclose(
            both.scores.answer_type,
            0.75 * first.scores.answer_type + 0.25 * second.scores.answer_type,
            atol=1e-4,
        )
    chosen = mean[1].scores.choices
    assert [c.text for c in chosen].count("trowel") == 2 and sum(c.score for c in chosen) == pytest.approx(1)
    for candidate in mean[0].scores.concepts:
        both = (found[0].scores.concepts for found in (reported, graph_free))
        first, second = (next(c.score for c in found if c.concept == candidate.concept) for found in both)
        assert candidate.score == pytest.approx(0.75 * first + 0.25 * second, abs=1e-4)
    assert mean[0].scores.rows[0].row.subgraph is states[0].subgraph, "what explains has its facts"
    reported, graph_free = (found[1].scores.choices for found in (reported, graph_free))
    for candidate in chosen:
        first, second = (
            sum(c.score for c in found if c.text == candidate.text) for found in (reported, graph_free)
        )
        both = sum(c.score for c in chosen if c.text == candidate.text)
        assert both == pytest.approx(0.75 * first + 0.25 * second, abs=1e-4)


def test_a_graph_that_says_all_there_is_is_read_once(tools_file: Path) -> None:
    graph, decision = open_graph(tools_file), DecisionConfig(graph_free_weight=0.5)
    open_question, chosen = (
        Question("What did I dig with?"),
        Question("What did I dig with?", ("spoon", "spade")),
    )
    graph.closed_world = True
    assert decision.graph_free(graph, open_question) == decision.graph_free(graph, chosen) == 0
    graph.closed_world = False
    assert decision.graph_free(graph, open_question) == decision.graph_free(graph, chosen) == 0.5
    of_choices = decision.model_copy(update={"graph_free_choices": 0.25})
    assert of_choices.graph_free(graph, chosen) == 0.25 and of_choices.graph_free(graph, open_question) == 0.5


def test_another_wording_is_read_too_and_averaged(model_folder: Path, tools_file: Path) -> None:
    reader = open_reader(model_folder)
    retriever = Retriever(open_graph(tools_file), reader.settings)
    texts = ("What did I probably dig with?", "What did I dig with?", "I dug with what?")
    questions = [Question(text, passage=PASSAGE) for text in texts]

    def reading(states: QAStates) -> QAStates:
        return read(retrieve(states, retriever), reader)

    states = reading(tuple(map(QAState, questions)))
    # the pipeline calls English ""
    found = reword(states, reading, lambda question: "", 0.5)
    plain = states[1].scores.answer_type
    assert found[1] is states[1]
    for before, after in ((states[0], found[0]), (states[2], found[2])):
        mean = (before.scores.answer_type + plain) / 2
        assert torch.allclose(after.scores.answer_type, mean, atol=1e-4)
        assert after.scores.rows is before.scores.rows and after.question is before.question
    assert reword(states, reading, lambda question: "en", 0.0) == states
    assert reword(states, reading, lambda question: "xx", 0.5) == states
    chosen = QAState(Question(texts[0], ("spade", "fork")))
    assert reword((chosen,), reading, lambda question: "en", 0.5) == (chosen,)

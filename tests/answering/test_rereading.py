from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kgqa.answering.draft import Draft
from kgqa.answering.reading import read
from kgqa.answering.rereading import REREAD, in_both, reread
from kgqa.answering.retrieving import Retriever, retrieve
from kgqa.graph.opening import open_graph
from kgqa.models.opening import open_reader
from kgqa.types import Candidate, Passage, Question, Source


def test_what_both_readings_say_counts_and_the_others_stay() -> None:
    concepts = [Candidate(str(n), Source.KNOWLEDGE, 0.15) for n in range(REREAD + 1)]
    both = in_both(concepts, torch.tensor([0.0, 3.0, 0.0, 0.0, 0.0]))
    assert both[0].text == "1" and both[-1] == concepts[-1]
    assert sum(c.score for c in both) == pytest.approx(sum(c.score for c in concepts))
    unequal = [replace(concepts[0], score=0.6), concepts[1]]
    assert in_both(unequal, torch.zeros(2))[0].score == pytest.approx(0.6)


def test_open_questions_are_read_again_and_others_left(model_folder: Path, tools_file: Path) -> None:
    reader = open_reader(model_folder)
    retriever = Retriever(open_graph(tools_file), reader.settings)
    passage = Passage("I want to plant flowers so I dug the ground.")
    questions = (Question("What did I dig with?", (), passage), Question("What with?", ("trowel", "fork"), passage))
    before = read(retrieve(tuple(map(Draft, questions)), retriever), reader)
    opened, chosen = reread(before, reader)
    assert chosen is before[1]
    assert {c.concept for c in opened.scores.concepts} == {c.concept for c in before[0].scores.concepts}
    assert opened.timing_ms["reason"] > before[0].timing_ms["reason"]
    assert reread(before[1:], reader) == before[1:]

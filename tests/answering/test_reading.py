from pathlib import Path

import torch

from kgqa.answering.draft import Draft
from kgqa.answering.reading import read
from kgqa.answering.retrieving import Retriever, retrieve
from kgqa.graph.opening import open_graph
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

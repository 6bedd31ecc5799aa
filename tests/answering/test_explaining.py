from dataclasses import replace

import torch

from kgqa.answering.draft import Reached, ReadRow
from kgqa.answering.explaining import deciding_rows, evidence_of, reached_first
from kgqa.batch import Fused
from kgqa.models.collation.rows import Row
from kgqa.types import Candidate, Evidence, EvidencePath, Question, Source, Subgraph

NOTHING = torch.zeros(0)
FUSED = Fused(NOTHING, NOTHING, NOTHING, NOTHING)


def read_row(graph: Subgraph, concepts: list[float], choice: int = -1, score: float = 0.0) -> ReadRow:
    return ReadRow(Row(0, choice, (), graph, 0, 0), score, torch.tensor(concepts), FUSED)


def test_evidence_comes_from_the_window_that_won() -> None:
    graph = Subgraph(nodes=("a", "b"), labels=("a", "b"))
    rows = [read_row(graph, [2.0, 2.0]), read_row(graph, [1.0, 5.0])]
    best = Candidate("b", Source.KNOWLEDGE, 0.9, concept="b")
    assert deciding_rows(best, Question("which"), rows) == rows[::-1]
    rows = [
        read_row(graph, [0.0, 0.0], choice, score)
        for choice, score in ((0, 0.0), (0, 1.0), (1, 2.0), (1, 3.0))
    ]
    chosen = Candidate("x", Source.CHOICE, 0.9)
    assert deciding_rows(chosen, Question("which", ("x", "y")), rows)[0] is rows[1]


def test_a_reasoners_own_path_comes_first(digging) -> None:
    paths = torch.full((7, 2), -1)
    paths[5] = torch.tensor([5, 6])  # node 4 of a row that begins at node 0 and fact 1 of 4
    fused = replace(FUSED, attention=torch.ones(4), paths=paths, path_weight=torch.full((7,), 0.25))
    best = Candidate("dig foundation", Source.KNOWLEDGE, 0.5, concept="ev:foundation")
    read = ReadRow(Row(0, -1, (), digging, 0, 1), 0.0, NOTHING, fused)
    first = evidence_of(best, Question("what"), [read]).paths[0]
    assert first.steps == (0, 1) and first.forward == (False, False) and first.score == 0.25


def test_the_way_by_which_an_answer_was_found_is_shown_first(digging) -> None:
    own, other = EvidencePath((0,), (True,), 1.0), EvidencePath((1,), (True,), 2.0)
    best = Candidate(digging.labels[2], Source.KNOWLEDGE, 0.5, concept=digging.nodes[2])
    evidence = Evidence(paths=(other, own), subgraph=digging)
    assert reached_first(evidence, [Reached(2, 3.0, own)], best).paths == (own, other)
    assert reached_first(evidence, [Reached(1, 3.0, own)], best).paths == (other, own)

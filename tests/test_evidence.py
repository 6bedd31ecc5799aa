import torch

from kgqa.batch import Fused
from kgqa.evidence import deciding_rows, evidence_of, shown_first
from kgqa.models.collation.rows import Row
from kgqa.models.reader import Scores
from kgqa.operations.following import Led
from kgqa.types import Candidate, Evidence, EvidencePath, Question, Source, Subgraph


def test_evidence_comes_from_the_window_that_won() -> None:
    graph = Subgraph(nodes=("a", "b"), labels=("a", "b"))
    rows = [Row(0, -1, (), graph, 0, 0), Row(0, -1, (), graph, 3, 4), Row(1, -1, (), graph, 6, 8)]
    concept = torch.tensor([0.0, 2.0, 2.0, 0.0, 1.0, 5.0, 0.0, 9.0, 9.0])
    scores = Scores(None, torch.zeros(0), torch.zeros(3), concept, torch.zeros(0))  # type: ignore[arg-type]
    best = Candidate("b", Source.KNOWLEDGE, 0.9, concept="b")
    assert [row.first_node for row in deciding_rows(best, Question("which"), 0, rows, scores)] == [3, 0]
    rows = [Row(0, choice, (), graph, 0, 0) for choice in (0, 0, 1, 1)]
    scores = Scores(None, torch.zeros(0), torch.tensor([0.0, 1.0, 2.0, 3.0]), concept, torch.zeros(0))  # type: ignore[arg-type]
    chosen = Candidate("x", Source.CHOICE, 0.9)
    assert deciding_rows(chosen, Question("which", ("x", "y")), 0, rows, scores)[0] is rows[1]


def test_a_reasoners_own_path_comes_first(digging) -> None:
    nothing = torch.zeros(0)
    paths = torch.full((7, 2), -1)
    paths[5] = torch.tensor([5, 6])  # node 4 of a row that begins at node 0 and fact 1 of 4
    fused = Fused(nothing, nothing, nothing, nothing, torch.ones(4), paths, torch.full((7,), 0.25))
    best = Candidate("dig foundation", Source.KNOWLEDGE, 0.5, concept="ev:foundation")
    evidence = evidence_of(best, Question("what"), [Row(0, -1, (), digging, 0, 1)], fused)
    first = evidence.paths[0]
    assert first.steps == (0, 1) and first.forward == (False, False) and first.score == 0.25


def test_the_way_by_which_an_answer_was_found_is_shown_first(digging) -> None:
    own, other = EvidencePath((0,), (True,), 1.0), EvidencePath((1,), (True,), 2.0)
    best = Candidate(digging.labels[2], Source.KNOWLEDGE, 0.5, concept=digging.nodes[2])
    evidence = Evidence(paths=(other, own), subgraph=digging)
    assert shown_first(evidence, [Led(2, 3.0, own)], best).paths == (own, other)
    assert shown_first(evidence, [Led(1, 3.0, own)], best).paths == (other, own)

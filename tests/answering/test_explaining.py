from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from kgqa.answering.draft import Draft, ReadRow, Score
from kgqa.answering.explaining import (
    Scoring,
    attribute,
    deciding_rows,
    evidence_of,
    falls,
    log_odds,
    near_edges,
    probability,
)
from kgqa.answering.retrieving import Retriever
from kgqa.batch import Fused
from kgqa.graph.overlay import Fact
from kgqa.graph.storage.store import GraphStore
from kgqa.models.collation.candidates import CandidateRow
from kgqa.models.collation.reading import ReadingSettings
from kgqa.models.collation.rows import Row
from kgqa.types import Answer, Candidate, Evidence, EvidencePath, Passage, Question, Source, Subgraph, Triple

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


TROWEL = Candidate("trowel", Source.KNOWLEDGE, 0.5, concept="ev:trowel")


class Given(Retriever):
    """Retrieves the subgraph it was given, without what is struck."""

    def __init__(self, subgraph: Subgraph) -> None:
        super().__init__(GraphStore.from_triples([Triple("a", "b", "c")]))
        self.subgraph = subgraph

    def with_edits(self, added: Sequence[Fact] = (), struck: Sequence[Fact] = ()) -> Retriever:
        gone = {fact.triple for fact in struck}
        kept = [edge for edge in range(len(self.subgraph.edges)) if self.subgraph.triple(edge) not in gone]
        edges, weights = self.subgraph.edges[kept], self.subgraph.weights[kept]
        return Given(replace(self.subgraph, edges=edges, weights=weights))

    def retrieve(self, question: Question, linker: object = None) -> tuple[Subgraph, ...]:
        return (self.subgraph,)


def weighing(matters: dict[tuple[int, int, int], float], seen: list[CandidateRow] | None = None) -> Score:
    """Scores a row by the facts it has of some that matter."""

    def score(rows: Sequence[CandidateRow]) -> torch.Tensor:
        if seen is not None:
            seen.extend(rows)
        worth = [sum(matters.get(tuple(edge), 0.0) for edge in row.subgraph.edges.tolist()) for row in rows]
        return torch.tensor(worth, dtype=torch.float)

    return score


def scoring(graph: Subgraph, score: Score) -> Scoring:
    return Scoring(Given(graph), ReadingSettings(), score)


@pytest.fixture
def garden(digging: Subgraph) -> Subgraph:
    """The digging subgraph with a second way to the trowel and two facts elsewhere."""
    more = np.array([[2, 0, 1], [3, 0, 1], [4, 0, 0]], dtype=np.int32)
    return replace(
        digging,
        edges=np.concatenate([digging.edges, more]),
        weights=np.append(digging.weights, [1.0, 1.0, 1.0]).astype(np.float32),
    )


def draft(graph: Subgraph, best: Candidate, *others: Candidate, question: Question | None = None) -> Draft:
    evidence = Evidence(paths=(EvidencePath((3,), (False,), 1.0),), subgraph=graph)
    asked = question or Question("what did i dig with")
    return Draft(asked, (graph,), candidates=(best, *others), best=best, evidence=evidence)


def test_paths_are_ordered_by_what_their_deletion_changes(garden: Subgraph) -> None:
    score = weighing({(2, 0, 0): 2.0, (2, 0, 1): 0.4})
    (found,) = attribute((draft(garden, TROWEL),), scoring(garden, score))
    assert [path.steps for path in found.evidence.paths] == [(0,), (3,)]
    assert found.evidence.influence == pytest.approx(2.0)
    long = draft(garden, TROWEL, question=Question("what", passage=Passage("dig " * 10_000)))
    assert attribute((long,), scoring(garden, score)) == (long,)
    computed = replace(long, question=Question("what"), evidence=replace(long.evidence, query="ASK {}"))
    assert attribute((computed,), scoring(garden, score)) == (computed,)


def test_what_the_second_candidate_has_too_is_no_reason(garden: Subgraph) -> None:
    """Both are used for building a house, and that matters most; the trowel alone is used to plant flowers."""
    rival = Candidate("excavator", Source.KNOWLEDGE, 0.3, concept="ev:excavator")
    score = weighing({(2, 0, 0): 0.4, (2, 0, 1): 2.0})
    (alone,) = attribute((draft(garden, TROWEL),), scoring(garden, score))
    assert alone.evidence.paths[0].steps == (3,)
    (found,) = attribute((draft(garden, TROWEL, rival),), scoring(garden, score))
    assert [path.steps for path in found.evidence.paths] == [(0,), (3,)]
    assert found.evidence.influence == pytest.approx(0.4, abs=1e-4)
    both = replace(garden, edges=garden.edges[3:5], weights=garden.weights[3:5])  # what both are used for
    same = replace(draft(both, TROWEL, rival).evidence, paths=(EvidencePath((0,), (False,), 1.0),))
    (found,) = attribute((replace(draft(both, TROWEL, rival), evidence=same),), scoring(both, score))
    assert found.evidence.influence == 0.0  # nothing that is stated tells one from the other


def test_what_is_said_both_ways_is_struck_together(garden: Subgraph) -> None:
    both = replace(garden, edges=np.concatenate([garden.edges, [[0, 1, 2]]]).astype(np.int32))
    both = replace(both, weights=np.append(garden.weights, 1.0).astype(np.float32))
    seen: list[CandidateRow] = []
    attribute((draft(both, TROWEL),), scoring(both, weighing({}, seen)))
    assert [len(row.subgraph.edges) for row in seen] == [7, 6, 5]


def test_what_a_fact_joins_to_the_answer_is_no_rival(garden: Subgraph) -> None:
    """Both are used for building a house; where the trowel is a part of the excavator, that is a reason."""
    rival = Candidate("excavator", Source.KNOWLEDGE, 0.3, concept="ev:excavator")
    kin = replace(garden, edges=np.concatenate([garden.edges, [[3, 1, 2]]]).astype(np.int32))
    kin = replace(kin, weights=np.append(garden.weights, 1.0).astype(np.float32))
    (found,) = attribute((draft(kin, TROWEL, rival),), scoring(kin, weighing({(2, 0, 1): 2.0})))
    assert found.evidence.paths[0].steps == (3,) and found.evidence.influence == pytest.approx(2.0)


def test_a_concept_is_scored_among_what_is_retrieved_without_the_fact(garden: Subgraph) -> None:
    seen: list[CandidateRow] = []
    found = falls(draft(garden, TROWEL), [[0], [3]], scoring(garden, weighing({(2, 0, 0): 1.5}, seen)))
    assert found == pytest.approx([1.5, 0.0], abs=1e-5)
    assert [(row.concept, row.question.choices, len(row.subgraph.edges)) for row in seen] == [
        ("ev:trowel", (), 6),
        ("ev:trowel", (), 5),
        ("ev:trowel", (), 5),
    ]


def test_a_choice_is_scored_beside_the_facts_that_are_left(digging: Subgraph) -> None:
    seen: list[CandidateRow] = []
    chosen = Candidate("b", Source.CHOICE, 0.5)
    asked = draft(digging, chosen, question=Question("what", ("a", "b", "b")))
    assert falls(asked, [[0], [0, 1]], scoring(digging, weighing({}, seen))) == [0.0, 0.0]
    assert [(row.question.choices, len(row.subgraph.edges)) for row in seen] == [
        (("b",), 3),
        (("b",), 2),
        (("b",), 1),
    ]


def test_facts_near_an_answer(garden: Subgraph) -> None:
    evidence = Evidence(paths=(EvidencePath((4,), (True,), 1.0),), subgraph=garden)
    answer = Answer(Question("q"), "trowel", Source.KNOWLEDGE, 0.5, (TROWEL,), evidence)
    assert near_edges(answer, 9) == [4, 0, 3] and near_edges(answer, 2) == [4, 0]
    assert near_edges(replace(answer, source=Source.PASSAGE), 9) == []
    assert (
        probability([TROWEL], TROWEL) == 0.5 and probability([TROWEL], replace(TROWEL, text="spade")) == 0.0
    )
    assert log_odds(0.5) == 0.0 and log_odds(0.0) < -16 and log_odds(1.0) > 16

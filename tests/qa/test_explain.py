from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from kgqa.batch import ReasonerOutput
from kgqa.graph.overlay import LabelledFact
from kgqa.graph.storage.store import GraphStore
from kgqa.models.collation.rows import BatchRow, CandidateRow
from kgqa.models.load import concept_log_odds
from kgqa.qa import explain as explain_module
from kgqa.qa.explain import (
    attribute,
    best_row,
    evidence_of,
    ground,
    log_odds,
    log_odds_drops,
    near_edges,
    probability,
)
from kgqa.qa.render import has_ground, source_words
from kgqa.qa.retrieve import Retriever
from kgqa.qa.state import HeadScores, QAState, QAStates, Score, ScoredRow
from kgqa.types import (
    NO,
    YES,
    Answer,
    Candidate,
    Evidence,
    EvidencePath,
    Passage,
    Question,
    Source,
    Span,
    Subgraph,
    Triple,
)

NOTHING = torch.zeros(0)
FUSED = ReasonerOutput(NOTHING, NOTHING, NOTHING, NOTHING)


def read_row(graph: Subgraph, concepts: list[float], choice: int = -1, score: float = 0.0) -> ScoredRow:
    return ScoredRow(BatchRow(0, choice, (), graph, 0, 0), score, torch.tensor(concepts), FUSED)


def test_evidence_comes_from_the_window_that_won() -> None:
    graph = Subgraph(nodes=("a", "b"), labels=("a", "b"))
    rows = [read_row(graph, [2.0, 2.0]), read_row(graph, [1.0, 5.0])]
    best = Candidate("b", Source.KNOWLEDGE, 0.9, concept="b")
    assert best_row(best, Question("which"), rows) is rows[1]
    rows = [
        read_row(graph, [0.0, 0.0], choice, score)
        for choice, score in ((0, 0.0), (0, 1.0), (1, 2.0), (1, 3.0))
    ]
    chosen = Candidate("x", Source.CHOICE, 0.9)
    assert best_row(chosen, Question("which", ("x", "y")), rows) is rows[1]


def test_a_reasoners_own_path_comes_first(digging) -> None:
    paths = torch.full((7, 2), -1)
    paths[5] = torch.tensor([5, 6])  # node 4 of a row that begins at node 0 and fact 1 of 4
    fused = replace(FUSED, attention=torch.ones(4), paths=paths, path_weight=torch.full((7,), 0.25))
    best = Candidate("dig foundation", Source.KNOWLEDGE, 0.5, concept="ev:foundation")
    read = ScoredRow(BatchRow(0, -1, (), digging, 0, 1), 0.0, torch.zeros(5), fused)
    asked = QAState(Question("what"), scores=HeadScores(rows=(read,)), best=best)
    first = evidence_of(asked).paths[0]
    assert first.steps == (0, 1) and first.forward == (False, False) and first.score == 0.25


TROWEL = Candidate("trowel", Source.KNOWLEDGE, 0.5, concept="ev:trowel")


class Given(Retriever):
    """Retrieves the subgraph it was given, without what is removed."""

    def __init__(self, subgraph: Subgraph) -> None:
        super().__init__(GraphStore.from_triples([Triple("a", "b", "c")]))
        self.subgraph = subgraph

    def with_edits(
        self, added: Sequence[LabelledFact] = (), removed: Sequence[LabelledFact] = ()
    ) -> Retriever:
        gone = {fact.triple for fact in removed}
        kept = [edge for edge in range(len(self.subgraph.edges)) if self.subgraph.triple(edge) not in gone]
        edges, weights = self.subgraph.edges[kept], self.subgraph.weights[kept]
        return Given(replace(self.subgraph, edges=edges, weights=weights))

    def retrieve(self, question: Question, linker: object = None) -> tuple[Subgraph, ...]:
        return (self.subgraph,)


def form_calibration(
    matters: dict[tuple[int, int, int], float], seen: list[CandidateRow] | None = None
) -> Score:
    """Scores a row by the facts it has of some that matter."""

    def score(rows: Sequence[CandidateRow]) -> torch.Tensor:
        if seen is not None:
            seen.extend(rows)
        worth = [sum(matters.get(tuple(edge), 0.0) for edge in row.subgraph.edges.tolist()) for row in rows]
        return torch.tensor(worth, dtype=torch.float)

    return score


@pytest.fixture
def garden(digging: Subgraph) -> Subgraph:
    """The digging subgraph with a second way to the trowel and two facts elsewhere."""
    more = np.array([[2, 0, 1], [3, 0, 1], [4, 0, 0]], dtype=np.int32)
    return replace(
        digging,
        edges=np.concatenate([digging.edges, more]),
        weights=np.append(digging.weights, [1.0, 1.0, 1.0]).astype(np.float32),
    )


def state(graph: Subgraph, best: Candidate, *others: Candidate, question: Question | None = None) -> QAState:
    evidence = Evidence(paths=(EvidencePath((3,), (False,), 1.0),), subgraph=graph)
    asked = question or Question("what did i dig with")
    return QAState(asked, (graph,), candidates=(best, *others), best=best, evidence=evidence)


def state_of(graph: Subgraph, *steps: int, others: Sequence[Candidate] = ()) -> QAState:
    """A state with paths of one fact each, which lead back to the trowel."""
    found = state(graph, TROWEL, *others)
    paths = tuple(EvidencePath((step,), (False,), 1.0) for step in steps)
    return replace(found, evidence=replace(found.evidence, paths=paths))


def test_the_first_path_whose_deletion_changes_the_answer_comes_first(garden: Subgraph) -> None:
    seen: list[CandidateRow] = []
    score = form_calibration({(2, 0, 0): 2.0}, seen)
    (found,) = attribute((state_of(garden, 3, 0),), Given(garden), score)
    assert [path.steps for path in found.evidence.paths] == [(0,), (3,)]
    assert (
        found.evidence.attribution == pytest.approx(2.0) and len(seen) == 3
    )  # with all facts it is scored once
    long = state(garden, TROWEL, question=Question("what", passage=Passage("dig " * 10_000)))
    assert attribute((long,), Given(garden), score) == (long,)
    computed = replace(long, question=Question("what"), evidence=replace(long.evidence, query="ASK {}"))
    assert attribute((computed,), Given(garden), score) == (computed,)


def test_with_an_encoder_paths_are_ranked_again(garden: Subgraph, monkeypatch: pytest.MonkeyPatch) -> None:
    ranked = (EvidencePath((0,), (False,), 0.9),)
    monkeypatch.setattr(explain_module, "reasons", lambda *_: list(ranked))
    retriever, score = Given(garden), form_calibration({(2, 0, 0): 2.0})
    monkeypatch.setattr(retriever, "encoder", SimpleNamespace(encode=None))
    (found,) = attribute((state_of(garden, 3),), retriever, score)
    assert found.evidence.paths == ranked and found.evidence.attribution == pytest.approx(2.0)
    monkeypatch.setattr(explain_module, "reasons", lambda *_: [])
    monkeypatch.setattr(retriever, "whole", SimpleNamespace(closed_world=False))
    (found,) = attribute((state_of(garden, 3),), retriever, score)
    assert (found.evidence.paths, found.evidence.attribution) == ((), 0.0)


def test_what_was_read_in_one_row_is_not_scored_again(garden: Subgraph) -> None:
    seen: list[CandidateRow] = []
    read = HeadScores(rows=(read_row(garden, [1.0, 0.0, 3.0, 0.0, 0.0]),))
    (found,) = attribute(
        (replace(state_of(garden, 0), scores=read),), Given(garden), form_calibration({}, seen)
    )
    before = concept_log_odds(read.rows[0].concepts, garden.nodes, "ev:trowel")
    assert len(seen) == 1 and found.evidence.attribution == pytest.approx(max(float(before), 0.0))


def test_an_answer_that_no_path_changes_is_known_without_one(garden: Subgraph) -> None:
    (found,) = attribute((state_of(garden, 3, 0),), Given(garden), form_calibration({}))
    assert found.evidence.attribution == 0.0 and len(found.evidence.paths) == 2
    assert not has_ground(replace(found, source=Source.KNOWLEDGE).answer("toy", "everyday"))


def test_paths_that_say_the_same_matter_together(garden: Subgraph) -> None:
    """The trowel is scored as with all facts as long as one of the two is left."""

    def either(rows: Sequence[CandidateRow]) -> torch.Tensor:
        known = [{tuple(edge) for edge in row.subgraph.edges.tolist()} for row in rows]
        return torch.tensor([float(bool(facts & {(2, 0, 0), (2, 0, 1)})) for facts in known])

    (found,) = attribute((state_of(garden, 3, 0),), Given(garden), either)
    assert found.evidence.paths[0].steps == (3,) and found.evidence.attribution == pytest.approx(1.0)


def test_what_the_second_candidate_has_too_is_worth_less(garden: Subgraph) -> None:
    """Both are used for building a house, and that matters most; the trowel alone is used to plant flowers."""
    distractor = Candidate("excavator", Source.KNOWLEDGE, 0.3, concept="ev:excavator")
    score = form_calibration({(2, 0, 0): 0.4, (2, 0, 1): 2.0})
    (alone,) = attribute((state_of(garden, 3, 0),), Given(garden), score)
    assert alone.evidence.paths[0].steps == (3,)
    (found,) = attribute((state_of(garden, 3, 0, others=[distractor]),), Given(garden), score)
    assert [path.steps for path in found.evidence.paths] == [(0,), (3,)]
    assert found.evidence.attribution == pytest.approx(0.4, abs=1e-4)


def test_what_is_said_both_ways_is_removed_together(garden: Subgraph) -> None:
    both = replace(garden, edges=np.concatenate([garden.edges, [[0, 1, 2]]]).astype(np.int32))
    both = replace(both, weights=np.append(garden.weights, 1.0).astype(np.float32))
    seen: list[CandidateRow] = []
    attribute((state_of(both, 3, 0),), Given(both), form_calibration({}, seen))
    assert [len(row.subgraph.edges) for row in seen] == [7, 6, 5, 4]  # all, without either, without both


def test_what_a_fact_joins_to_the_answer_is_no_rival(garden: Subgraph) -> None:
    """Both are used for building a house; where the trowel is a part of the excavator, that is a reason."""
    distractor = Candidate("excavator", Source.KNOWLEDGE, 0.3, concept="ev:excavator")
    kin = replace(garden, edges=np.concatenate([garden.edges, [[3, 1, 2]]]).astype(np.int32))
    kin = replace(kin, weights=np.append(garden.weights, 1.0).astype(np.float32))
    asked = state_of(kin, 3, 0, others=[distractor])
    (found,) = attribute((asked,), Given(kin), form_calibration({(2, 0, 1): 2.0}))
    assert found.evidence.paths[0].steps == (3,) and found.evidence.attribution == pytest.approx(2.0)


def test_a_concept_is_scored_among_what_is_retrieved_without_the_fact(garden: Subgraph) -> None:
    seen: list[CandidateRow] = []
    found = log_odds_drops(
        state(garden, TROWEL), [[0], [3]], Given(garden), form_calibration({(2, 0, 0): 1.5}, seen)
    )
    assert found == pytest.approx([1.5, 0.0], abs=1e-5)
    assert [(row.concept, row.question.choices, len(row.subgraph.edges)) for row in seen] == [
        ("ev:trowel", (), 6),
        ("ev:trowel", (), 5),
        ("ev:trowel", (), 5),
    ]


def test_a_choice_is_scored_beside_the_facts_that_are_left(digging: Subgraph) -> None:
    seen: list[CandidateRow] = []
    chosen = Candidate("b", Source.CHOICE, 0.5)
    asked = state(digging, chosen, question=Question("what", ("a", "b", "b")))
    assert log_odds_drops(asked, [[0], [0, 1]], Given(digging), form_calibration({}, seen)) == [0.0, 0.0]
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


def yes_or_no(text: str, score: float, source: Source = Source.PASSAGE) -> QAState:
    """A yes or no about a passage, which says with `score` what it is."""
    other = NO if text == YES else YES
    span = Span(0, 8) if source is Source.PASSAGE else None
    both = (Candidate(text, source, score, span), Candidate(other, source, 1 - score, span))
    question = Question("Do fish swim?", passage=Passage("Fish swam."))
    return QAState(
        question,
        candidates=both,
        best=both[0],
        source=source,
        confidence=score,
        evidence=Evidence(span=span, score=score),
    )


@pytest.mark.parametrize(
    ("without", "is_ground"),
    [
        (yes_or_no(NO, 0.9), True),
        (yes_or_no(YES, 0.6), True),
        (yes_or_no(YES, 0.89), False),
        (yes_or_no(YES, 0.95), False),
    ],
)
def test_a_passage_is_the_ground_of_a_yes_only_where_it_falls_without_it(
    without: QAState, is_ground: bool
) -> None:
    asked: list[QAState] = []

    def decided(states: QAStates) -> QAStates:
        asked.extend(states)
        return (without,) * len(states)

    (found,) = ground((yes_or_no(YES, 0.9),), decided)
    assert asked[0].question.passage is None
    assert (found.source is Source.PASSAGE) == is_ground == (found.evidence.span is not None)
    answer = found.answer("toy", "everyday")
    assert has_ground(answer) == is_ground and answer.confidence == 0.9
    assert all((c.span is not None) == is_ground for c in answer.candidates)
    if not is_ground:
        assert source_words(answer) == "known without a fact that says it"


def test_a_passage_without_a_word_of_the_question_is_no_ground() -> None:
    state = yes_or_no(NO, 0.9)
    apart = replace(state, question=Question("Is Paris in France?", passage=Passage("Anna read a book.")))
    (found,) = ground((apart,), lambda states: pytest.fail("read again"))
    assert found.source is Source.KNOWLEDGE and found.evidence.span is None


@pytest.mark.parametrize(
    "asked", ["Did the fish swim?", "Is Tom a fish?", "Does the fish swim past the boat?"]
)
def test_what_was_and_people_of_a_passage_are_not_known_without_it(asked: str) -> None:
    passage = Passage("Tom saw the fish swim past the boat.")
    state = replace(yes_or_no(YES, 0.9), question=Question(asked, passage=passage))
    assert ground((state,), lambda states: pytest.fail("read again")) == (state,)


def test_what_a_kind_of_things_did_may_be_known_without_a_passage() -> None:
    question = Question("Did dinosaurs swim?", passage=Passage("The toy dinosaur is red."))
    state = replace(yes_or_no(YES, 0.9), question=question)
    (found,) = ground((state,), lambda states: (yes_or_no(YES, 0.9, Source.KNOWLEDGE),))
    assert found.source is Source.KNOWLEDGE


def test_what_is_no_yes_or_no_stays_as_it_is() -> None:
    span = Candidate("Tom", Source.PASSAGE, 0.9, Span(0, 3))
    state = replace(yes_or_no(YES, 0.9), best=span, candidates=(span,))
    assert ground((state,), lambda states: pytest.fail("read again")) == (state,)

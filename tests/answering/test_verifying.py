from pathlib import Path

import pytest
import torch

from kgqa.answering.decision import Decision, Silence
from kgqa.answering.draft import Draft, HeadScores
from kgqa.answering.verifying import verify
from kgqa.models.opening import LoadedReader, open_reader
from kgqa.types import Candidate, Passage, Question, Source, Span, Subgraph

PASSAGE = Passage("It was late. I want to plant flowers so I dug the ground.")
QUESTION = Question("Did I dig the ground?", passage=PASSAGE)
LATE = Candidate("late", Source.PASSAGE, 0.6, span=Span(7, 11))


@pytest.fixture
def reader(model_folder: Path) -> LoadedReader:
    return open_reader(model_folder)


def verified(reader: LoadedReader, question: Question, gate: list[float], *spans: Candidate) -> Draft:
    scores = HeadScores(torch.tensor(gate), spans=spans, span_margin=-10.0)
    decision = Decision(silence=Silence(gate=0.0, margin=-0.25, around=-1.5, anywhere=1.75, before=-0.5))
    return verify((Draft(question, (Subgraph(),), scores),), reader.similarity, decision)[0]


def test_yes_and_no_share_what_the_gate_gives_them(reader: LoadedReader) -> None:
    gate = torch.tensor([0.0, -1.0, 0.2, 1.0, 1.2])
    draft = verified(reader, QUESTION, gate.tolist())
    after = draft.scores.gate
    assert torch.allclose(after[3:].logsumexp(0), gate[3:].logsumexp(0)) and after[3] > after[4]
    assert draft.sentence is not None
    assert PASSAGE.text[slice(*draft.sentence)].startswith("I want to plant flowers")


def test_where_yes_or_no_does_not_come_first_or_is_not_known_nothing_is_changed(reader: LoadedReader) -> None:
    for gate in ([3.0, 0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0]):
        draft = verified(reader, QUESTION, gate)
        assert draft.scores.gate.tolist() == gate and draft.sentence is None


def test_no_answer_is_weighed_anew_where_a_span_would_answer(reader: LoadedReader) -> None:
    gate = [2.0, 0.0, 1.0]
    far = Question("Did Carla give Anna flowers?", passage=PASSAGE)
    assert verified(reader, far, gate, LATE).scores.gate.argmax() == 2
    choosing = Question("Which?", choices=("a", "b"), passage=PASSAGE)
    assert verified(reader, choosing, gate, LATE).scores.gate.tolist() == gate
    assert verified(reader, Question("What is a tent?"), [-1e4, 1.0, 0.0]).scores.gate.argmax() == 1

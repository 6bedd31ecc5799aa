"""The list of stages: each has what it requires, one is added from outside, and a traced answer climbs nowhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase
from types import FrameType

import numpy as np
import pytest
import torch
from test_floors import FLOORS, SUB_ROOMS

import kgqa
from kgqa.answering.answerer import Answerer
from kgqa.answering.decision import Decision
from kgqa.answering.draft import Draft, Drafts, Stage
from kgqa.answering.retrieving import Retriever
from kgqa.answering.stages import stages
from kgqa.limits.stopping import go_on, until
from kgqa.models.opening import LoadedReader
from kgqa.models.reader import Reader, save_reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.types import Passage, Question

PACKAGE = Path(kgqa.__file__).parent
ANSWERING = ("answering", "language", "korean")
PASSAGE = Passage("I want to plant flowers so I dug the ground.")
QUESTIONS = (
    Question("What did I dig with?"),
    Question("What did I dig with?", passage=PASSAGE),
    Question("What did I dig with?", ("trowel", "excavator"), PASSAGE),
    Question("Did I dig the ground?", passage=PASSAGE),
    Question("How many things is a trowel used for?"),
    Question("Is a trowel used to plant flowers?"),
    Question("Which is larger, a trowel or an excavator?"),
    Question("What is an excavater used for?"),
    Question("Who sails the Kestrel?"),
    Question("Where is the house that the excavator builds?"),
)
MOST_FILES = 25
"""Files of the answering floor that one question runs through."""


class Letters:
    """Counts the letters of a text, in place of an encoder."""

    fingerprint = "letters"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        counts = np.array([[text.count(letter) for letter in ascii_lowercase] for text in texts], np.float32)
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)


@pytest.fixture
def answerer(
    tmp_path: Path, encoder, tokenizer_folder: Path, tools_file: Path, monkeypatch: pytest.MonkeyPatch
) -> Answerer:
    """A reader with random weights that says yes and no, over a small graph whose facts are found
    by meaning too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    torch.manual_seed(0)
    settings = ReasonerSettings(graph_size=16, num_layers=2, num_heads=2, verdicts=True)
    reader = Reader(encoder, settings)
    card = {"name": "toy", "reading": {"max_nodes": 20, "facts": 2, "branches": True, "verdicts": True}}
    save_reader(reader, tokenizer_folder, tmp_path / "model", card)
    loaded = Answerer.load(str(tmp_path / "model"), str(tools_file))
    known = loaded.retriever
    return Answerer(loaded.reader, Retriever(known.whole, known.settings, encoder=Letters()), loaded.decision)


def test_each_stage_requires_what_those_before_it_provide(answerer: Answerer) -> None:
    known = {"question"}
    for stage in answerer.stages:
        assert set(stage.requires.split()) <= known, stage.name
        known |= set(stage.provides.split())
    assert known <= set(Draft.__slots__)
    assert len((PACKAGE / "answering" / "stages.py").read_text(encoding="utf-8").splitlines()) <= 60


def test_a_reader_without_branches_computes_nothing(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    assert "compute" not in {stage.name for stage in answerer.stages}
    assert not any(answer.evidence.query for answer in answerer.answer_many(QUESTIONS))


def test_a_reader_with_branches_computes(answerer: Answerer) -> None:
    assert any(answer.evidence.query for answer in answerer.answer_many(QUESTIONS))


def test_a_stage_changes_no_draft_that_it_is_given(answerer: Answerer) -> None:
    drafts: Drafts = tuple(map(Draft, QUESTIONS[:4]))
    for stage in answerer.stages:
        gates = [draft.scores.gate.clone() for draft in drafts]
        after = stage.run(drafts)
        assert all(torch.equal(draft.scores.gate, gate) for draft, gate in zip(drafts, gates, strict=True))
        assert len(after) == len(drafts)
        drafts = after


def sure(drafts: Drafts) -> Drafts:
    """A stage of somebody else's: never in doubt."""
    return tuple(replace(draft, confidence=1.0) for draft in drafts)


def surely(retriever: Retriever, reader: LoadedReader, decision: Decision) -> Sequence[Stage]:
    """The usual list with it, and without attribution."""
    kept = [stage for stage in stages(retriever, reader, decision) if stage.name != "attribute"]
    return [*kept, Stage("sure", "candidates", "confidence", sure)]


def test_a_stage_is_added_from_outside_and_another_left_out(answerer: Answerer) -> None:
    other = Answerer(answerer.reader, answerer.retriever, listing=surely)
    answer = other.answer(QUESTIONS[0])
    assert answer.confidence == 1.0 and "sure" in answer.timing_ms and "attribute" not in answer.timing_ms
    assert other.with_edits().answer(QUESTIONS[0]).confidence == 1.0


def room(file: str) -> tuple[int, int]:
    """The floor of a file's room, and within the answering room that of its part."""
    first, *rest = file.removesuffix(".py").split("/")
    return FLOORS[first], SUB_ROOMS["answering"].get(rest[0], 0) if first == "answering" else 0


@contextmanager
def traced(files: set[str], climbs: set[tuple[str, str]]) -> Iterator[None]:
    """Notes the files of the package that are run through, and calls from a lower to a higher room."""
    stack: list[str | None] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            path = Path(frame.f_code.co_filename)
            caller = stack[-1] if stack else None
            here = path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else caller
            if here and here != caller:
                files.add(here)
                if caller and room(here) > room(caller):
                    climbs.add((caller, here))
            stack.append(here)
        elif event == "return" and stack:
            stack.pop()

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.text)
def test_a_traced_answer_climbs_nowhere(answerer: Answerer, question: Question) -> None:
    files: set[str] = set()
    climbs: set[tuple[str, str]] = set()
    with traced(files, climbs):
        answerer.answer(question)
    assert not climbs
    assert len({file for file in files if file.split("/")[0] in ANSWERING}) <= MOST_FILES


def test_a_climb_is_found(answerer: Answerer) -> None:
    files: set[str] = set()
    climbs: set[tuple[str, str]] = set()
    with until(lambda: bool(answerer.answer_many([]))), traced(files, climbs):
        go_on()
    assert climbs == {("limits/stopping.py", "answering/answerer.py")}

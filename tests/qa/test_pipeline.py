"""The list of steps: each has what it requires, one is added from outside, and a traced answer climbs nowhere."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase
from types import FrameType

import numpy as np
import pytest
import torch

import kgqa
from kgqa.graph.storage.store import GraphStore
from kgqa.limits.cancellation import cancel_when, check_cancelled
from kgqa.models.load import LoadedReader
from kgqa.models.reader import Reader, save_reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.qa.answerer import Answerer
from kgqa.qa.decide import DecisionConfig
from kgqa.qa.pipeline import default_pipeline
from kgqa.qa.retrieve import Retriever
from kgqa.qa.state import QAState, QAStates, Step
from kgqa.types import Candidate, Passage, Question, Source, Triple

PACKAGE = Path(kgqa.__file__).parent
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
    by dense retrieval too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    torch.manual_seed(0)
    settings = ReasonerSettings(graph_size=16, num_layers=2, num_heads=2, yes_no=True)
    reader = Reader(encoder, settings)
    card = {"name": "toy", "input": {"max_nodes": 20, "facts": 2, "packed": True, "yes_no": True}}
    save_reader(reader, tokenizer_folder, tmp_path / "model", card)
    loaded = Answerer.load(str(tmp_path / "model"), str(tools_file))
    known = loaded.retriever
    return Answerer(loaded.reader, Retriever(known.whole, known.settings, encoder=Letters()), loaded.decision)


def test_each_stage_requires_what_those_before_it_provide(answerer: Answerer) -> None:
    known = {"question"}
    for step in answerer.steps:
        assert set(step.requires.split()) <= known, step.name
        known |= set(step.provides.split())
    assert known <= set(QAState.__slots__)
    assert len((PACKAGE / "qa" / "pipeline.py").read_text(encoding="utf-8").splitlines()) <= 60


def test_a_reader_without_branches_computes_nothing(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    assert "compute" not in {step.name for step in answerer.steps}
    queries = [answer.evidence.query for answer in answerer.answer_many(QUESTIONS)]
    assert all(query.startswith("ASK") for query in queries if query)  # what facts state as they are


def test_a_reader_with_branches_computes(answerer: Answerer) -> None:
    assert any(answer.evidence.query for answer in answerer.answer_many(QUESTIONS))


def test_a_stage_changes_no_draft_that_it_is_given(answerer: Answerer) -> None:
    states: QAStates = tuple(map(QAState, QUESTIONS[:4]))
    for step in answerer.steps:
        gates = [state.scores.answer_type.clone() for state in states]
        after = step.run(states)
        assert all(
            torch.equal(state.scores.answer_type, answer_type)
            for state, answer_type in zip(states, gates, strict=True)
        )
        assert len(after) == len(states)
        states = after


def sure(states: QAStates) -> QAStates:
    """A step of somebody else's: never in doubt."""
    return tuple(replace(state, confidence=1.0) for state in states)


def surely(retriever: Retriever, reader: LoadedReader, decision: DecisionConfig) -> Sequence[Step]:
    """The usual list with it, and without attribution."""
    kept = [step for step in default_pipeline(retriever, reader, decision) if step.name != "attribute"]
    return [*kept, Step("sure", "candidates", "confidence", sure)]


def test_a_stage_is_added_from_outside_and_another_left_out(answerer: Answerer) -> None:
    other = Answerer(answerer.reader, answerer.retriever, pipeline=surely)
    answer = other.answer(QUESTIONS[0])
    assert answer.confidence == 1.0 and "sure" in answer.timing_ms and "attribute" not in answer.timing_ms
    assert other.with_edits().answer(QUESTIONS[0]).confidence == 1.0


@pytest.mark.parametrize(
    ("text", "source", "passage", "choices"),
    [
        ("yes", Source.KNOWLEDGE, "", ("a fork", "a spoon")),
        ("spoon", Source.KNOWLEDGE, "", ()),  # one of them already
        (None, Source.NONE, "", ("a fork", "a spoon")),
        (None, Source.NONE, "It was late.", ()),  # the passage leaves it open
    ],
)
def test_alternatives_become_choices(
    answerer: Answerer, text: str | None, source: Source, passage: str, choices: tuple[str, ...]
) -> None:
    def settled(states: QAStates) -> QAStates:
        best = Candidate(text or "", source, 0.6)
        return tuple(
            replace(state, best=best, candidates=(best,), source=source, confidence=0.6) for state in states
        )

    settle = Step("settle", "question", "best", settled)
    known = GraphStore.from_triples([Triple("soup", "eaten with", "spoon")])
    known.closed_world = False
    other = Answerer(answerer.reader, answerer.retriever.over(known), pipeline=lambda *_: [settle])
    (answer,) = other.answer_many([Question("Do you eat soup with a fork or a spoon?", (), Passage(passage))])
    assert answer.question.choices == choices


CONTRACTS = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
LAYERS = CONTRACTS["tool"]["importlinter"]["contracts"][0]["layers"]
ROOMS = {room: -n for n, layer in enumerate(LAYERS) for room in layer.split(" | ")}
"""Layers by package, the higher the number the higher the layer."""


def room(file: str) -> int:
    """The layer of a file's package."""
    return ROOMS.get(file.removesuffix(".py").split("/")[0], 1)


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


def test_a_climb_is_found(answerer: Answerer) -> None:
    files: set[str] = set()
    climbs: set[tuple[str, str]] = set()
    with cancel_when(lambda: bool(answerer.answer_many([]))), traced(files, climbs):
        check_cancelled()
    assert climbs == {("limits/cancellation.py", "qa/answerer.py")}


def test_a_draft_is_given_away_as_an_answer() -> None:
    best = Candidate("trowel", Source.KNOWLEDGE, 0.8, concept="x:trowel")
    state = QAState(Question("what"), candidates=(best,), best=best, source=best.source, confidence=0.5)
    answer = state.spent(read=2.0).spent(decide=1.0).answer("toy", "tools")
    assert (answer.text, answer.confidence, answer.model, answer.graph) == ("trowel", 0.5, "toy", "tools")
    assert answer.timing_ms == {"read": 2.0, "decide": 1.0, "total": 3.0}
    assert QAState(Question("what"), candidates=(best,), source=Source.NONE).answer("", "").text is None

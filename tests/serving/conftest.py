"""A service over a stub that answers at once, so that tests are of the service alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from kgqa.graph.storage.store import GraphStore
from kgqa.limits.cancellation import check_cancelled
from kgqa.qa.render import Edit, FactAttribution
from kgqa.types import Answer, Candidate, DamagedError, Evidence, Question, Source, Triple
from kgqa.validation import check_question


class Panic(BaseException):
    """As pyo3's."""


class StubAnswerer:
    """Answers every question with its own text, after `seconds`; notes the batches."""

    def __init__(self) -> None:
        self.graph = GraphStore.from_triples(
            [Triple("trowel", "/r/UsedFor", "plant flowers", 2.0)], name="garden"
        )
        self.batches: list[list[str]] = []
        self.seconds = 0.0
        self.evidence = Evidence()

    def answer_many(self, questions: Sequence[Question]) -> list[Answer]:
        for question in questions:
            check_question(question)
            if question.text == "panic":
                raise Panic("of a native library")
            if question.text == "fault":
                raise RuntimeError("a secret of the house")
            if question.text == "damaged":
                raise DamagedError("/srv/secret/edge_head.bin: damaged (wrong checksum)")
        self.batches.append([question.text for question in questions])
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            check_cancelled()
            time.sleep(0.005)
        return [self._answer(question) for question in questions]

    def answer(self, question: Question) -> Answer:
        return self.answer_many([question])[0]

    def shown(self, answer: Answer) -> Answer:
        return answer

    def attributions(self, answer: Answer) -> list[FactAttribution]:
        return []

    def ask_again(self, question: Question, edits: Sequence[Edit]) -> Answer:
        return self.answer(question)

    def _answer(self, question: Question) -> Answer:
        text = f"to {question.text}"
        best = Candidate(text, Source.PASSAGE, 0.5)
        evidence = self.evidence
        return Answer(question, text, Source.PASSAGE, 0.5, (best,), evidence, model="stub", graph="garden")


@pytest.fixture
def stub() -> StubAnswerer:
    return StubAnswerer()


@pytest.fixture
def serve(stub: StubAnswerer) -> Iterator[Callable[..., Any]]:
    """Opens a client of the service with given limits; ready when returned."""
    from fastapi.testclient import TestClient

    from kgqa.serving.api import create_service
    from kgqa.serving.middleware import ServiceLimits

    opened: list[TestClient] = []

    def started(load: Callable[[], Any] | None = None, **limits: Any) -> TestClient:
        app = create_service(load or (lambda: {("stub", "garden"): stub}), ServiceLimits(**limits))
        client = TestClient(app, "http://localhost", raise_server_exceptions=False)
        client.__enter__()
        opened.append(client)
        for _ in range(200):
            if load or client.get("/ready").status_code == 200:
                break
            time.sleep(0.01)
        stub.batches.clear()
        return client

    yield started
    for client in opened:
        client.__exit__(None, None, None)

"""Questions of many callers read together: those that wait at the same time and are of like length."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from kgqa.stopping import until
from kgqa.types import Answer, InputError, Question

ALIKE = 2.0
"""The longest of a batch is at most so many times as long as its shortest, a short question's length aside."""
SHORT_CHARACTERS = 300
"""Questions below this length are alike."""
MOST_CHARACTERS = 60_000
"""Of all texts of a batch."""


class Busy(Exception):
    """More questions wait than are taken."""


class ReadsMany(Protocol):
    """An answerer, as far as it is needed here."""

    def answer_many(self, questions: Sequence[Question]) -> list[Answer]:
        """Answer several questions in one batch."""
        ...


@dataclass(eq=False)
class _Waiting:
    answerer: ReadsMany
    question: Question
    until: float
    answer: Future[Answer] = field(default_factory=Future)

    @property
    def length(self) -> int:
        question = self.question
        return (len(question.text) + len(question.passage_text)) * max(1, len(question.choices))


class Batcher:
    """Takes questions from any thread; one thread reads them in batches.

    Args:
        most: questions of a batch.
        wait_s: how long the first of a batch waits for company while nothing is being read.
        most_waiting: questions that may wait; beyond, `ask` raises `Busy`.
        observe: is told the size of each batch.
    """

    def __init__(
        self,
        *,
        most: int = 16,
        wait_s: float = 0.01,
        most_waiting: int = 1_000,
        observe: Callable[[int], None] = lambda size: None,
    ) -> None:
        self.most, self.wait_s, self.most_waiting, self.observe = most, wait_s, most_waiting, observe
        self._waiting: list[_Waiting] = []
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="kgqa-batches", daemon=True)
        self._thread.start()

    def ask(self, answerer: ReadsMany, question: Question, timeout_s: float) -> Future[Answer]:
        """The answer as it comes. A future that is cancelled is not read, or given up with its whole batch.

        Raises:
            Busy: too many wait, or the batcher was closed.
        """
        asked = _Waiting(answerer, question, time.monotonic() + timeout_s)
        with self._changed:
            if self._closed or len(self._waiting) >= self.most_waiting:
                raise Busy
            self._waiting.append(asked)
            self._changed.notify()
        return asked.answer

    def __len__(self) -> int:
        return len(self._waiting)

    def close(self) -> None:
        """Answer what was taken, then end."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while batch := self._next():
            self.observe(len(batch))
            self._answer(batch)

    def _next(self) -> list[_Waiting]:
        """The oldest question and those that can be read with it; none when closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if not self._waiting:
                return []
            self._changed.wait_for(lambda: len(self._waiting) >= self.most or self._closed, self.wait_s)
            first = self._waiting[0]
            batch: list[_Waiting] = []
            characters = 0
            for asked in self._waiting:
                fits = asked is first or (
                    len(batch) < self.most and characters + asked.length <= MOST_CHARACTERS
                )
                if fits and asked.answerer is first.answerer and _alike(first.length, asked.length):
                    batch.append(asked)
                    characters += asked.length
            taken = set(map(id, batch))
            self._waiting = [asked for asked in self._waiting if id(asked) not in taken]
            return batch

    def _answer(self, batch: list[_Waiting]) -> None:
        wanted = [asked for asked in batch if not asked.answer.cancelled()]
        if not wanted:
            return

        def stop() -> bool:
            now = time.monotonic()
            return all(asked.answer.cancelled() or now > asked.until for asked in wanted)

        answerer = wanted[0].answerer
        try:
            with until(stop):
                answers = answerer.answer_many([asked.question for asked in wanted])
        except InputError as error:
            if len(wanted) == 1 or stop():
                _fail(wanted, error)
                return
            for asked in wanted:  # one of them cannot be read: the others shall not suffer for it
                self._answer([asked])
        except Exception as error:  # whoever asked is told, and the next batch is read
            _fail(wanted, error)
        else:
            for asked, answer in zip(wanted, answers, strict=True):
                if asked.answer.set_running_or_notify_cancel():
                    asked.answer.set_result(answer)


def _alike(one: int, other: int) -> bool:
    shorter, longer = sorted((max(one, SHORT_CHARACTERS), max(other, SHORT_CHARACTERS)))
    return longer <= ALIKE * shorter


def _fail(batch: Sequence[_Waiting], error: Exception) -> None:
    for asked in batch:
        if asked.answer.set_running_or_notify_cancel():
            asked.answer.set_exception(error)

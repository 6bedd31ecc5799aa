"""Questions of many callers read one batch after another, and only those taken that will be answered in time.

One thread reads: what is most due first, together with what waits at the same time and is of like length. How long
that takes is known from the batches before, so that a caller who would wait too long is told at once to come again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from kgqa.limits.stopping import until
from kgqa.types import InputError, Question

ALIKE = 2.0
"""The longest of a batch is at most so many times as long as its shortest, a short question's length aside."""
SHORT_CHARACTERS = 300
"""Questions below this length are alike, and what reading any costs beside its length, in characters."""
MOST_CHARACTERS = 60_000
"""Of all texts of a batch."""
BATCH_S = 0.5
"""How long a batch of several may take, since whoever comes meanwhile waits for its end."""
KNOWN_AFTER = 3
"""Batches that are read before a question may be refused for its length."""
SPREAD_S = 8.0
"""Within which those who are sent away are told different times, so that they do not all come again at once."""
ANSWER, APART = "answer", "apart"
"""Kinds of work: answers read in batches, and what is done by itself (explanations, edits)."""
_ANSWER_S = 1e-4
"""Seconds a character, until the first are measured."""
_AS_LONG = {ANSWER: 1.0, APART: 10.0}
"""As an answer, until the first is measured."""
_LEARNT = {False: 0.2, True: 0.5}
"""How much of it is believed that reading takes less, or more, than was thought."""


class Busy(Exception):
    """It would not be answered in time; `wait_s` is when it may be."""

    def __init__(self, wait_s: float = 1.0) -> None:
        super().__init__(f"busy for {wait_s:.1f} s")
        self.wait_s = wait_s


class _Panic(Exception):
    """What was raised, and is no `Exception`: it would end the thread or event loop that is told of it."""


Work = Callable[[Sequence[Question]], Sequence[Any]]
"""What is done with the questions of a batch; those with the same work may share one."""


@dataclass(eq=False)
class _Waiting:
    kind: str
    question: Question
    work: Work
    due: float
    until: float
    answer: Future[Any] = field(default_factory=Future)

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
        self._closed = self._given_up = False
        self._pace: dict[str, float] = {}
        self._best: dict[str, float] = {}  # the pace when nothing else kept the machine
        self._batches = 0  # that were read
        self._begun = self._expected = self._until = 0.0  # of the batch that is being read
        self._again = 0.0  # when the last who was sent away is to come again
        self._thread = threading.Thread(target=self._run, name="kgqa-batches", daemon=True)
        self._thread.start()

    def ask(
        self, work: Work, questions: Sequence[Question], timeout_s: float, within_s: float, kind: str = ANSWER
    ) -> list[Future[Any]]:
        """What comes of each question. A future that is cancelled is not read, or given up with its whole batch.

        Args:
            work: of `kind` `ANSWER` on a batch of questions, else on each by itself.
            timeout_s: when it is given up.
            within_s: when it is to begin.

        Raises:
            Busy: too many wait, or it would not begin or end in time, or the batcher was closed.
            InputError: it would take longer than `timeout_s` by itself.
        """
        now = time.monotonic()
        due, end = now + within_s, now + timeout_s
        asked = [_Waiting(kind, question, work, due, end) for question in questions]
        with self._changed:
            before = self._before(due, now)
            own = sum(map(self._cost, asked))
            known = self._batches >= KNOWN_AFTER  # the first may have shared the machine with a start
            least = own * _pace(self._best, kind) / _pace(self._pace, kind) if known else 0.0
            if self._closed or len(self._waiting) + len(asked) > self.most_waiting:
                raise Busy(self._later(max(before, 1.0), now))
            if least > timeout_s:
                raise InputError(
                    f"it would take {least:.0f} s to answer, more than is given to it; ask about shorter "
                    "passages, with fewer choices, or fewer questions at once"
                )
            if before > within_s or (before and before + own > timeout_s):  # who comes alone may try
                raise Busy(self._later(before, now))
            self._waiting += asked
            self._changed.notify()
        return [one.answer for one in asked]

    def delay(self, within_s: float) -> float:
        """Seconds after which to come again with what is to begin within some and would not; 0 where it is in time."""
        with self._changed:
            now = time.monotonic()
            before = self._before(now + within_s, now)
            return self._later(before, now) if before > within_s else 0.0

    def _later(self, before: float, now: float) -> float:
        """Seconds after which one may come again who would wait some now: after those who were sent away before."""
        first = now + before
        self._again = max(self._again, first) + SHORT_CHARACTERS * _pace(self._pace, ANSWER)
        if self._again > first + SPREAD_S:
            self._again = first
        return self._again - now

    def _before(self, due: float, now: float) -> float:
        """Seconds of reading before what is due then begins."""
        gone = now - self._begun
        # a batch that takes longer than was thought is a quarter from its end, and given up when its time is over
        left = min(max(self._expected - gone, gone / 4), self._until - now) if self._expected else 0.0
        return max(left, 0.0) + sum(self._cost(other) for other in self._waiting if other.due <= due)

    def _cost(self, asked: _Waiting) -> float:
        return (SHORT_CHARACTERS + asked.length) * _pace(self._pace, asked.kind)

    def __len__(self) -> int:
        return len(self._waiting)

    def close(self, grace_s: float = 5.0) -> None:
        """Answer what was taken, then end; what is not done within the grace time is given up."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(grace_s)
        with self._changed:
            self._given_up = True
            _fail(self._waiting, Busy())
            self._waiting = []
        self._thread.join(grace_s)

    def _run(self) -> None:
        while batch := self._next():
            self.observe(len(batch))
            cost = sum(map(self._cost, batch))
            self._begun, self._until = time.monotonic(), max(asked.until for asked in batch)
            self._expected = cost
            self._answer(batch)
            answers = [asked.answer for asked in batch]
            if all(one.done() and not one.cancelled() and one.exception() is None for one in answers):
                self._learn(batch[0].kind, (time.monotonic() - self._begun) / cost)
            self._expected = 0.0

    def _learn(self, kind: str, factor: float) -> None:
        """That a batch took so many times as long as was thought."""
        measured = factor * _pace(self._pace, kind)
        self._batches += 1
        self._best[kind] = min(measured, self._best.get(kind, measured))
        if kind in self._pace:
            factor = 1 + _LEARNT[factor > 1] * (min(factor, 10.0) - 1)
        self._pace[kind] = factor * _pace(self._pace, kind)

    def _next(self) -> list[_Waiting]:
        """The question most due and those that can be read with it; none when closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if not self._waiting:
                return []
            self._changed.wait_for(lambda: len(self._waiting) >= self.most or self._closed, self.wait_s)
            self._waiting.sort(key=lambda asked: asked.due)
            first = self._waiting[0]
            batch = [first]
            characters, cost = first.length, self._cost(first)
            for asked in self._waiting[1:] if first.kind == ANSWER else ():
                fits = (
                    len(batch) < self.most
                    and characters + asked.length <= MOST_CHARACTERS
                    and cost + self._cost(asked) <= BATCH_S
                )
                if fits and asked.work == first.work and _alike(first.length, asked.length):
                    batch.append(asked)
                    characters += asked.length
                    cost += self._cost(asked)
            taken = set(map(id, batch))
            self._waiting = [asked for asked in self._waiting if id(asked) not in taken]
            return batch

    def _answer(self, batch: list[_Waiting]) -> None:
        wanted = [asked for asked in batch if not asked.answer.cancelled()]
        if not wanted:
            return

        def stop() -> bool:
            now = time.monotonic()
            return self._given_up or all(asked.answer.cancelled() or now > asked.until for asked in wanted)

        try:
            with until(stop):
                answers = wanted[0].work([asked.question for asked in wanted])
            pairs = list(zip(wanted, answers, strict=True))
        except BaseException as error:  # native libraries raise more than Exception: this thread goes on
            if len(wanted) == 1 or stop():
                _fail(wanted, error if isinstance(error, Exception) else _Panic(repr(error)))
                return
            for asked in wanted:  # one of them cannot be read: the others shall not suffer for it
                self._answer([asked])
        else:
            for asked, answer in pairs:
                if asked.answer.set_running_or_notify_cancel():
                    asked.answer.set_result(answer)


def _pace(known: dict[str, float], kind: str) -> float:
    """Seconds a character of a kind of work; of one that was never done, as answers tell."""
    return known.get(kind) or known.get(ANSWER, _ANSWER_S) * _AS_LONG[kind]


def _alike(one: int, other: int) -> bool:
    shorter, longer = sorted((max(one, SHORT_CHARACTERS), max(other, SHORT_CHARACTERS)))
    return longer <= ALIKE * shorter


def _fail(batch: Sequence[_Waiting], error: Exception) -> None:
    for asked in batch:
        if asked.answer.set_running_or_notify_cancel():
            asked.answer.set_exception(error)

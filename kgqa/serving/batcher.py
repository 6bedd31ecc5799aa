"""Batches questions across callers, and accepts only those that can be answered in time.

One thread runs the reader: the question with the earliest deadline first, batched with waiting questions of similar
length. The duration is estimated from earlier batches, so a caller who would wait too long is immediately asked to
retry later.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from kgqa.limits.cancellation import cancel_when
from kgqa.types import InputError, Question

ALIKE = 2.0
"""Maximum ratio of the longest to the shortest question of a batch, beyond the length of a short question."""
SHORT_CHARACTERS = 300
"""Characters up to which questions count as equally long; also the fixed cost of a question, as characters."""
MAX_CHARACTERS = 60_000
"""Maximum number of characters of a batch."""
BATCH_S = 0.5
"""Maximum duration of a batch of several questions: whoever arrives meanwhile waits for its end."""
KNOWN_AFTER = 3
"""Number of batches to measure before a question may be rejected for its length."""
SPREAD_S = 8.0
"""Interval over which the retry times of rejected callers are spread, so that they do not all return at once."""
ANSWER, APART = "answer", "apart"
"""Kinds of work: answers, which are batched, and what runs alone (explanations, edits)."""
_ANSWER_S = 1e-4
"""Seconds per character, until the first are measured."""
_AS_LONG = {ANSWER: 1.0, APART: 10.0}
"""As long as an answer, until the first is measured."""
_LEARNT = {False: 0.2, True: 0.5}
"""Smoothing of the estimated pace: weight of a batch that was faster, and of one that was slower, than estimated."""


class Busy(Exception):
    """The question would not be answered in time; it may be after `wait_s` seconds."""

    def __init__(self, wait_s: float = 1.0) -> None:
        super().__init__(f"busy for {wait_s:.1f} s")
        self.wait_s = wait_s


class _Panic(Exception):
    """Wraps what was raised and is no `Exception`, which would end the thread or event loop that received it."""


Work = Callable[[Sequence[Question]], Sequence[Any]]
"""The function that is run on the questions of a batch; only questions with the same work share one."""


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
    """Accepts questions from any thread; one thread answers them in batches of at most `most`.

    An idle batcher waits `wait_s` for more questions after the first; `ask` raises `Busy` if more than `most_waiting`
    would wait. `observe` is called with the size of each batch.
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
        self._best: dict[str, float] = {}  # the pace of an otherwise idle machine
        self._batches = 0  # number of finished batches
        self._begun = self._expected = self._until = 0.0  # of the running batch
        self._again = 0.0  # retry time of the caller rejected last
        self._thread = threading.Thread(target=self._run, name="kgqa-batches", daemon=True)
        self._thread.start()

    def ask(
        self, work: Work, questions: Sequence[Question], timeout_s: float, within_s: float, kind: str = ANSWER
    ) -> list[Future[Any]]:
        """A future for each question. If all futures of a batch are cancelled, it is not run, or is stopped.

        For the `kind` `ANSWER`, `work` is run on a batch of questions, else on each alone. It must begin within
        `within_s` seconds, and a question is given up after `timeout_s` seconds. Raises Busy if too many questions
        wait, one would not begin or end in time, or the batcher was closed; InputError if one would take longer than
        `timeout_s` even alone.
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
                    f"it would take {least:.0f} s to answer, more than the timeout; ask about shorter "
                    "passages, with fewer choices, or fewer questions at once"
                )
            if before > within_s or (before and before + own > timeout_s):  # alone, it may try
                raise Busy(self._later(before, now))
            self._waiting += asked
            self._changed.notify()
        return [one.answer for one in asked]

    def delay(self, within_s: float) -> float:
        """Seconds after which to retry what would not begin within the given time; 0 if it would."""
        with self._changed:
            now = time.monotonic()
            before = self._before(now + within_s, now)
            return self._later(before, now) if before > within_s else 0.0

    def _later(self, before: float, now: float) -> float:
        """Seconds after which a caller who would wait too long may retry: after those rejected before."""
        first = now + before
        self._again = max(self._again, first) + SHORT_CHARACTERS * _pace(self._pace, ANSWER)
        if self._again > first + SPREAD_S:
            self._again = first
        return self._again - now

    def _before(self, due: float, now: float) -> float:
        """Seconds of work that come before a question with the given deadline."""
        gone = now - self._begun
        # a batch that takes longer than estimated is assumed to need another quarter, up to its timeout
        left = min(max(self._expected - gone, gone / 4), self._until - now) if self._expected else 0.0
        return max(left, 0.0) + sum(self._cost(other) for other in self._waiting if other.due <= due)

    def _cost(self, asked: _Waiting) -> float:
        return (SHORT_CHARACTERS + asked.length) * _pace(self._pace, asked.kind)

    def __len__(self) -> int:
        return len(self._waiting)

    def close(self, grace_s: float = 5.0) -> None:
        """Answer the accepted questions, then end; those not answered within the grace time are given up."""
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
        """Update the estimated pace by a batch that took this multiple of the estimate."""
        measured = factor * _pace(self._pace, kind)
        self._batches += 1
        self._best[kind] = min(measured, self._best.get(kind, measured))
        if kind in self._pace:
            factor = 1 + _LEARNT[factor > 1] * (min(factor, 10.0) - 1)
        self._pace[kind] = factor * _pace(self._pace, kind)

    def _next(self) -> list[_Waiting]:
        """The question with the earliest deadline and those that can be batched with it; none if closed and empty."""
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
                    and characters + asked.length <= MAX_CHARACTERS
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
            with cancel_when(stop):
                answers = wanted[0].work([asked.question for asked in wanted])
            pairs = list(zip(wanted, answers, strict=True))
        # native libraries raise more than Exception, and this thread must survive
        except BaseException as error:
            if len(wanted) == 1 or stop():
                _fail(wanted, error if isinstance(error, Exception) else _Panic(repr(error)))
                return
            for asked in wanted:  # one question fails: answer the others alone
                self._answer([asked])
        else:
            for asked, answer in pairs:
                if asked.answer.set_running_or_notify_cancel():
                    asked.answer.set_result(answer)


def _pace(known: dict[str, float], kind: str) -> float:
    """Seconds per character of a kind of work; for one that was never measured, estimated from answers."""
    return known.get(kind) or known.get(ANSWER, _ANSWER_S) * _AS_LONG[kind]


def _alike(one: int, other: int) -> bool:
    shorter, longer = sorted((max(one, SHORT_CHARACTERS), max(other, SHORT_CHARACTERS)))
    return longer <= ALIKE * shorter


def _fail(batch: Sequence[_Waiting], error: Exception) -> None:
    for asked in batch:
        if asked.answer.set_running_or_notify_cancel():
            asked.answer.set_exception(error)

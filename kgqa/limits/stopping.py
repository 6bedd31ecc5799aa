"""Giving up: what takes too long, or is asked by somebody who has left, ends within the step it is in.

Whoever waits says so once (`until`), and every step of an answer asks (`go_on`, `each`), however deep it lies: a
parameter would run through each function of retrieval, collation and verification. What is said holds for the thread
that says it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
_STOP: ContextVar[Callable[[], bool] | None] = ContextVar("stop", default=None)
_OFTEN = 200


class Stopped(Exception):
    """A question was given up: it took too long, or whoever asked has left.

    It is no `ValueError`: what is caught as bad input within a step lets it pass.
    """


@contextmanager
def until(stop: Callable[[], bool]) -> Iterator[None]:
    """What this thread does within ends with `Stopped` soon after `stop()` has become true."""
    before = _STOP.set(stop)
    try:
        yield
    finally:
        _STOP.reset(before)


def go_on() -> None:
    """Raise `Stopped` where nobody waits any more."""
    stop = _STOP.get()
    if stop is not None and stop():
        raise Stopped("the question took too long; ask about a shorter passage, or with fewer choices")


def each(items: Iterable[Item]) -> Iterator[Item]:
    """The items one by one, asking every few whether to go on. Raises `Stopped` where nobody waits any more."""
    for number, item in enumerate(items):
        if number % _OFTEN == 0:
            go_on()
        yield item

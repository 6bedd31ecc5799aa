"""Cancellation and deadlines of requests, and panics of Rust libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from kgqa.types import InputError, first_line

# Cancellation: requests that time out, or whose caller has left, end within the current step.
#
# The caller sets a condition once (`cancel_when`), and every step checks it (`check_cancelled`, `cancellable`), however
# deep: a parameter would have to pass through every function of retrieval and collation. The condition is per thread.

T = TypeVar("T")
_STOP: ContextVar[Callable[[], bool] | None] = ContextVar("stop", default=None)
_OFTEN = 200


class Cancelled(Exception):
    """The request was cancelled: it timed out, or the caller has left.

    It is not a `ValueError`, so that handlers of bad input do not catch it.
    """

    def __init__(
        self, message: str = "the question took too long; ask about a shorter passage, or with fewer choices"
    ) -> None:
        super().__init__(message)


@contextmanager
def cancel_when(stop: Callable[[], bool]) -> Iterator[None]:
    """Context in which this thread raises `Cancelled` soon after `stop()` becomes true."""
    before = _STOP.set(stop)
    try:
        yield
    finally:
        _STOP.reset(before)


def check_cancelled() -> None:
    """Raise `Cancelled` if the request was cancelled."""
    stop = _STOP.get()
    if stop is not None and stop():
        raise Cancelled


def cancellable(items: Iterable[T]) -> Iterator[T]:
    """Iterate over items, checking for cancellation every few. Raises `Cancelled` when the request was cancelled."""
    for number, item in enumerate(items):
        if number % _OFTEN == 0:
            check_cancelled()
        yield item


# Panics of Rust libraries (pyo3's PanicException), which are not an `Exception` and would end a worker.


@contextmanager
def report_panics(subject: object, remedy: str) -> Iterator[None]:
    """Report a library's panic on `subject` as an InputError of one line."""
    try:
        yield
    except BaseException as error:
        if not is_panic(error):
            raise
        raise InputError(f"{subject}: a library crashed ({first_line(error)}); {remedy}") from None


def is_panic(error: BaseException) -> bool:
    """Whether an error is a Rust panic; its class cannot be imported."""
    return type(error).__name__ == "PanicException" and not isinstance(error, Exception)

"""Rust libraries that break down raise what is no `Exception` (pyo3's PanicException), which would end a worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kgqa.types import InputError, first_line


@contextmanager
def panics_told(subject: object, remedy: str) -> Iterator[None]:
    """What a library cannot bear of `subject` is told in one line, and ends no more than this.

    Raises:
        InputError: the library has panicked within.
    """
    try:
        yield
    except BaseException as error:
        if not is_panic(error):
            raise
        raise InputError(f"{subject}: its library breaks down ({first_line(error)}); {remedy}") from None


def is_panic(error: BaseException) -> bool:
    """Whether an error is that of a Rust library that broke down; its class can be imported from nowhere."""
    return type(error).__name__ == "PanicException" and not isinstance(error, Exception)

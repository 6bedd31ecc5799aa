"""Ending a reading early: for deadlines, and for callers who leave."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import nn

from kgqa.types import InputError


class Stopped(InputError):
    """A question was given up: it took too long, or whoever asked has left."""


class Stopping:
    """Whether what a thread reads is to end, asked before each of some layers and whenever `check` is called."""

    def __init__(self, layers: list[nn.Module]) -> None:
        self._limits = threading.local()
        for layer in layers:
            layer.register_forward_pre_hook(self._before_layer)

    @contextmanager
    def until(self, stop: Callable[[], bool]) -> Iterator[None]:
        """What this thread reads within ends with `Stopped` soon after `stop()` has become true."""
        before = getattr(self._limits, "stop", None)
        self._limits.stop = stop
        try:
            yield
        finally:
            self._limits.stop = before

    def check(self) -> None:
        """Raise `Stopped` where this thread's time is up."""
        stop = getattr(self._limits, "stop", None)
        if stop is not None and stop():
            raise Stopped("the question took too long; ask about a shorter passage, or with fewer choices")

    def _before_layer(self, *_: object) -> None:
        self.check()

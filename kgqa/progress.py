"""Progress of long work on the terminal."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sized
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

Item = TypeVar("Item")
DRAWN_EVERY_S = 0.1


@cache
def terminal() -> Console:
    """Standard error: what is drawn within another display is drawn with it where both are on the same console."""
    from rich.console import Console

    return Console(stderr=True)


def track(items: Iterable[Item], text: str, total: int | None = None) -> Iterator[Item]:
    """The items, with a bar on standard error until they end; `total` is how many, where they do not say it.

    The bar is drawn between items. rich's own `track` draws in threads and waits for them at the end: where that comes
    early and is the garbage collector's, in one of these threads, it waits for itself.
    """
    from rich.progress import Progress

    if total is None and isinstance(items, Sized):
        total = len(items)
    with Progress(console=terminal(), transient=True, auto_refresh=False) as bar:
        task, drawn = bar.add_task(text, total=total), time.monotonic()
        for item in items:
            yield item
            bar.advance(task)
            if time.monotonic() - drawn > DRAWN_EVERY_S:
                bar.refresh()
                drawn = time.monotonic()

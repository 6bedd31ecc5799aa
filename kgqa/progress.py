"""Progress of long work on the terminal."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sized
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

Item = TypeVar("Item")
DRAWN_EVERY_S = 0.1


def bars(*columns: Any, **options: Any) -> Progress:
    """rich's bars on standard error where that is a terminal; what is printed meanwhile goes where it went."""
    from rich.progress import Progress

    console = _terminal()
    options |= {"disable": options.get("disable") or not console.is_terminal}
    return Progress(*columns, console=console, redirect_stdout=False, **options)


@cache
def _terminal() -> Console:
    """One for all: what is drawn within another display is drawn with it where both are on the same console."""
    from rich.console import Console

    return Console(stderr=True)


def track(items: Iterable[Item], text: str, total: int | None = None) -> Iterator[Item]:
    """The items, with a bar on standard error until they end; `total` is how many, where they do not say it.

    The bar is drawn between items. rich's own `track` draws in threads and waits for them at the end: where that comes
    early and is the garbage collector's, in one of these threads, it waits for itself.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    with bars(transient=True, auto_refresh=False) as bar:
        task, drawn = bar.add_task(text, total=total), time.monotonic()
        for item in items:
            yield item
            bar.advance(task)
            if time.monotonic() - drawn > DRAWN_EVERY_S:
                bar.refresh()
                drawn = time.monotonic()

"""Progress bars on the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

T = TypeVar("T")
DRAWN_EVERY_S = 0.1
PROGRESS_EVERY_S = 60.0
"""Seconds between progress lines on stderr where there is no terminal for a progress bar."""


def bars(*columns: Any, **options: Any) -> Progress:
    """rich's progress bars on standard error if that is a terminal; printed output is not redirected."""
    from rich.progress import Progress

    console = _terminal()
    options |= {"disable": options.get("disable") or not console.is_terminal}
    return Progress(*columns, console=console, redirect_stdout=False, **options)


@cache
def _terminal() -> Console:
    """The shared console: rich can only nest displays on the same console."""
    from rich.console import Console

    return Console(stderr=True)


def track(items: Iterable[T], text: str, total: int | None = None) -> Iterator[T]:
    """Iterate over items with a progress bar on standard error; `total` is their number, if they have no length.

    The bar is drawn between items. rich's own `track` draws in a thread and joins it at the end; if the iterator is
    abandoned and the garbage collector finalizes it in that very thread, it deadlocks.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    with bars(transient=True, auto_refresh=False) as bar:
        task, drawn = bar.add_task(text, total=total), time.monotonic()
        for number, item in enumerate(items, 1):
            yield item
            bar.advance(task)
            if time.monotonic() - drawn > (PROGRESS_EVERY_S if bar.disable else DRAWN_EVERY_S):
                drawn = time.monotonic()
                bar.refresh()
                if bar.disable:
                    of_all = "" if total is None else f" of {total:,}"
                    print(f"{text}: {number:,}{of_all}", file=sys.stderr, flush=True)

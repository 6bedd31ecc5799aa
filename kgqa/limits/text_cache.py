"""Caches of texts bounded by their total size, since users choose the length of texts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")
MAX_CACHED_CHARACTERS = 300_000
"""Maximum total characters in a cache; the morphemes of a text take about 250 bytes per character."""
_EACH = 100
"""Fixed cost of an entry, in characters."""


def cached_by_length(
    length: Callable[[Any], int], room: int = MAX_CACHED_CHARACTERS
) -> Callable[[Callable[[Key], Found]], Callable[[Key], Found]]:
    """Like `functools.lru_cache` for functions of one argument, bounded by total size instead of number of entries."""

    def decorate(work: Callable[[Key], Found]) -> Callable[[Key], Found]:
        kept: OrderedDict[Key, Found] = OrderedDict()
        changing, taken = Lock(), 0

        @wraps(work)
        def asked(key: Key) -> Found:
            nonlocal taken
            with changing:
                if key in kept:
                    kept.move_to_end(key)
                    return kept[key]
            found = work(key)
            with changing:
                taken += (key not in kept) * (length(key) + _EACH)
                kept[key] = found
                while taken > room:
                    taken -= length(kept.popitem(last=False)[0]) + _EACH
            return found

        return asked

    return decorate

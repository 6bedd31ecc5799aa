"""What was worked out is remembered while it takes no more room than it may: strangers choose how long a text is."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")
ROOM = 300_000
"""Characters of all texts together; the morphemes of one take some 250 bytes a character."""
_EACH = 100
"""What any text takes beside its characters."""


def remembered(
    length: Callable[[Any], int], room: int = ROOM
) -> Callable[[Callable[[Key], Found]], Callable[[Key], Found]]:
    """As `functools.lru_cache`, of one thing, bounded by what all things take together instead of by their number."""

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

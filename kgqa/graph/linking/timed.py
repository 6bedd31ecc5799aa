"""How long linking took, told of one call."""

from __future__ import annotations

import time
from collections.abc import Sequence

from kgqa.graph.linking.linker import Linker
from kgqa.types import Mention


class TimedLinker:
    """A linker that notes the seconds it took; one a call, since visitors share the answerer."""

    def __init__(self, linker: Linker) -> None:
        self._linker = linker
        self.seconds = 0.0

    def link_many(self, texts: Sequence[str]) -> list[list[Mention]]:
        """As `Linker.link_many`."""
        begin = time.perf_counter()
        found = self._linker.link_many(texts)
        self.seconds += time.perf_counter() - begin
        return found

"""Subgraphs of questions that are asked again: answered first, then explained, or asked by many."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from kgqa.types import Question, Subgraph

MOST = 256
"""Questions whose subgraphs are kept, the last asked; each takes some tens of kilobytes."""
LONGEST = 10_000
"""Characters of a question with its passage that is kept."""


class KeptSubgraphs:
    """What was retrieved for the last questions, by the hash of the graph; for any thread."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.hits = 0
        self._lock = Lock()
        self._found: OrderedDict[tuple[object, ...], list[Subgraph]] = OrderedDict()

    def of(
        self, identity: str, question: Question, nodes: int, retrieve: Callable[[], list[Subgraph]]
    ) -> list[Subgraph]:
        """The subgraphs of a question with at most so many nodes each: kept ones, else those that `retrieve` finds.

        `identity` is the hash of the graph's content; empty for one that may change, of which nothing is kept.
        """
        if not identity or len(question.text) + len(question.passage_text) > LONGEST:
            return retrieve()
        key = (identity, nodes, question.text, question.passage_text, question.choices)
        with self._lock:
            if key in self._found:
                self.hits += 1
                self._found.move_to_end(key)
                return list(self._found[key])
        found = retrieve()
        with self._lock:
            self._found[key] = found
            while len(self._found) > self.most:
                self._found.popitem(last=False)
        return list(found)

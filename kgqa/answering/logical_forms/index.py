"""What must be known of a whole graph before it is asked: its classes, and the words of its labels."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from rapidfuzz import fuzz, process

from kgqa.graph.linking.function_words import STOP_WORDS
from kgqa.graph.meanings import is_kind
from kgqa.types import KnowledgeGraph

MOST_ENTITIES = 50_000
"""Entities of a graph that are indexed; a larger one is asked by its linker alone."""
MOST_CLASSES = 16
"""Classes that a question which names none may mean, those of most instances."""
SIMILAR = 80.0
"""Similarity, of 100, from which a word is taken for a slip of another."""
_WORD = re.compile(r"\w+(?:[-.'’&/]\w+)*")
_LONG_ENOUGH = 4
MOST_NAMED = 3
"""Entities that a part of a name may stand for."""


class GraphIndex:
    """Classes and label words of a graph.

    Args:
        graph: any; of a remote one, or one that is too large, nothing is indexed.
    """

    def __init__(self, graph: KnowledgeGraph) -> None:
        count = graph.entity_count or 0
        self.classes: list[int] = []
        self.labels: list[str] = []
        self._of_word: dict[str, set[int]] = defaultdict(set)
        self._words: dict[int, list[tuple[str, ...]]] = {}
        self._called: dict[int, str] = {}
        if graph.is_remote or not 0 < count <= MOST_ENTITIES:
            return
        entities = np.arange(count, dtype=np.int32)
        edges = graph.neighbours(entities)
        kinds = np.array([is_kind(relation) for relation in graph.relations], dtype=bool)
        instances = Counter(edges.tail[kinds[edges.relation]].tolist()) if len(edges.head) else Counter()
        called = dict(zip(instances, graph.labels(np.array(list(instances), dtype=np.int32)), strict=True))
        order = sorted(instances, key=lambda entity: (-instances[entity], called[entity].casefold()))
        self.classes = order[:MOST_CLASSES]
        for entity, name, label in zip(
            entities.tolist(), graph.names(entities), graph.labels(entities), strict=True
        ):
            if name.startswith('"') or not label:
                continue
            texts = {label, *(other.text for other in graph.all_labels(entity))}
            self._called[entity] = label.casefold()
            self._words[entity] = [tuple(_WORD.findall(text.casefold())) for text in texts]
            for words in self._words[entity]:
                for word in words:
                    self._of_word[word].add(entity)
        self._known = list(self._of_word)

    def find(self, text: str, taken: Sequence[tuple[int, int]]) -> list[tuple[int, int, tuple[int, ...]]]:
        """Stretches of a text that are a part of a name, or a name with a slip: (start, end, entities).

        A run of words counts where few entities bear all of them; `taken` stretches are left alone.
        """
        if not self._of_word:
            return []
        words = [(m[0], m.start(), m.end()) for m in _WORD.finditer(text)]
        candidates = [self._bearing(word, text) for word, _, _ in words]
        found: list[tuple[int, int, tuple[int, ...]]] = []
        n = 0
        while n < len(words):
            best: tuple[int, set[int]] | None = None
            common: set[int] | None = None
            for m in range(n, min(n + 8, len(words))):
                common = candidates[m] if common is None else common & candidates[m]
                if not common:
                    break
                if self._distinct(words[n : m + 1], common):
                    best = m, common
            if best is None:
                n += 1
                continue
            start, end = words[n][1], words[best[0]][2]
            if not any(s < end and start < e for s, e in taken):
                found.append((start, end, tuple(sorted(best[1], key=self._called.__getitem__)[:MOST_NAMED])))
            n = best[0] + 1
        return found

    def _bearing(self, word: str, text: str) -> set[int]:
        """Entities in one of whose labels a word stands, or one that it is a slip of."""
        low = word.casefold().removesuffix("'s").removesuffix("’s")
        if low in self._of_word:
            return self._of_word[low]
        if low.endswith("s") and low[:-1] in self._of_word:
            return self._of_word[low[:-1]]
        if len(low) < _LONG_ENOUGH or low in STOP_WORDS:
            return set()
        found = process.extract(low, self._known, scorer=fuzz.ratio, score_cutoff=SIMILAR, limit=None)
        near = [known for known, score, _ in found if len(known) >= _LONG_ENOUGH and score == found[0][1]]
        return {entity for known in near for entity in self._of_word[known]}

    def _distinct(self, words: Sequence[tuple[str, int, int]], entities: set[int]) -> bool:
        """Whether some words tell few entities from all others: no function words, no plain noun of a longer name."""
        if len(entities) > MOST_NAMED:
            return False
        said = [word for word, _, _ in words]
        telling = [w for w in said if w.casefold() not in STOP_WORDS]
        if not telling:
            return False
        if len(said) == 1 and not any(c.isalpha() for c in said[0]):
            return any(name == (said[0],) for e in entities for name in self._words[e])
        whole = any(len(words) >= len(name) for e in entities for name in self._words[e])
        marked = any(w[0].isupper() or any(c.isdigit() for c in w) for w in telling)
        rare = len(said) > 1 and all(len(w) > 1 for w in said)
        return whole or marked or rare

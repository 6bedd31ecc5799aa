"""A graph's facts by relation, with labels, as made questions need them (see synthesis.py)."""

from __future__ import annotations

import re
import zlib
from collections import Counter, defaultdict

import numpy as np

from kgqa.text.inflection import is_mass
from kgqa.types import Ints, KnowledgeGraph

_VERB_TAILS = ("UsedFor", "CapableOf", "CausesDesire", "ReceivesAction", "MotivatedByGoal", "HasSubevent")
_NO_VERBS = {"a", "an", "the", "good", "not", "no", "bad", "more", "new", "hot", "cold", "old", "too", "very"}
_SENSE = re.compile(r"\s*\([^)]*\)$")


class Facts:
    """Facts of a graph by the local name of their relation (the last word of an IRI: `HasInstrument`)."""

    def __init__(self, graph: KnowledgeGraph, entities: Ints | None = None) -> None:
        """Read the facts of `entities`, by default of the whole graph (which must have `entity_count`)."""
        if entities is None:
            entities = np.arange(graph.entity_count, dtype=np.int32)  # type: ignore[attr-defined]
        edges = graph.neighbours(entities)
        ids, rows = np.unique(np.concatenate([edges.head, edges.tail]), return_inverse=True)
        self.labels = graph.labels(ids.astype(np.int32))
        self.texts = [_SENSE.sub("", label).replace("_", " ") for label in self.labels]
        names = [re.split(r"[/#:]", relation.name)[-1] for relation in graph.relations]
        heads, tails = rows[: len(edges.head)].tolist(), rows[len(edges.head) :].tolist()
        self._tails: dict[str, dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
        for head, relation, tail, weight in zip(
            heads, edges.relation.tolist(), tails, edges.weight.tolist(), strict=True
        ):
            self._tails[names[relation]][head][tail] = weight
            self._tails["~" + names[relation]][tail][head] = weight
        self.verbs = self._find_verbs()

    def heads(self, relation: str) -> list[int]:
        """Concepts that have facts of a relation; `~R` stands for R read backwards."""
        return sorted(self._tails.get(relation, {}))

    def tails(self, concept: int, relation: str) -> dict[int, float]:
        """What a concept is joined to by a relation (or `~R`), with weights."""
        return self._tails.get(relation, {}).get(concept, {})

    def verb(self, concept: int) -> str:
        """First word of a concept that is an event, else ""."""
        first, _, rest = self.texts[concept].partition(" ")
        if first not in self.verbs or (not rest and is_mass(first)):
            return ""
        return first

    def is_dev(self, concept: int) -> bool:
        """Whether questions about a concept are held out: a tenth, decided by its label alone."""
        return zlib.crc32(self.labels[concept].lower().encode()) % 10 == 0

    def _find_verbs(self) -> frozenset[str]:
        count: Counter[str] = Counter()
        for relation in _VERB_TAILS:
            for tail in self.heads("~" + relation):
                first, _, rest = self.texts[tail].partition(" ")
                if rest and first.islower() and first not in _NO_VERBS and not first.endswith("ing"):
                    count[first] += 1
        return frozenset(count)

"""A graph's facts by relation, with labels, as made questions need them (see synthesis.py)."""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from kgqa.text.synthesis.inflection import is_mass, third
from kgqa.types import InputError, KnowledgeGraph

_TO_DEEDS = ("~UsedFor", "~CapableOf", "~CausesDesire", "~ReceivesAction", "~MotivatedByGoal", "~HasSubevent")
_OF_EVENTS = ("HasInstrument", "HasSubevent", "MotivatedByGoal", "HasPrerequisite")
_OF_THINGS = ("IsA", "MadeOf", "PartOf", "HasA")
_NO_VERBS = {"a", "an", "the", "good", "not", "no", "bad", "more", "new", "hot", "cold", "old", "too", "very"}
_ANIMALS = {"animal", "bird", "insect", "fish", "mammal", "reptile", "pet", "farm animal", "wild animal"}
_NO_TOOLS = frozenset("place room building shop store time season day holiday event person".split())  # noqa: SIM905
_OF_OBJECTS = ("UsedFor", "MadeOf", "HasA", "PartOf", "~HasInstrument", "~HasMaterial", "~HasClothing")
_OF_OCCASIONS = ("HasClothing", "HasEmotion", "HasTime")
_SENSE = re.compile(r"\s*\([^)]*\)$")


class Facts:
    """Facts of a graph by the local name of their relation (the last word of an IRI: `HasInstrument`)."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        """Read the facts of a graph.

        Raises:
            InputError: it is an endpoint, which cannot be walked.
        """
        if graph.entity_count is None:
            raise InputError(f"{graph.name}: an endpoint cannot be read whole; import it first")
        edges = graph.neighbours(np.arange(graph.entity_count, dtype=np.int32))
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
        self._verbs = [self._verb(concept) for concept in range(len(self.texts))]
        self._third = {third(verb) for verb in self.verbs}

    def heads(self, relation: str) -> list[int]:
        """Concepts that have facts of a relation; `~R` stands for R read backwards."""
        return sorted(self._tails.get(relation, {}))

    def tails(self, concept: int, relation: str) -> dict[int, float]:
        """What a concept is joined to by a relation (or `~R`), with weights."""
        return self._tails.get(relation, {}).get(concept, {})

    def verb(self, concept: int) -> str:
        """First word of a concept that is an event, else ""."""
        return self._verbs[concept]

    def kinds(self, concept: int) -> set[str]:
        """What a concept is, over up to four IsA steps, itself included."""
        found, layer = {concept}, {concept}
        for _ in range(4):
            layer = {kind for member in layer for kind in self.tails(member, "IsA")} - found
            found |= layer
        return {self.texts[kind] for kind in found}

    def is_animal(self, concept: int) -> bool:
        """Whether a concept is an animal, as far as the graph tells."""
        return bool(_ANIMALS & self.kinds(concept))

    def is_body_part(self, concept: int) -> bool:
        """Whether a concept is a part of a person or an animal."""
        wholes = {*self.tails(concept, "PartOf"), *self.tails(concept, "~HasA")}
        return "body part" in self.kinds(concept) or any(
            self.is_animal(whole) or self.texts[whole] in ("person", "body", "head", "face")
            for whole in wholes
        )

    def is_tool(self, concept: int) -> bool:
        """Whether something that is used for an event can be called its instrument: no place, time or person."""
        if self.tails(concept, "~HasInstrument"):
            return True
        stays = len(self.tails(concept, "~AtLocation")) > 2 or self.tails(concept, "~HasTime")
        return not stays and not _NO_TOOLS & self.kinds(concept)

    def is_quality(self, concept: int) -> bool:
        """Whether a concept is an adjective: a property or a feeling."""
        return bool(self.tails(concept, "~HasProperty") or self.tails(concept, "~HasEmotion"))

    def is_occasion(self, concept: int) -> bool:
        """Whether a noun names something that happens (a wedding, rain, winter) rather than an object."""
        last = self.texts[concept].rsplit(" ", 1)[-1]
        if any(self.tails(concept, relation) for relation in _OF_OBJECTS) or last in self._third:
            return False
        return any(self.tails(concept, relation) for relation in _OF_OCCASIONS)

    def is_dev(self, concept: int) -> bool:
        """Whether questions about a concept are held out: a tenth, decided by its label alone."""
        return zlib.crc32(self.labels[concept].lower().encode()) % 10 == 0

    def _verb(self, concept: int) -> str:
        first, _, rest = self.texts[concept].partition(" ")
        if first not in self.verbs or (not rest and is_mass(first)):
            return ""
        return "" if any(self.tails(concept, relation) for relation in _OF_OBJECTS) else first

    def _find_verbs(self) -> frozenset[str]:
        nouns = {self.texts[thing] for relation in _OF_THINGS for thing in self.heads(relation)}
        done = {first for first in self._first_words(_TO_DEEDS) if not first.endswith("ing")}
        return frozenset(done | (self._first_words(_OF_EVENTS) - nouns))

    def _first_words(self, relations: Sequence[str]) -> set[str]:
        """First words of the phrases that have facts of these relations, where they may be verbs."""
        phrases = (self.texts[concept] for relation in relations for concept in self.heads(relation))
        found = (first for first, _, rest in (phrase.partition(" ") for phrase in phrases) if rest)
        return {first for first in found if first.islower() and first not in _NO_VERBS}

"""What a source says: facts and labels, one at a time or many at once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kgqa.types import Label, Relation, Triple

UNSTATED = math.nan
"""Weight of a fact whose source gives none; it yields to any stated weight and is 1 in the end."""


@dataclass(slots=True)
class Batch:
    """Facts and labels in columns, so that millions pass without an object each.

    `weights` and `graphs` are empty where no fact of the batch states one, else as long as `heads`.
    """

    heads: list[str] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    tails: list[str] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    graphs: list[str] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.heads) + len(self.labels)


@dataclass(slots=True)
class Tally:
    """Filled while a source is read: what was left out and why, words and meanings of relations, kinds of concepts,
    licences."""

    skipped: Counter[str] = field(default_factory=Counter)
    words: dict[str, dict[str, str]] = field(default_factory=dict)  # relation -> language -> words
    inverses: dict[str, str] = field(default_factory=dict)  # relation -> what says it the other way round
    kinds: dict[str, str] = field(default_factory=dict)  # concept -> what kind of thing it is
    means: dict[str, list[str]] = field(default_factory=dict)  # relation -> what it is declared to mean
    wider: dict[str, str] = field(default_factory=dict)  # relation -> the one that it is a narrower one of
    complete: bool | None = None  # whether the source says that it says all there is
    licences: list[str] = field(default_factory=list)

    def relations(self, language: str = "en") -> Iterator[Relation]:
        """Relations whose words the source has given by then, in the wanted language where it can be."""
        for name, said in self.words.items():
            words = said.get(language) or said.get("en") or said.get("") or next(iter(said.values()))
            yield Relation(name, "", words)


Statement = Triple | Label | Batch


def batches(statements: Iterable[Statement], size: int = 250_000) -> Iterator[Batch]:
    """Gather single facts and labels into batches of at most `size`; batches pass in their place."""
    batch = Batch()
    for statement in statements:
        if isinstance(statement, Batch):
            if len(batch):
                yield batch
                batch = Batch()
            yield statement
            continue
        if isinstance(statement, Label):
            batch.labels.append(statement)
        else:
            batch.heads.append(statement.head)
            batch.relations.append(statement.relation)
            batch.tails.append(statement.tail)
            batch.weights.append(statement.weight)
        if len(batch) >= size:
            yield batch
            batch = Batch()
    if len(batch):
        yield batch

"""What a source says: facts and labels, one at a time or many at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kgqa.types import Label, Triple

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

"""A draft: what is known of one question on its way to an answer. A stage takes drafts and returns new ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import torch
from torch import Tensor

from kgqa.batch import Fused
from kgqa.models.collation.candidates import CandidateRow
from kgqa.models.collation.rows import Row
from kgqa.types import Answer, Candidate, Evidence, Item, Question, Source, Subgraph

Score = Callable[[Sequence[CandidateRow]], Tensor]
"""The reader, as far as stages know it: scores (R,) of rows with one candidate each."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadRow:
    """A row as it was read: the question, with one choice or none, beside a window of the passage and a subgraph."""

    row: Row
    choice: float
    """Score of the choice."""
    concepts: Tensor
    """(N,) of the subgraph's concepts."""
    fused: Fused
    """What the reasoner made of the batch, for its attention and paths."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadScores:
    """What the reader's heads say about one question, each head's candidates best first."""

    gate: Tensor = field(default_factory=lambda: torch.zeros(0))
    """(C,) of `GATED`, then of yes and no."""
    spans: tuple[Candidate, ...] = ()
    concepts: tuple[Candidate, ...] = ()
    choices: tuple[Candidate, ...] = ()
    rows: tuple[ReadRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Computed:
    """What was computed of facts, and those facts; of source none where the graph does not tell what is asked."""

    candidate: Candidate
    evidence: Evidence = field(default_factory=Evidence)
    items: tuple[Item, ...] = ()
    """Several things that are the answer together."""


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """What is known of one question so far."""

    question: Question
    subgraphs: tuple[Subgraph, ...] = ()
    """One for each choice, or one."""
    scores: HeadScores = field(default_factory=HeadScores)
    computed: Computed | None = None
    candidates: tuple[Candidate, ...] = ()
    """Of all sources, best first."""
    best: Candidate = Candidate("", Source.NONE, 0.0)
    """The likeliest, which may be that nothing answers."""
    source: Source = Source.NONE
    confidence: float = 0.0
    none: float = 0.0
    """Probability that nothing answers an open question."""
    evidence: Evidence = field(default_factory=Evidence)
    items: tuple[Item, ...] = ()
    """Several things that are the answer together."""
    timing_ms: Mapping[str, float] = field(default_factory=dict)

    @property
    def subgraph(self) -> Subgraph:
        """The subgraph of an open question."""
        return self.subgraphs[0]

    @property
    def is_open(self) -> bool:
        """Whether no choices were given."""
        return not self.question.choices

    def spent(self, **milliseconds: float) -> Draft:
        """The same, with the time that some part of the work took, also where it took some before."""
        total = {name: ms + self.timing_ms.get(name, 0.0) for name, ms in milliseconds.items()}
        return replace(self, timing_ms={**self.timing_ms, **total})

    def answer(self, model: str, graph: str) -> Answer:
        """The draft as it is given away."""
        text = None if self.source is Source.NONE else self.candidates[0].text
        if text is not None and self.items and self.source is Source.KNOWLEDGE:
            text = ", ".join(item.text for item in self.items)
        timing = {**self.timing_ms, "total": sum(self.timing_ms.values())}
        return Answer(
            self.question,
            text,
            self.source,
            self.confidence,
            self.candidates,
            self.evidence,
            timing,
            model,
            graph,
            self.items,
            self.none,
        )


Drafts = tuple[Draft, ...]


class Stage(NamedTuple):
    """A step from drafts to drafts: the fields of a draft that it needs, those that it fills or changes."""

    name: str
    requires: str
    provides: str
    run: Callable[[Drafts], Drafts]

"""The state of a question in the pipeline. A step takes a tuple of states and returns new ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import torch
from torch import Tensor

from kgqa.batch import ReasonerOutput
from kgqa.models.collation.rows import BatchRow, CandidateRow
from kgqa.types import Answer, Candidate, Evidence, Item, Question, Source, Subgraph

Score = Callable[[Sequence[CandidateRow]], Tensor]
"""The scoring function of a reader: scores (R,) of rows with one candidate each."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRow:
    """A row that the reader scored: the question, one choice or none, a window of the passage and a subgraph."""

    row: BatchRow
    choice: float
    """Score of the choice."""
    concepts: Tensor
    """Scores (N,) of the subgraph's concepts."""
    fused: ReasonerOutput
    """Output of the reasoner for the whole batch: attention and decoded paths."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadScores:
    """Scores of all heads for one question, each head's candidates best first."""

    answer_type: Tensor = field(default_factory=lambda: torch.zeros(0))
    """Scores (C,) of `ANSWER_TYPES`, then of yes and no."""
    spans: tuple[Candidate, ...] = ()
    concepts: tuple[Candidate, ...] = ()
    choices: tuple[Candidate, ...] = ()
    rows: tuple[ScoredRow, ...] = ()


@dataclass(frozen=True, slots=True)
class ComputedAnswer:
    """An answer that was computed: by a logical form or a chain of facts, with the facts it follows from, or from the
    values in a passage. Its source is `Source.NONE` if the graph has no answer."""

    candidate: Candidate
    evidence: Evidence = field(default_factory=Evidence)
    items: tuple[Item, ...] = ()
    """The items of an answer with several items."""
    others: tuple[Candidate, ...] = ()
    """Denotations of other forms, most probable first."""

    @property
    def of_passage(self) -> bool:
        """Whether it is computed from the passage, not from a graph."""
        return self.candidate.source is Source.PASSAGE


@dataclass(frozen=True, slots=True, eq=False)
class QAState:
    """The state of one question: each step fills or changes some fields."""

    question: Question
    subgraphs: tuple[Subgraph, ...] = ()
    """One per choice, or exactly one."""
    scores: HeadScores = field(default_factory=HeadScores)
    is_glossed: bool = False
    """Whether the question is a gloss: a Korean one, word for word in English."""
    english: tuple[QAState, Subgraph] | None = None
    """The question in English words with its subgraph, and this with labels and mentions of its language, for the gloss
    step."""
    computed: ComputedAnswer | None = None
    doubt: float = 0.0
    """Probability that the reader's answer is wrong by the quantities of the passage: that it has to be computed, or
    is a quantity of something else."""
    candidates: tuple[Candidate, ...] = ()
    """Candidates of all sources, best first."""
    best: Candidate = Candidate("", Source.NONE, 0.0)
    """The most probable candidate, which may be "no answer"."""
    source: Source = Source.NONE
    confidence: float = 0.0
    none: float = 0.0
    """Probability that an open question has no answer."""
    evidence: Evidence = field(default_factory=Evidence)
    items: tuple[Item, ...] = ()
    """The items of an answer with several items."""
    timing_ms: Mapping[str, float] = field(default_factory=dict)

    @property
    def subgraph(self) -> Subgraph:
        """The subgraph of an open question."""
        return self.subgraphs[0]

    @property
    def is_open(self) -> bool:
        """Whether the question is open, not multiple choice."""
        return not self.question.choices

    def spent(self, **milliseconds: float) -> QAState:
        """Add to the time spent, in milliseconds by name."""
        total = {name: ms + self.timing_ms.get(name, 0.0) for name, ms in milliseconds.items()}
        return replace(self, timing_ms={**self.timing_ms, **total})

    def answer(self, model: str, graph: str) -> Answer:
        """Convert the pipeline state to the public `Answer`."""
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


QAStates = tuple[QAState, ...]


class Step(NamedTuple):
    """A pipeline step, with the fields of a state that it requires and those that it fills or changes."""

    name: str
    requires: str
    provides: str
    run: Callable[[QAStates], QAStates]

"""Distillation of readers: soft targets for spans, concepts, choices and answer types, in addition to gold answers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from kgqa.batch import Loss, Movable, QABatch, Term, TokenBatch
from kgqa.models.collation.collate import Collated
from kgqa.models.collation.rows import BatchRow
from kgqa.models.heads import of_choices
from kgqa.models.reader import LOSS_WEIGHTS, Reader, Scores
from kgqa.models.segments import segment_softmax
from kgqa.objectives.finetuning.qa import QA

NOTHING = -1
LEAST = 1e-9


@dataclass(frozen=True)
class TaughtBatch(Movable):
    """Questions as collated for student and teacher, each with its own tokenizer, and the alignment of the two.

    A row that the two split into different windows is not aligned, and is trained on gold answers only.
    """

    student: QABatch
    teacher: QABatch
    row: Tensor  # (B,) int64 teacher's row for each row of the student, -1 none
    node: Tensor  # (N,) int64 teacher's node for each node of the student, -1 none
    start: Tensor  # (B', T') int64 student's token at the start of each teacher's token, -1 none
    end: Tensor  # (B', T') int64 student's token at the end of each teacher's token, -1 none

    @property
    def tokens(self) -> TokenBatch:
        """The student's tokens."""
        return self.student.tokens


def aligned_batch(ours: Collated, theirs: Collated) -> TaughtBatch:
    """Align the rows, nodes and tokens of student and teacher; tokens are aligned by their characters."""
    batch, other = ours.batch, theirs.batch
    row = torch.full((batch.num_rows,), NOTHING)
    node = torch.full_like(batch.graph.node_label, NOTHING)
    start = torch.full_like(other.tokens.input_ids, NOTHING)
    end = start.clone()
    own, given = _single(ours.rows), _single(theirs.rows)
    for place, number in own.items():
        if place not in given:
            continue
        mine, its = ours.rows[number], theirs.rows[given[place]]
        row[number] = given[place]
        count = len(mine.subgraph.nodes) + 1
        if len(its.subgraph.nodes) + 1 == count:
            span = torch.arange(its.first_node, its.first_node + count)
            node[mine.first_node : mine.first_node + count] = span
        written = [(token, (s, e)) for token, (s, e) in enumerate(mine.offsets) if e > s]
        ends = [e for _, (_, e) in written]
        for token, (s, e) in enumerate(its.offsets):
            if e <= s:
                continue
            first, last = bisect_right(ends, s), bisect_right(ends, e - 1)
            if last < len(written):
                start[given[place], token], end[given[place], token] = (
                    written[first][0],
                    written[last][0],
                )
    return TaughtBatch(batch, other, row, node, start, end)


def _single(rows: Sequence[BatchRow]) -> dict[tuple[int, int], int]:
    """Index of each row by question and choice, for those in a single window."""
    seen: dict[tuple[int, int], list[int]] = {}
    for number, row in enumerate(rows):
        seen.setdefault((row.question, row.choice), []).append(number)
    return {place: numbers[0] for place, numbers in seen.items() if len(numbers) == 1}


class TaughtQA(QA):
    """Gold answers and a teacher's soft ones: (1 - w) L + w T^2 KL (Hinton et al., 2015, section 2).

    The divergence is summed over the heads with their weights: start and end of spans over tokens, concepts over the
    nodes of a row, choices over those of a question, and the classes of the answer-type classifier. The tokens of a
    teacher with another tokenizer are aligned by characters. The batch is a `TaughtBatch`.

    Args:
        teacher: a trained reader; it is not trained further.
        temperature: T, by which the scores of both are divided.
        soft: w, the weight of the divergence.
    """

    def __init__(
        self,
        reader: Reader,
        teacher: Reader,
        save: Callable[[Reader, Path], Any],
        *,
        temperature: float = 2.0,
        soft: float = 0.5,
    ) -> None:
        super().__init__(reader, save)
        self._teacher = [teacher.eval().requires_grad_(False)]  # in a list: not trained, not saved
        self.temperature, self.soft = temperature, soft

    def forward(self, batch: TaughtBatch) -> Loss:  # type: ignore[override]
        """Loss of a batch; the mean is over its questions."""
        ours = self.reader(batch.student)
        gold = self.reader.loss_of(ours, batch.student)
        teacher = self._teacher[0]
        if teacher.device != self.reader.device:
            teacher.to(self.reader.device)
        with torch.no_grad():
            teacher_output = teacher(batch.teacher)
        parts = soft_losses(ours, teacher_output, batch, self.temperature)
        soft = torch.stack([LOSS_WEIGHTS[name] * value for name, (value, _) in parts.items()]).sum()
        own = gold.terms["questions"]
        total = (1 - self.soft) * own.total + self.soft * self.temperature**2 * soft
        shown = {f"soft_{name}": value / count for name, (value, count) in parts.items() if count}
        return Loss.summed({"questions": Term(total, own.count)}, **{**gold.parts, **shown})

    def counts(self, batch: TaughtBatch) -> dict[str, Tensor | float]:  # type: ignore[override]
        """The number of questions."""
        return super().counts(batch.student)

    def log_probabilities(self, batch: TaughtBatch) -> list[Tensor]:  # type: ignore[override]
        """The student's predictions that SiFT perturbs; shapes as for `QA`."""
        return super().log_probabilities(batch.student)


def soft_losses(
    ours: Scores, theirs: Scores, batch: TaughtBatch, temperature: float
) -> dict[str, tuple[Tensor, int]]:
    """Summed KL divergence () of each head's soft targets, and the number of rows or questions; 0 for equal scores."""
    student, teacher = batch.student, batch.teacher
    open_row = (batch.row >= 0) & (student.choice < 0)
    open_question = torch.zeros(student.num_questions, dtype=torch.bool, device=open_row.device)
    open_question[student.question[student.choice < 0]] = True
    found = {}

    rows = open_row & student.passage_mask.any(1)
    its = batch.row[rows]
    ends = []
    for number, place in ((0, batch.start), (1, batch.end)):
        teacher_values = (theirs.span[its, :, number].float() / temperature).softmax(-1)
        mine = (ours.span[rows, :, number].float() / temperature).log_softmax(-1)
        ends.append(_divergence(moved(teacher_values, place[its], ours.span.shape[1]), mine))
    found["span"] = (torch.stack(ends).mean(), int(rows.sum()))

    asked = ~open_question
    value = ours.choice.sum() * 0.0
    if asked.any():
        both = ((ours.choice, student), (theirs.choice, teacher))
        mine, its = (of_choices(scores, read)[asked] / temperature for scores, read in both)
        value = value + _divergence(its.softmax(-1), mine.log_softmax(-1))
    found["choice"] = (value, int(asked.sum()))

    row = student.graph.batch
    known = (batch.node >= 0) & open_row[row]
    teacher_values = segment_softmax(theirs.concept / temperature, teacher.graph.batch, teacher.num_rows)
    mine = segment_softmax(ours.concept / temperature, row, student.num_rows).clamp(min=LEAST).log()
    target = teacher_values[batch.node[known]]
    found["concept"] = (_divergence(target, mine[known]), int(torch.unique(row[known]).numel()))

    shared = min(ours.answer_type.shape[1], theirs.answer_type.shape[1])
    mine, its = (
        s[open_question, :shared].float() / temperature for s in (ours.answer_type, theirs.answer_type)
    )
    found["answer_type"] = (_divergence(its.softmax(-1), mine.log_softmax(-1)), int(open_question.sum()))
    return found


def moved(probability: Tensor, place: Tensor, width: int) -> Tensor:
    """Probabilities (R, T') moved to the tokens `place` (R, T') of rows of length `width`.

    Unaligned tokens, such as the summary token, are moved to the first token, which stands for "no span".
    """
    target = probability.new_zeros(len(probability), width)
    return target.scatter_add_(1, place.clamp(min=0), probability)


def _divergence(target: Tensor, log_probability: Tensor) -> Tensor:
    """KL divergence (), summed over all entries; both must be distributions."""
    return (target * (target.clamp(min=LEAST).log() - log_probability)).sum()

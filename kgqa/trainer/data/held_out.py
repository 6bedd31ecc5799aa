"""Questions kept out of training: which they are, and how well a reader in training does on them."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable

import torch

from kgqa.batch import Loss, Term
from kgqa.metrics import accepts, is_correct
from kgqa.models.collation.collate import Collated
from kgqa.models.heads.gate import FIRST_VERDICT
from kgqa.models.reader import Reader
from kgqa.objectives.base import Batches, Objective
from kgqa.trainer.loop import seed_everything
from kgqa.types import Candidate, Example, Question, Source

PARTS = 10_000
READERS = frozenset(
    {"loss", "accuracy", "accuracy_choice", "accuracy_passage", "accuracy_knowledge", "accuracy_verdict"}
)
"""What may be measured of a reader, by the sorts of questions that there are."""


def is_held_out(question: Question, share: float) -> bool:
    """Whether a question is kept out: by its passage, so that no text is on both sides; without one by its own text."""
    passage = question.passage
    text = (passage and (passage.made_of or passage.text).strip()) or question.text
    return zlib.crc32(text.encode()) % PARTS < share * PARTS


def measure(reader: Reader, batches: Iterable[Collated]) -> dict[str, float]:
    """Mean `loss` and `accuracy` over questions, and `accuracy_` of each sort: choice, passage, knowledge, verdict.

    Accuracy is each head's own first answer, whatever the gate says of the source: the choice, the span or the concept;
    yes or no is the likelier of the two. Questions without an answer count in the loss alone.
    """
    device = next(reader.parameters()).device
    losses: list[tuple[float, int]] = []
    right: defaultdict[str, list[float]] = defaultdict(list)
    for collated in batches:
        batch = collated.batch.to(device)
        with torch.no_grad():
            losses.append((float(reader.loss(batch).total), batch.num_questions))
            scores = reader(batch)
        ranked = {
            Source.CHOICE: reader.choice.decode(scores.choice.cpu(), collated),
            Source.PASSAGE: reader.span.decode(scores.span.cpu(), collated),
            Source.KNOWLEDGE: reader.concept.decode(scores.concept.cpu(), collated, k=1),
        }
        verdicts = scores.gate[:, FIRST_VERDICT:].tolist()
        for number, example in enumerate(collated.examples):
            sort = _sort(example)
            if sort == "verdict" and verdicts[number]:
                yes, no = verdicts[number]
                right[sort].append(float((yes > no) is example.verdict))
            elif sort and sort != "verdict":
                right[sort].append(float(_right(example, ranked[example.source][number])))
    total, every = sum(count for _, count in losses), [value for values in right.values() for value in values]
    return {
        "loss": sum(loss * count for loss, count in losses) / max(total, 1),
        "accuracy": sum(every) / max(len(every), 1),
        **{f"accuracy_{sort}": sum(values) / len(values) for sort, values in right.items()},
    }


def figures_of(examples: Iterable[Example]) -> set[str]:
    """Names of what `measure` finds over questions."""
    return {"loss", "accuracy", *(f"accuracy_{sort}" for sort in map(_sort, examples) if sort)}


def _sort(example: Example) -> str:
    """Of which sort a question is, "" where it has no answer."""
    if example.verdict is not None:
        return "verdict"
    return "" if example.source is Source.NONE else example.source.value


def _right(example: Example, candidates: list[Candidate]) -> bool:
    if not candidates:
        return False
    said = candidates[0].text
    return accepts(example.golds, said) if example.choice is None else is_correct(example, said) > 0


def held_out_loss(batches: Batches, count: int, seed: int) -> Callable[[Objective], dict[str, float]]:
    """An evaluation with fixed rows and fixed masks: the same figure for the same weights, always.

    Each term of the loss is a mean over all that it counts in them, as in training.
    """

    def evaluate(objective: Objective) -> dict[str, float]:
        device = next(objective.parameters()).device
        sums: dict[str, float] = {}
        terms: dict[str, Term] = {}
        for step in range(count):
            seed_everything(seed, step)
            loss = objective(batches[step].to(device))
            for key, value in {"loss": loss.total, **loss.parts}.items():
                sums[key] = sums.get(key, 0.0) + float(value) / count
            for key, term in loss.terms.items():
                before = terms.get(key, Term(torch.zeros(()), 0.0))
                terms[key] = Term(
                    before.total + float(term.total), before.count + float(term.count), term.weight
                )
        if terms:
            whole = Loss.summed(terms)
            sums |= {key: float(value) for key, value in {"loss": whole.total, **whole.parts}.items()}
        return sums

    return evaluate

"""Held-out questions, their evaluation during training, and protection against training on test data."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import torch

from kgqa.batch import Loss, Term
from kgqa.data.datasets.cards import (
    DataCard,
    DataUse,
    KnownHashes,
    card_above,
    file_hash,
    known_hashes,
    shipped_cards,
    text_hash,
)
from kgqa.data.datasets.load import DATASETS, files_of
from kgqa.metrics import accepts, is_correct
from kgqa.models.collation.collate import Collated
from kgqa.models.heads import FIRST_YES_NO_CLASS
from kgqa.models.reader import Reader
from kgqa.objectives.base import Batches, Objective
from kgqa.settings import ROOT
from kgqa.trainer.loop import seed_everything
from kgqa.types import Candidate, Example, InputError, Question, Source

READERS = frozenset(
    {"loss", "accuracy", "accuracy_choice", "accuracy_passage", "accuracy_knowledge", "accuracy_yes_no"}
)
"""Metrics of a reader; which of them are available depends on the types of questions."""


def held_out_sides(sets: Sequence[Sequence[Example]], share: float) -> list[list[bool]]:
    """Whether each example of each set is held out: `share` of a set, or fewer, in the order of a hash of their
    passages, else of their questions. No text is on both sides: held out of one set, it is held out of all."""
    texts = [[_shared_text(example.question) for example in examples] for examples in sets]
    held = set[str]()
    for own in texts:
        rows, most = Counter(own), round(share * len(own))
        for text in sorted(rows, key=lambda text: blake2b(text.encode(), digest_size=8).digest()):
            if rows[text] <= most:
                held.add(text)
                most -= rows[text]
    return [[text in held for text in own] for own in texts]


def _shared_text(question: Question) -> str:
    passage = question.passage
    return (passage and (passage.made_of or passage.text).strip()) or question.text


def split_held_out(examples: Iterable[Example], share: float) -> tuple[list[Example], list[Example]]:
    """The examples to train on, and those held out."""
    found = list(examples)
    sides: tuple[list[Example], list[Example]] = ([], [])
    for example, is_held in zip(found, *held_out_sides([found], share), strict=True):
        sides[is_held].append(example)
    return sides


def measure(reader: Reader, batches: Iterable[Collated]) -> dict[str, float]:
    """Mean `loss` and `accuracy` over questions, and `accuracy_` for choice, passage, knowledge and yes_no.

    Accuracy is that of the best candidate of the head for the gold type, regardless of the answer-type classifier: a
    choice, span or concept; for yes/no, the more probable of the two. Unanswerable questions count only in the loss.
    """
    device = next(reader.parameters()).device
    losses: list[tuple[float, int]] = []
    right: defaultdict[str, list[float]] = defaultdict(list)
    for collated in batches:
        batch = collated.batch.to(device)
        with torch.no_grad():
            scores = reader(batch)
        losses.append((float(reader.loss_of(scores, batch).total), batch.num_questions))
        ranked = {
            Source.CHOICE: reader.choice.decode(scores.choice.cpu(), collated),
            Source.PASSAGE: reader.span.decode(scores.span.cpu(), collated),
            Source.KNOWLEDGE: reader.concept.decode(scores.concept.cpu(), collated, k=1),
        }
        yes_no = scores.answer_type[:, FIRST_YES_NO_CLASS:].tolist()
        for number, example in enumerate(collated.examples):
            sort = _sort(example)
            if sort == "yes_no" and yes_no[number]:
                yes, no = yes_no[number]
                right[sort].append(float((yes > no) is example.yes_no_label))
            elif sort and sort != "yes_no":
                right[sort].append(float(_right(example, ranked[example.source][number])))
    total, every = sum(count for _, count in losses), [value for values in right.values() for value in values]
    return {
        "loss": sum(loss * count for loss, count in losses) / max(total, 1),
        "accuracy": sum(every) / max(len(every), 1),
        **{f"accuracy_{sort}": sum(values) / len(values) for sort, values in right.items()},
    }


def metric_names(examples: Iterable[Example]) -> set[str]:
    """Names of the metrics that `measure` returns for the given examples."""
    return {"loss", "accuracy", *(f"accuracy_{sort}" for sort in map(_sort, examples) if sort)}


def _sort(example: Example) -> str:
    """Type of a question's answer; "" for unanswerable ones."""
    if example.yes_no_label is not None:
        return "yes_no"
    return "" if example.source is Source.NONE else example.source.value


def _right(example: Example, candidates: list[Candidate]) -> bool:
    if not candidates:
        return False
    predicted = candidates[0].text
    return accepts(example.golds, predicted) if example.choice is None else is_correct(example, predicted) > 0


def held_out_loss(batches: Batches, count: int, seed: int) -> Callable[[Objective], dict[str, float]]:
    """An evaluation with fixed rows and fixed masks, so that equal weights always give equal figures.

    Each term of the loss is averaged over all its items, as in training.
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


# Test data must not be trained on: data cards list the files, names and passages concerned.

REMEDY = "train on another set, or leave these rows out"


class Restriction(NamedTuple):
    """A restricted data set, with the data card that restricts it."""

    what: str
    role: DataUse
    card: Path


class LeakageGuard:
    """Rejects data whose use, by the cards of the project and any card in the folder of a data file, is not in
    `allowed`.
    """

    def __init__(self, allowed: Collection[DataUse] = (DataUse.TRAIN,)) -> None:
        self.allowed = allowed
        self.names: dict[str, Restriction] = {}
        self.files: dict[str, Restriction] = {}
        self.texts: dict[str, Restriction] = {}
        self._read: set[Path] = set()
        for card in shipped_cards():
            self._add(card)

    def _add(self, card: DataCard) -> None:
        if card.path.resolve() in self._read:
            return
        self._read.add(card.path.resolve())
        known = known_hashes(card)
        for part in card.parts:
            if part.role not in self.allowed:
                self.names |= {name: Restriction(name, part.role, card.path) for name in part.names}
        for path, part in card.files().items():
            if part.role in self.allowed:
                continue
            place = Restriction(_named(path), part.role, card.path)
            listed = known.get(path.relative_to(card.path.parent).as_posix(), KnownHashes())
            self.files[listed.get("sha256") or file_hash(path)] = place
            self.texts |= dict.fromkeys(listed.get("texts", ()), place)

    def check_source(self, spec: str) -> None:
        """Raise InputError for a data set, file or pattern of files that may not be used."""
        if spec in self.names:
            raise InputError(_refusal(spec, "is", self.names[spec]))
        for path in [] if spec in DATASETS else files_of(spec):
            if (card := card_above(path)) is not None:
                self._add(card)
            if (place := self.files.get(file_hash(path))) is not None:
                raise InputError(_refusal(spec, "reads", place))

    def check_rows(self, spec: str, examples: Iterable[Example]) -> None:
        """Raise InputError for a row whose passage (or question, without a passage) occurs in restricted data."""
        for example in examples:
            if (place := self.texts.get(text_hash(example.question))) is not None:
                text = (example.question.passage_text or example.question.text)[:60]
                raise InputError(_refusal(spec, f"row {example.question.id} ({text!r}) is of", place))


def _named(path: Path) -> str:
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def _refusal(spec: str, verb: str, place: Restriction) -> str:
    return f"{spec}: {verb} {place.what}, which {_named(place.card)} marks as {place.role}; {REMEDY}"

"""No training reads what readers are measured on: data cards say which files, names and passages these are."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from kgqa.assets import ROOT
from kgqa.text.datasets.cards import (
    Card,
    Known,
    Role,
    card_above,
    file_hash,
    known_hashes,
    shipped_cards,
    text_hash,
)
from kgqa.text.datasets.loading import DATASETS, files_of
from kgqa.types import Example, InputError

REMEDY = "train on another set, or leave these rows out"


class Place(NamedTuple):
    """Where something stands that is not to be used."""

    what: str
    role: Role
    card: Path


class Guard:
    """Knows by data cards what may not be read, and refuses it.

    Args:
        allowed: roles of what may be read.
        cards: by default those of the project; the card in the folder of a file that is read counts as well.

    Raises:
        InputError: a card is not as it should be.
    """

    def __init__(
        self, allowed: Collection[Role] = (Role.TRAIN,), cards: Iterable[Card] | None = None
    ) -> None:
        self.allowed = allowed
        self.names: dict[str, Place] = {}
        self.files: dict[str, Place] = {}
        self.texts: dict[str, Place] = {}
        self._read: set[Path] = set()
        for card in shipped_cards() if cards is None else cards:
            self._add(card)

    def _add(self, card: Card) -> None:
        if card.path.resolve() in self._read:
            return
        self._read.add(card.path.resolve())
        known = known_hashes(card)
        for part in card.parts:
            if part.role not in self.allowed:
                self.names |= {name: Place(name, part.role, card.path) for name in part.names}
        for path, part in card.files().items():
            if part.role in self.allowed:
                continue
            place = Place(_named(path), part.role, card.path)
            told = known.get(path.relative_to(card.path.parent).as_posix(), Known())
            self.files[told.get("sha256") or file_hash(path)] = place
            self.texts |= dict.fromkeys(told.get("texts", ()), place)

    def check_source(self, spec: str) -> None:
        """Refuse a data set, a file or a pattern of files that is not to be used.

        Raises:
            InputError: it is marked for another use.
        """
        if spec in self.names:
            raise InputError(_refusal(spec, "is", self.names[spec]))
        for path in [] if spec in DATASETS else files_of(spec):
            if (card := card_above(path)) is not None:
                self._add(card)
            if (place := self.files.get(file_hash(path))) is not None:
                raise InputError(_refusal(spec, "reads", place))

    def check_rows(self, spec: str, examples: Iterable[Example]) -> None:
        """Refuse a row whose passage, or whose question where it has none, stands in what is not to be used.

        Raises:
            InputError: one does.
        """
        for example in examples:
            if (place := self.texts.get(text_hash(example.question))) is not None:
                text = (example.question.passage_text or example.question.text)[:60]
                raise InputError(_refusal(spec, f"row {example.question.id} ({text!r}) is of", place))


def _named(path: Path) -> str:
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def _refusal(spec: str, verb: str, place: Place) -> str:
    return f"{spec}: {verb} {place.what}, which {_named(place.card)} marks as {place.role}; {REMEDY}"

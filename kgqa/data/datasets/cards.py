"""Data cards: what each part of a question set may be used for, who wrote it, and hashes that detect contamination.

A set is a folder with a card in TOML; `training/data_cards.py` writes `hashes.json` beside it, with the hashes of
everything that may not be trained on.
"""

from __future__ import annotations

import json
import re
import tomllib
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import TypedDict

from pydantic import BaseModel, ConfigDict, ValidationError

from kgqa.data.files import read_text
from kgqa.settings import DATA_SETS, GRAPH_SUITE
from kgqa.types import InputError, Question

CARD, HASHES = "card.toml", "hashes.json"
ABOUT = (CARD, HASHES, "README.md")
"""Files of a set's folder that are not data."""


class DataUse(StrEnum):
    """What a part may be used for."""

    TRAIN = "train"
    CALIBRATION = "calibration"
    """For fitting answer types and confidences."""
    DEVELOPMENT = "development"
    """For evaluation during development: readers and settings may be selected on it."""
    TEST = "test"
    """For the final evaluation: nothing is selected on it."""


class DataPart(BaseModel):
    """Some files of a set, or published sets by their names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: DataUse
    files: str = ""
    """Pattern within the card's folder; a file belongs to the first part whose pattern matches."""
    names: tuple[str, ...] = ()
    """Names of published sets, as for `load_dataset`."""
    asks: str
    author: str


class DataCard(BaseModel):
    """A set of questions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Path
    about: str
    licence: str
    parts: tuple[DataPart, ...]

    @property
    def name(self) -> str:
        return self.path.parent.name

    def files(self) -> dict[Path, DataPart]:
        """Each file of the set with its part."""
        found: dict[Path, DataPart] = {}
        for part in self.parts:
            for path in sorted(self.path.parent.glob(part.files)) if part.files else ():
                if path.is_file() and path.name not in ABOUT:
                    found.setdefault(path, part)
        return found


def read_data_card(path: Path) -> DataCard:
    """The card of a set."""
    try:
        return DataCard.model_validate({**tomllib.loads(read_text(path)), "path": path})
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: no TOML ({error}); correct the line") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"{path}: {place}: {first['msg']}; correct it") from None


def shipped_cards() -> list[DataCard]:
    """Cards of the project's own sets, of the suite of graphs and of the published sets, those that exist."""
    paths = [*sorted(DATA_SETS.glob(f"*/{CARD}")), GRAPH_SUITE / CARD]
    return [read_data_card(path) for path in paths if path.is_file()]


def card_above(path: Path) -> DataCard | None:
    """The card of the set that a file belongs to: in its folder or the folder above."""
    for folder in list(path.resolve().parents)[:2]:
        if (folder / CARD).is_file():
            return read_data_card(folder / CARD)
    return None


def file_hash(path: Path) -> str:
    """SHA-256 of a file, as `sha256sum` prints it."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def text_hash(question: Question) -> str:
    """Hash of a question's passage, or of the question if it has none; case, spaces and punctuation are ignored."""
    return _hash(question.passage_text.strip() or question.text)


@lru_cache(1 << 16)
def _hash(text: str) -> str:
    words = re.sub(r"\W+", " ", text.casefold()).strip()
    return blake2b(words.encode(), digest_size=8).hexdigest()


class KnownHashes(TypedDict, total=False):
    """The entry of a file in `hashes.json`."""

    sha256: str
    texts: list[str]
    """Hashes of passages, and of questions without one."""


def known_hashes(card: DataCard) -> dict[str, KnownHashes]:
    """The content of `hashes.json`; empty if there is no such file."""
    path = card.path.with_name(HASHES)
    if not path.is_file():
        return {}
    try:
        return dict(json.loads(read_text(path)))
    except ValueError as error:
        raise InputError(f"{path}: damaged ({error}); run python training/data_cards.py") from None

"""Teachers of readers: a trained reader of a folder, with all it needs to read the student's questions."""

from __future__ import annotations

from pathlib import Path

from kgqa.assets import expanded, find_model
from kgqa.models.collation.collate import Collator
from kgqa.models.collation.reading import ReadingSettings, settings_of
from kgqa.models.reader import Reader, load_reader
from kgqa.models.vectors.entities import FILE as ENTITIES
from kgqa.models.vectors.entities import load_entities
from kgqa.models.vectors.word_vectors import load_words
from kgqa.text.corpus.tokenizer import load_tokenizer
from kgqa.types import InputError


def load_teacher(name: str, student: ReadingSettings) -> tuple[Reader, Collator]:
    """The reader of a folder or a shipped name, and the collator of its own tokenizer and settings.

    Raises:
        InputError: there is none, or it reads subgraphs of another ablation, whose answers would teach what the
            student cannot see.
    """
    folder: Path = find_model(expanded(name))
    reader, card = load_reader(folder)
    reading = settings_of(card)
    if reading.ablation != student.ablation:
        raise InputError(
            f"teacher={name}: reads with ablation={reading.ablation!r}, not {student.ablation!r}"
        )
    longest = min(reading.max_tokens, reader.stepper.max_tokens)
    collator = Collator(
        load_tokenizer(folder),
        reading.model_copy(update={"max_tokens": longest}),
        entities=load_entities(folder) if (folder / ENTITIES).exists() else None,
        words=load_words(folder) if reader.settings.word_size else None,
    )
    return reader, collator

"""Teachers of readers: a trained reader of a folder, with all it needs to read the student's questions."""

from __future__ import annotations

from kgqa.assets import expanded
from kgqa.models.collation.collate import Collator
from kgqa.models.collation.reading import ReadingSettings
from kgqa.models.opening import open_reader
from kgqa.models.reader import Reader
from kgqa.types import InputError


def load_teacher(name: str, student: ReadingSettings) -> tuple[Reader, Collator]:
    """The reader of a folder or a shipped name, and the collator of its own tokenizer and settings.

    Raises:
        InputError: there is none, or it reads subgraphs of another ablation, whose answers would teach what the
            student cannot see.
    """
    teacher = open_reader(expanded(name), device=None)
    ablation = teacher.settings.ablation
    if ablation != student.ablation:
        raise InputError(f"teacher={name}: reads with ablation={ablation!r}, not {student.ablation!r}")
    return teacher.network, teacher.collator

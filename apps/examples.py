"""Example questions, one click each: name -> passage, question, choices (one per line)."""

from __future__ import annotations

import tomllib
from pathlib import Path

Example = tuple[str, str, str]


def _read() -> dict[str, dict[str, dict[str, Example]]]:
    kept = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {
        language: {
            title: {name: (*values, "")[:3] for name, values in examples.items()}
            for title, examples in groups.items()
        }
        for language, groups in kept.items()
    }


_GALLERIES = _read()
GALLERY, KOREAN_GALLERY = _GALLERIES["en"], _GALLERIES["ko"]
"""By what they show (key of a text): the same question twice, what is left unsaid, the other kinds of answer."""
EXAMPLES: dict[str, Example] = {name: values for group in GALLERY.values() for name, values in group.items()}
SAMPLES: dict[str, Example] = {
    "beekeeping": ("The beekeeper wanted to calm the bees.", "What did she use?", "")
}
"""A question for each sample graph, by its name."""


def gallery_of(language: str) -> dict[str, dict[str, Example]]:
    """The gallery in a language."""
    return _GALLERIES.get(language, GALLERY)

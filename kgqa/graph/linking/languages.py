"""Tables of languages, a file each: how texts are read and answered (`kgqa/language/wordings`), and words with their
English (`kgqa/language/dictionaries`), which a language may lack."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from kgqa.validation import LANGUAGES, WORDINGS

DICTIONARIES = WORDINGS.with_name("dictionaries")


def wordings(language: str) -> dict[str, Any]:
    """The tables of a language by name; none for a language without a file."""
    return _tables(WORDINGS / f"{language}.toml")


def dictionary(language: str) -> dict[str, Any]:
    """The tables of a language's English words; none for a language without them."""
    return _tables(DICTIONARIES / f"{language}.toml")


@cache
def _tables(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def reading(key: str) -> dict[str, str]:
    """An entry of `[reading]` by language, of the languages that have it."""
    rows = {code: wordings(code).get("reading", {}).get(key) for code in LANGUAGES}
    return {code: row for code, row in rows.items() if row}

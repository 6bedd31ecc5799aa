"""Translates the package's English error messages into the visitor's language. No Streamlit."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache

from apps.texts import WORDINGS, filled

_PLACE = re.compile(r"(.+?:\d+): (.+)", re.DOTALL)


def problem(message: str, language: str = "en") -> str:
    """A message in a language; unchanged for English, or if there is no translation.

    >>> problem("a choice is empty; leave it out or write it", "ko")
    '빈 선택지가 있습니다. 빼거나 채우세요.'
    """
    for pattern, wording in _wordings(language):
        if found := pattern.fullmatch(message):
            return filled(wording, language, **found.groupdict())
    if found := _PLACE.fullmatch(message):
        return f"{found[1]}: {problem(found[2], language)}"
    return message


@lru_cache
def _wordings(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    path = WORDINGS / f"problems.{language}.toml"
    if not path.is_file():
        return ()
    parts = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple((_pattern(said), wording) for part in parts.values() for said, wording in part.items())


def _pattern(said: str) -> re.Pattern[str]:
    """A pattern for a message template, with a group for each of its fields."""
    parts = re.split(r"\{(\w+)\}", said)
    groups = (f"(?P<{part}>.+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts))
    return re.compile("".join(groups), re.DOTALL)

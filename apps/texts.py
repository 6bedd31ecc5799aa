"""What the app says in English and Korean, from a file of wordings for each. No Streamlit."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

LANGUAGES = {"en": "English", "ko": "한국어"}
WORDINGS = Path(__file__).with_name("wordings")
_PARTICLES = re.compile(r"(.+?)(이\(가\)|은\(는\)|을\(를\)|\(으\)로)")


def wordings(language: str) -> dict[str, str]:
    """Every text of a language by its key, whatever page it is on."""
    pages = tomllib.loads((WORDINGS / f"{language}.toml").read_text(encoding="utf-8"))
    return {key: said for page in pages.values() for key, said in page.items()}


TEXTS = {language: wordings(language) for language in LANGUAGES}


def text(key: str, language: str = "en", **values: object) -> str:
    """A text in a language (English for one that is not known), with its values filled in."""
    return filled(TEXTS.get(language, TEXTS["en"])[key], language, **values)


def filled(wording: str, language: str, **values: object) -> str:
    """A wording with its values filled in.

    Of a Korean particle with two forms the one is said that follows the word: 모종삽이, 굴착기가.
    """
    said = wording.format(**values)
    if language != "ko" or "(" not in said:
        return said
    from kgqa.korean.verbalize import with_particle

    return _PARTICLES.sub(lambda found: with_particle(found[1], found[2].partition("(")[0] or "으로"), said)

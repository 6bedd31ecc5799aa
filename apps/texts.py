"""The app's texts in English and Korean, from one file each. No Streamlit."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

LANGUAGES = {"en": "English", "ko": "한국어"}
WORDINGS = Path(__file__).with_name("wordings")
_PARTICLES = re.compile(r"(.+?)(이\(가\)|은\(는\)|을\(를\)|\(으\)로)")


def wordings(language: str) -> dict[str, str]:
    """All texts of a language by key."""
    pages = tomllib.loads((WORDINGS / f"{language}.toml").read_text(encoding="utf-8"))
    return {key: said for page in pages.values() for key, said in page.items()}


TEXTS = {language: wordings(language) for language in LANGUAGES}


def text(key: str, language: str = "en", **values: object) -> str:
    """A text in a language (English if the language is unknown), with its values filled in."""
    return filled(TEXTS.get(language, TEXTS["en"])[key], language, **values)


def filled(wording: str, language: str, **values: object) -> str:
    """A wording with its values filled in.

    Korean particles with two forms agree with the word before them: 모종삽이, 굴착기가.
    """
    said = wording.format(**values)
    if language != "ko" or "(" not in said:
        return said
    from kgqa.korean.verbalize import with_particle

    return _PARTICLES.sub(lambda found: with_particle(found[1], found[2].partition("(")[0] or "으로"), said)

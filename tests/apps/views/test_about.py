"""The page that says what this is lists what can be asked, in every language; its examples are among the README's."""

from __future__ import annotations

import re
from pathlib import Path

import apps.views.about as about
from apps.texts import LANGUAGES, TEXTS

README = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")


def test_what_can_be_asked_stands_on_the_page_in_every_language() -> None:
    shown = Path(about.__file__).read_text(encoding="utf-8")
    assert '"asked"' in shown and all(TEXTS[language]["about_asked"] for language in LANGUAGES)
    examples = re.findall(r"\*([^*]+)\*", TEXTS["en"]["about_asked_text"])
    asked = re.findall(r'^    "([^"]+\?)",', README, flags=re.MULTILINE)
    assert len(examples) >= 8 and set(examples) - {"What did Bo Lind direct?"} <= set(asked)

"""Function words of English: what links to nothing by itself, and what may stand inside a concept."""

from __future__ import annotations

import tomllib
from pathlib import Path

from kgqa.graph.linking.normalising import ARTICLES

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_WORDS = {name: frozenset(words.split()) for name, words in _TABLE.items()}

ABBREVIATIONS = _WORDS["abbreviations"]
"""The point behind these ends no sentence where a name goes on: "No. 418", "St. Mary"."""
INDEFINITE = _WORDS["indefinite"]
"""A noun behind these is what is asked for, or any thing of a kind, and none that is known."""
STOP_WORDS = _WORDS["stop"]
"""Link to nothing by themselves."""
PARTICLES = _WORDS["particles"]
"""May end a concept: "dig up"."""
OPENERS = frozenset({"be", "do", "have"})
"""Base forms that may begin a concept: "have fun", "be happy"."""
SUBJECTS = _WORDS["subjects"]
"""A verb is to be expected after these."""
PASSIVE = _WORDS["passive"]
"""Between an object and the verb that follows it: "flowers were planted", "the hole that I dug"."""
DETERMINERS = ARTICLES | _WORDS["determiners"]
"""Between a verb and its object: "plant all those lovely flowers"."""
OBJECT_PRONOUNS = frozenset({"it", "them", "one"})
"""Stand for a thing named before."""

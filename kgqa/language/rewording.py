"""One wording of a question for the reader: without hedges ("probably", "do you think"), its question word first."""

from __future__ import annotations

import re
from functools import lru_cache

from kgqa.graph.linking.languages import wordings
from kgqa.graph.linking.normalize import DETERMINERS, SUBJECTS, lemma
from kgqa.language.overlap import PRESENT


@lru_cache(maxsize=20_000)
def reworded(question: str, language: str) -> str:
    """A question without hedges and with its question word first; unchanged where the language has no table
    (`[questions]` of its wordings) or the question has no such wording.

    >>> reworded("Where did she probably hang it?", "en"), reworded("Who, do you think, sang?", "en")
    ('Where did she hang it?', 'Who sang?')
    >>> reworded("The coat was hung where?", "en"), reworded("Jacob stuck what on the box?", "en")
    ('Where was the coat hung?', 'What did Jacob stick on the box?')
    >>> reworded("Is it likely to rain?", "en")
    'Is it likely to rain?'
    """
    table = wordings(language).get("questions", {})
    if not table:
        return question
    plain = re.sub(table["hedges"], " ", question, flags=re.IGNORECASE)
    if plain != question:
        plain = re.sub(r"\s+([?,.])", r"\1", " ".join(plain.split()))
    asked = re.fullmatch(table["embedded"], plain, re.IGNORECASE) or re.fullmatch(
        table["in_place"], plain, re.IGNORECASE
    )
    found = _fronted(asked, table) if asked else plain
    return plain if found == plain else found[:1].upper() + found[1:]


def _fronted(asked: re.Match[str], table: dict[str, str]) -> str:
    """The question word with its noun, the verb, the subject, and the rest; as it is if no verb is found."""
    before, word, after = (asked.groupdict().get(part) or "" for part in ("before", "word", "after"))
    said = before.split()
    helpers = table["helpers"].split()
    at = next((n for n, each in enumerate(said) if each in helpers), None)
    if at == 0 or _past("", said[0]):  # it asks for the subject: "Who do you think sang?"
        return f"{word} {before}?"
    if at is not None:
        verb, subject, rest = said[at], said[:at], said[at + 1 :]
    else:
        at = next((n for n in range(1, len(said)) if _past(said[n - 1], said[n])), None)
        if at is None:
            return asked[0]
        verb, subject = "did", said[:at]
        rest = [PRESENT.get(said[at]) or lemma(said[at]), *said[at + 1 :]]
    if subject[0].lower() in DETERMINERS | SUBJECTS:  # a name stays as it is
        subject = [subject[0].lower(), *subject[1:]]
    return " ".join([word, verb, *subject, *rest, after]).rstrip() + "?"


def _past(before: str, word: str) -> bool:
    """Whether a word is a verb in the past, not an adjective after a determiner ("the painted door")."""
    is_past = word in PRESENT or (word.endswith("ed") and lemma(word) != word)
    return is_past and before.lower() not in DETERMINERS

"""Who acts must not decide what they act with: a small encoder reads whoever acts as the same somebody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tokenizers import Tokenizer

SOMEBODY = "she"
"""The word that a small encoder reads for the name of a person."""
ALIKE = {"he": "she", "him": "her", "his": "her", "himself": "herself"}
"""What it reads for the words of the other gender."""


class Pieces(NamedTuple):
    """A tokenised text: ids, and the characters that each token covers."""

    ids: list[int]
    offsets: list[tuple[int, int]]


def without_blanks(text: str, offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Character ranges without blanks at their ends, which some tokenizers count as a part of the word behind them.

    >>> without_blanks("a  dog ", [(0, 1), (1, 6), (6, 7)])
    [(0, 1), (3, 6), (7, 7)]
    """
    found = []
    for start, end in offsets:
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        found.append((start, end))
    return found


class Anybody:
    """Reads whoever acts as the same somebody: a name is one token, and "he" is "she".

    Which of two people is meant still shows in the marks: a name or pronoun recurs as itself.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        def whole(word: str) -> list[int]:
            """Its token, if it is one."""
            ids = tokenizer.encode(f" {word}", add_special_tokens=False).ids
            return ids if len(ids) == 1 else []

        self.token = next(iter(whole(SOMEBODY)), None)
        self.alike = {
            token: other for a, b in ALIKE.items() for token, other in zip(whole(a), whole(b), strict=False)
        }

    def __call__(self, pieces: Pieces, names: Sequence[tuple[int, int]]) -> Pieces:
        """The pieces with every name (character ranges, in order) as one token, and pronouns alike.

        As they are where the tokenizer has no token for somebody.
        """
        if self.token is None:
            return pieces
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        at = 0
        for token, (start, end) in zip(*pieces, strict=True):
            while at < len(names) and names[at][1] <= start:
                at += 1
            if at == len(names) or end <= names[at][0]:
                ids.append(self.alike.get(token, token))
                offsets.append((start, end))
            elif not offsets or offsets[-1] != names[at]:
                ids.append(self.token)
                offsets.append(names[at])
        return Pieces(ids, offsets)

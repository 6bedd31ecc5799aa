"""The sentence of a passage in which something stands."""

from __future__ import annotations

import re

from kgqa.types import Span

_END = re.compile(r"(?<=[.!?。])[\"'”’)]*\s+|\n+")


def sentence_around(text: str, span: Span) -> Span:
    """The sentence, or sentences, of a text that a span stands in."""
    ends = [0, *(found.end() for found in _END.finditer(text)), len(text)]
    start = max(end for end in ends if end <= span.start)
    end = min(end for end in ends if end >= span.end)
    return Span(start, start + len(text[start:end].rstrip()))

"""N-Triples in pieces: lines that hold three plain IRIs are cut apart whole, many times as fast as parsed."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

from kgqa.graph.sources.files import Checked

PIECE = 1 << 21
"""Bytes read at once."""
_RELATIVE = re.compile(r"<(?![A-Za-z][A-Za-z0-9+.-]*:)")
_NOT_IN_IRIS = bytes(range(10)) + bytes(range(11, 32)) + b'"{}|^`\\'

Columns = tuple[list[str], list[str], list[str]]


def read_lines(path: Path) -> Iterator[tuple[int, bytes, Columns | None]]:
    """(number of the first line, bytes, heads and relations and tails) of whole lines, a piece at a time.

    The columns are None where any line of the piece is something else, and the parser must read it.
    """
    line, left = 0, b""
    with io.BufferedReader(Checked(path), PIECE) as stream:
        while True:
            data = stream.read(PIECE)
            piece = left + data
            if data:
                cut = piece.rfind(b"\n") + 1
                piece, left = piece[:cut], piece[cut:]
            if piece:
                yield line, piece, _columns(piece)
                line += piece.count(b"\n")
            if not data:
                return


def _columns(piece: bytes) -> Columns | None:
    """Three columns, if every line is `<iri> <iri> <iri> .` and nothing else, to the letter."""
    count = piece.count(b"\n")
    if not (piece.startswith(b"<") and piece.endswith(b"> .\n")) or any(
        piece.count(mark) != 3 * count for mark in (b"<", b">", b" ")
    ):
        return None
    if len(piece.translate(None, _NOT_IN_IRIS)) != len(piece):
        return None
    try:
        text = piece.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if text.count("<http://") + text.count("<https://") != 3 * count and _RELATIVE.search(text):
        return None
    parts = text[1:-4].replace("> .\n<", "> <\n").split("> <")
    # All brackets and blanks are now used up. That every third part alone begins a line is left to see.
    heads = "".join(parts[0::3])
    if len(parts) != 3 * count or heads.count("\n") != count - 1:
        return None
    return heads.split("\n"), parts[1::3], parts[2::3]

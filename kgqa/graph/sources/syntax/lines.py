"""N-Triples in pieces: lines that hold three plain IRIs are cut apart whole, many times as fast as parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kgqa.graph.sources.files import Checked

PIECE = 1 << 19
"""Bytes read at once: a piece and what is made of it stay in the processor's cache."""
_RELATIVE = re.compile(rb"<(?![A-Za-z][A-Za-z0-9+.-]*:)")
_AUTHORITY = re.compile(rb"//[^/?#>]*[:@]")
_FRAGMENTS = re.compile(rb"#[^>]*#")
_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_CONTROL = re.compile(rb"\xc2[\x80-\x9f]")
_FORBIDDEN = bytes(range(10)) + bytes(range(11, 32)) + b'"{}|^`\\\x7f' + bytes(range(0xEE, 0x100))
"""From 0xEE on begin the letters above U+DFFF, private ones among them: the parser knows which may stand."""
_LEFT_OUT = bytes(set(range(256)) - set(b"<> \n" + _FORBIDDEN))
_SHAPE = b"<> <> <> \n"
_OPENING, _CLOSING, _BLANK = b"<> "
_BLANK_TO_LINE = bytes.maketrans(b" ", b"\n")

Columns = tuple[list[str], list[str], list[str]]


def read_lines(path: Path) -> Iterator[tuple[int, bytes, Columns | None]]:
    """(number of the first line, bytes, heads and relations and tails) of whole lines, a piece at a time.

    The columns are None where any line of the piece is something else, and the parser must read it.

    Raises:
        InputError: the file cannot be opened or unpacked.
    """
    line, begun = 0, [b""]
    with Checked(path, nesting=False) as stream:
        while data := stream.read(PIECE):
            cut = data.rfind(b"\n") + 1
            if cut:
                piece = b"".join([*begun, data[:cut]])
                begun = [data[cut:]]
                count = piece.count(b"\n")
                columns = _columns(piece, count)
                if columns is None:
                    stream.check_nesting(piece)
                yield line, piece, columns
                line += count
            else:
                begun.append(data)
        if last := b"".join(begun):
            stream.check_nesting(last)
            yield line, last, None


def _columns(piece: bytes, count: int) -> Columns | None:
    """Three columns, if every one of `count` lines is `<iri> <iri> <iri> .` and nothing else, to the letter."""
    if not (piece.startswith(b"<") and piece.endswith(b"> .\n")):
        return None
    if piece.translate(None, _LEFT_OUT) != _SHAPE * count:
        return None
    # Brackets, blanks and line ends stand in order. Now nothing may stand between those that touch.
    letters = np.frombuffer(piece, dtype=np.uint8)
    before, after = letters[:-1], letters[1:]
    if not np.array_equal(before == _CLOSING, after == _BLANK):
        return None
    if np.count_nonzero((after == _OPENING) & (before <= _BLANK)) != 3 * count - 1:
        return None
    if piece.count(b"<http://") != 3 * count and _RELATIVE.search(piece):
        return None
    # A port may be no number; users, brackets and escapes may stand where they must not: the parser knows.
    if (b"@" in piece or piece.count(b":") != 3 * count) and _AUTHORITY.search(piece):
        return None
    if b"[" in piece or b"]" in piece:
        return None
    if b"\xc2" in piece and _CONTROL.search(piece):
        return None
    if (b"%" in piece and _ESCAPE.search(piece)) or (b"#" in piece and _FRAGMENTS.search(piece)):
        return None
    try:
        parts = piece.translate(_BLANK_TO_LINE, b"<>").decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return None
    if parts[3::4].count(".") != count:
        return None
    return parts[0:-1:4], parts[1::4], parts[2::4]

"""Reading plain or zstd-compressed text, one line at a time, with errors that name the line; encodings of tables."""

from __future__ import annotations

import io
import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgqa.types import InputError


def read_text(path: Path) -> str:
    """The whole file as text."""
    return "".join(read_lines(path))


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file with their line ends; a file whose name ends in .zst is decompressed as it is read."""
    import zstandard

    number = 0
    try:
        if not path.exists():
            raise InputError(f"{path}: no such text file; give one, plain or compressed (.zst)")
        with path.open("rb") as raw:
            stream: Any = raw
            if path.suffix == ".zst":
                stream = zstandard.ZstdDecompressor(max_window_size=1 << 31).stream_reader(raw)
            for number, line in enumerate(io.TextIOWrapper(stream, encoding="utf-8-sig"), 1):  # noqa: B007
                yield line
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}; give a file that can be read") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not UTF-8 text at or after line {number + 1} ({error.reason}); save it as UTF-8"
        ) from error
    except zstandard.ZstdError as error:
        raise InputError(f"{path}: damaged zstd file ({error}); fetch or compress it again") from error


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line numbers (from 1) and objects of a JSON-lines file; blank lines are skipped."""
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            column = f", column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
            raise InputError(f"{path}:{number}{column}: not JSON ({reason}); one object a line") from error
        if not isinstance(row, dict):
            raise InputError(f'{path}:{number}: not a JSON object; write {{"question": "..."}}')
        yield number, row


def encoding_of(content: bytes) -> str:
    """The encoding of a table as spreadsheets save it: UTF-16 by its byte order mark, else UTF-8, else cp949, which is
    Excel's on Korean Windows; empty for any other.

    >>> encoding_of("질문".encode("cp949")), encoding_of("Bär".encode("cp1252"))
    ('cp949', '')
    """
    unicode = "utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
    for encoding in (unicode, "cp949"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        others = [letter for letter in text if letter > "\x7f"]
        if encoding == unicode or 2 * sum("가" <= letter <= "힣" for letter in others) >= len(others):
            return encoding
    return ""

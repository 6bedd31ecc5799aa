"""Reading plain or zstd-compressed text, one line at a time, with errors that name the line; encodings of tables."""

from __future__ import annotations

import io
import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from kgqa.types import InputError

_FED = 1 << 12
"""Number of bytes of a zstd file that are decompressed at a time: four bytes may expand to 128 KB."""


def read_text(path: Path) -> str:
    """The whole file as text."""
    return "".join(read_lines(path))


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file with their line ends; a file whose name ends in .zst is decompressed as it is read."""
    number = 0
    try:
        if not path.exists():
            raise InputError(f"{path}: no such text file; give one, plain or compressed (.zst)")
        is_packed = path.suffix == ".zst"
        stream = io.BufferedReader(ZstdFile(path, 1 << 31)) if is_packed else path.open("rb")
        with io.TextIOWrapper(stream, encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):  # noqa: B007
                yield line
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}; give a file that can be read") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not UTF-8 text at or after line {number + 1} ({error.reason}); save it as UTF-8"
        ) from error
    except EOFError as error:
        raise InputError(f"{path}: damaged zstd file ({error}); fetch or compress it again") from error


class ZstdFile(io.RawIOBase):
    """A zstd file opened for reading. Raises EOFError if it is damaged, or truncated (which the library's own reader
    does not detect), or needs more memory than `window` bytes."""

    def __init__(self, path: Path, window: int = 1 << 27) -> None:
        self._parts = _frames(path, window)
        self._left = memoryview(b"")
        path.open("rb").close()  # raise now if the file cannot be read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the next decompressed bytes."""
        while not self._left and (part := next(self._parts, None)) is not None:
            self._left = memoryview(part)
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count

    def close(self) -> None:
        self._parts.close()
        super().close()


def _frames(path: Path, window: int) -> Generator[bytes, None, None]:
    """The content of a zstd file, part by part."""
    import zstandard

    frame: Any = None
    rest = b""
    with path.open("rb") as file:
        while data := rest or file.read(_FED):
            frame = frame or zstandard.ZstdDecompressor(max_window_size=window).decompressobj()
            try:
                yield frame.decompress(data)
            except zstandard.ZstdError as error:
                raise EOFError(str(error)) from None
            rest = b""
            if frame.eof:
                frame, rest = None, frame.unused_data
    if frame is not None:
        raise EOFError("zstd frame ends early")


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

"""Bytes of a source file, whatever its compression, checked for what no graph file holds."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from kgqa.types import InputError

COMPRESSIONS = (".gz", ".zst")
MAX_NESTING = 200
"""Triple terms within triple terms; no graph needs more, and parsers walk them on the stack."""


def bare_suffix(path: Path) -> str:
    """Suffix of a file name below its compression: `.nt` of `a.nt.gz`, lower-cased."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


class Checked(io.RawIOBase):
    """A source's bytes, decompressed. `fault` is the reason why reading stopped, if it did.

    Raises `InputError` for a NUL byte, a damaged archive, or absurdly nested triple terms (these only with
    `nesting`, or where `check_nesting` is called).
    """

    def __init__(self, path: Path, nesting: bool = True) -> None:
        self.path = path
        self.nesting = nesting
        self.fault: InputError | None = None
        self._lines = 1
        self._nesting = 0
        self._started = False
        self._stream = _open(path)

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, for the buffered and text layers above."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, checked."""
        try:
            data = self._stream.read(size)
        except (OSError, EOFError, zlib.error) as error:
            self.fault = InputError(
                f"{self.path}:{self._lines}: damaged or cut short ({error}); fetch it again"
            )
            raise self.fault from None
        if not self._started and data:
            self._started = True
            if data.startswith(codecs.BOM_UTF8):  # some editors put it there; no parser of RDF wants it
                data = data[len(codecs.BOM_UTF8) :] or self._stream.read(size)
        at = data.find(b"\0")
        if at >= 0:
            line = self._lines + data.count(b"\n", 0, at)
            self.fault = InputError(f"{self.path}:{line}: NUL byte; the file must be UTF-8 text, convert it")
            raise self.fault
        if self.nesting:
            self.check_nesting(data)
        self._lines += data.count(b"\n")
        return data

    def check_nesting(self, data: bytes) -> None:
        """Count the triple terms that `data` opens and closes."""
        if b"<<" in data or self._nesting:
            self._nesting += data.count(b"<<") - data.count(b">>")
        if self._nesting > MAX_NESTING:
            self.fault = InputError(f"{self.path}:{self._lines}: triple terms nested over {MAX_NESTING} deep")
            raise self.fault
        self._nesting = max(self._nesting, 0)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        super().close()


def _open(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise InputError(f"{path}: is a folder; name a file, or a folder that `kgqa graph import` made")
        suffix = path.suffix.lower()
        if suffix == ".gz":
            return gzip.open(path, "rb")  # type: ignore[return-value]
        return _Zstd(path) if suffix == ".zst" else path.open("rb")  # type: ignore[return-value]
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None


class _Zstd:
    """Frames of a zstd file; unlike the library's own reader it notices a missing end."""

    def __init__(self, path: Path) -> None:
        import zstandard

        self._file = path.open("rb")
        self._new = zstandard.ZstdDecompressor().decompressobj
        self._error = zstandard.ZstdError
        self._frame: Any = None
        self._left = b""

    def read(self, size: int = -1) -> bytes:
        while size < 0 or not self._left:
            if self._frame is not None and self._frame.eof:
                rest = self._frame.unused_data
                self._frame = None
            else:
                rest = b""
            data = rest or self._file.read(1 << 17)
            if not data:
                if self._frame is not None and not self._frame.eof:
                    raise EOFError("zstd frame ends early")
                break
            self._frame = self._frame or self._new()
            try:
                self._left += self._frame.decompress(data)
            except self._error as error:
                raise OSError(str(error)) from None
        if size < 0:
            size = len(self._left)
        data, self._left = self._left[:size], self._left[size:]
        return data

    def close(self) -> None:
        self._file.close()

"""Read source files: checked and decompressed bytes, and the types for what parsers return."""

from __future__ import annotations

import codecs
import gzip
import io
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from kgqa.data.files import ZstdFile, encoding_of
from kgqa.types import InputError, Label, Relation, Triple

# Bytes of a source file, decompressed and checked for content that no graph file has.

COMPRESSIONS = (".gz", ".zst")
MAX_NESTING = 200
"""Maximum nesting of triple terms; parsers are recursive, and deeper nesting would overflow their stack."""
MAX_RATIO = 300
"""Maximum compression ratio; real graphs stay below 100, decompression bombs do not."""
FREE_BYTES = 64 << 20
"""Decompressed size that any archive may have, whatever its ratio."""
_TRIPLE_TERM = re.compile(rb"<<|>>")


def bare_suffix(path: Path) -> str:
    """Lower-cased suffix of a file name without that of its compression: `.nt` of `a.nt.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


class Checked(io.RawIOBase):
    """Decompressed bytes of a source file. `fault` is the error that stopped reading, if any.

    Raises `InputError` for a NUL byte, a damaged archive, or absurdly nested triple terms.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fault: InputError | None = None
        self._lines = 1
        self._nesting = 0
        self._started = False
        self._count = 0
        self._stream = _open(path)
        compressed = path.suffix.lower() in COMPRESSIONS
        self._most = max(FREE_BYTES, MAX_RATIO * path.stat().st_size) if compressed else None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, as the buffered and text layers of `io` require."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        """Read and check at most `size` bytes, or all."""
        if size < 0:
            return b"".join(iter(lambda: self.read(1 << 20), b""))
        try:
            # two bytes of UTF-16 may become three of UTF-8
            data = self._stream.read(
                max(size // 2, 1) if isinstance(self._stream, codecs.StreamRecoder) else size
            )
        except (OSError, EOFError, zlib.error, UnicodeError) as error:
            self._stop(f"{self._lines}: damaged or truncated ({error}); download it again")
        if not self._started and data:
            self._started = True
            # some editors write a byte order mark, which RDF parsers reject
            if data.startswith(codecs.BOM_UTF8):
                data = data[len(codecs.BOM_UTF8) :] or self._stream.read(size)
        self._count += len(data)
        if self._most is not None and self._count > self._most:
            self._stop(
                f" expands to over {MAX_RATIO} times its size; decompress it yourself if it is trusted"
            )
        at = data.find(b"\0")
        if at >= 0:
            line = self._lines + data.count(b"\n", 0, at)
            self._stop(f"{line}: NUL byte; the file must be UTF-8 text, convert it")
        self._check_nesting(data)
        self._lines += data.count(b"\n")
        return data

    def _check_nesting(self, data: bytes) -> None:
        """Track the nesting of triple terms in `data`."""
        if b"<<" not in data and not self._nesting:
            return
        for mark in _TRIPLE_TERM.findall(data):
            self._nesting = self._nesting + 1 if mark == b"<<" else max(self._nesting - 1, 0)
            if self._nesting > MAX_NESTING:
                self._stop(f"{self._lines}: triple terms nested over {MAX_NESTING} deep")

    def _stop(self, why: str) -> NoReturn:
        self.fault = InputError(f"{self.path}:{why}")
        raise self.fault from None

    def close(self) -> None:
        self._stream.close()
        super().close()


def numbered_lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Lines of a text with their numbers, from 1. Raises InputError if it cannot be read or is not UTF-8."""
    number = 0
    with io.TextIOWrapper(io.BufferedReader(Checked(path), 1 << 20), encoding) as lines:
        try:
            for number, line in enumerate(lines, 1):
                yield number, line
        except UnicodeDecodeError as error:
            raise InputError(f"{path}:{number + 1}: not UTF-8 ({error.reason}); convert the file") from None


def _open(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise InputError(f"{path}: is a folder; give a file, or a folder written by `kgqa graph import`")
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: not a regular file; copy its content to one first")
        suffix = path.suffix.lower()
        if suffix == ".gz":
            return gzip.open(path, "rb")  # type: ignore[return-value]
        if suffix == ".zst":
            return ZstdFile(path)  # type: ignore[return-value]
        file = path.open("rb")
        # as some spreadsheets write it
        is_utf16 = file.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        is_cp949 = suffix == ".csv" and not is_utf16 and encoding_of(path.read_bytes()) == "cp949"
        encoding = "utf-16" if is_utf16 else "cp949"
        return codecs.EncodedFile(file, "utf-8", encoding) if is_utf16 or is_cp949 else file
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None


# Types for what parsers return: facts and labels, singly or in batches.

UNSTATED = math.nan
"""Weight of a fact whose source gives none: any stated weight of the same fact replaces it; in the end it becomes 1."""


@dataclass(slots=True)
class Batch:
    """Facts and labels in columns, so that millions can be passed without an object for each.

    `weights` and `graphs` are as long as `heads`, or empty if no fact of the batch has one.
    """

    heads: list[str] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    tails: list[str] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    graphs: list[str] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.heads) + len(self.labels)


@dataclass(slots=True)
class Tally:
    """Collected while a source is read: numbers of skipped statements by reason, words and types of relations, types of
    entities, licences."""

    skipped: Counter[str] = field(default_factory=Counter)
    words: dict[str, dict[str, str]] = field(default_factory=dict)  # relation -> language -> words
    inverses: dict[str, str] = field(default_factory=dict)  # relation -> its inverse
    entity_types: dict[str, str] = field(default_factory=dict)  # entity -> name of its type
    relation_types: dict[str, list[str]] = field(default_factory=dict)  # relation -> declared relation types
    wider: dict[str, str] = field(default_factory=dict)  # relation -> its super-property
    apart: set[str] = field(default_factory=set)  # properties and shapes, which are not entities
    closed_world: bool | None = None  # as declared by the source
    licences: list[str] = field(default_factory=list)

    def relations(self, language: str = "en") -> Iterator[Relation]:
        """Relations with the words given so far, in the wanted language if available."""
        for name, texts in self.words.items():
            words = texts.get(language) or texts.get("en") or texts.get("") or next(iter(texts.values()))
            yield Relation(name, "", words)


class ReadOptions(NamedTuple):
    """What a parser may need besides the file."""

    languages: tuple[str, ...] = ("en",)
    """Languages that are read of ConceptNet's assertions."""
    prefix: str = ""
    """Put before blank nodes, to keep those of several files apart."""
    identifier: str = ""
    """The column of a table that names its entities."""
    others: tuple[tuple[str, str], ...] = ()
    """The names in all tables that are read together, each with its entity."""


Statement = Triple | Label | Batch


def batches(statements: Iterable[Statement], size: int = 250_000) -> Iterator[Batch]:
    """Collect single facts and labels into batches of at most `size`; batches among them are passed on in order."""
    batch = Batch()
    for statement in statements:
        if isinstance(statement, Batch):
            if len(batch):
                yield batch
                batch = Batch()
            yield statement
            continue
        if isinstance(statement, Label):
            batch.labels.append(statement)
        else:
            batch.heads.append(statement.head)
            batch.relations.append(statement.relation)
            batch.tails.append(statement.tail)
            batch.weights.append(statement.weight)
        if len(batch) >= size:
            yield batch
            batch = Batch()
    if len(batch):
        yield batch

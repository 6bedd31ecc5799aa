"""Facts as lines: tab-separated tables, ConceptNet's assertions, and WordNet's database files."""

from __future__ import annotations

import json
import math
import re
import tarfile
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO

from kgqa.graph.formats.source_files import UNSTATED, Batch, Tally, numbered_lines
from kgqa.types import InputError, Label, Triple

# Tab-separated facts: head, relation, tail and optionally a weight, or the relation first; with or without a header.

_COLUMN_NAMES = {
    "relation": ("relation", "rel", "predicate", "property", "p"),
    "head": ("head", "subject", "source", "start", "s", "from"),
    "tail": ("tail", "object", "target", "end", "o", "to"),
    "weight": ("weight", "score"),
}
_HEADER = {title: name for name, called in _COLUMN_NAMES.items() for title in called}


_LOOKED_AT = 1_000
"""Number of rows examined to detect the order of columns without a header."""


def read_tsv(path: Path) -> Iterator[Triple]:
    """Facts of a table. A header may name the columns in any order; further columns are ignored.

    Without a header, the head column is the one of the first two that shares more names with the tails; in doubt, the
    head comes first. In plain names, `_` stands for a space. Raises `InputError` with the line of an invalid row.
    """
    rows = _rows(path)
    first = list(islice(rows, _LOOKED_AT))
    columns = columns_named(first[0][1]) if first else None
    if columns is not None:
        del first[0]
    else:
        columns = _order([cells for _, cells in first])
    for number, cells in chain(first, rows):
        yield fact_of(path, number, cells, columns)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    for number, line in numbered_lines(path, "utf-8-sig"):
        cells = line.rstrip("\r\n").split("\t")
        if cells != [""] and not (line.startswith("#") and len(cells) < 3):
            yield number, cells


def _order(rows: list[list[str]]) -> dict[str, int]:
    first, second, third = ({cells[place] for cells in rows if len(cells) > 2} for place in range(3))
    # counted, since a relation may be called as a class is: "department" of "Sales", and "type" "department"
    relation_first = len(second & third) > len(first & third)
    names = _COLUMN_NAMES if relation_first else ("head", "relation", "tail", "weight")
    return {name: place for place, name in enumerate(names)}


def columns_named(cells: list[str]) -> dict[str, int] | None:
    """Indices of the columns named by a header; None if head, relation or tail is missing.

    >>> columns_named(["Subject", "note", "predicate", "object"])
    {'relation': 2, 'head': 0, 'tail': 3}
    """
    names = [_HEADER.get(cell.strip().lower(), "") for cell in cells]
    if not {"relation", "head", "tail"} <= set(names):
        return None
    return {name: names.index(name) for name in _COLUMN_NAMES if name in names}


def fact_of(path: Path, number: int, cells: list[str], columns: dict[str, int]) -> Triple:
    """The fact of a row, given the indices of its `columns`. Raises `InputError` if the row is invalid."""
    try:
        relation, head, tail = (cells[columns[name]].strip() for name in ("relation", "head", "tail"))
    except IndexError:
        raise InputError(
            f"{path}:{number}: {len(cells)} column(s); expected head, relation, tail and optionally weight, "
            "separated by tabs"
        ) from None
    if not (relation and head and tail):
        raise InputError(f"{path}:{number}: an empty cell; each row needs a head, a relation and a tail")
    place = columns.get("weight", -1)
    weight = UNSTATED
    if 0 <= place < len(cells) and cells[place].strip():
        try:
            weight = float(cells[place])
        except ValueError:
            weight = math.inf
        if not math.isfinite(weight):
            raise InputError(
                f"{path}:{number}:{place + 1}: weight {cells[place]!r:.40} is not a number; correct it"
            )
    return Triple(_plain(head), relation, _plain(tail), weight)


def _plain(name: str) -> str:
    if ":" in name or name.startswith("/"):
        return name
    return " ".join(name.replace("_", " ").split()) or name


# ConceptNet's assertion dump (Speer et al., 2017): `/a/[...] /r/Relation /c/en/head /c/en/tail {json}`.

_SKIPPED = frozenset({"/r/ExternalURL"})


def read_conceptnet(path: Path, tally: Tally, languages: tuple[str, ...] = ("en",)) -> Iterator[Triple]:
    """Facts with both head and tail in one of `languages` (all, if it is empty).

    A term's part of speech and sense are dropped (`/c/en/dig/v` is `/c/en/dig`), as retrieval by surface
    form cannot distinguish them. Raises `InputError` with the line of an invalid assertion.
    """
    wanted = tuple(f"/c/{language}/" for language in languages) or ("/c/",)
    for number, line in numbered_lines(path, "utf-8"):
        cells = line.split("\t")
        if len(cells) != 5 or not line.startswith("/a/"):
            if not line.strip():
                continue
            raise InputError(
                f"{path}:{number}: not a ConceptNet assertion; expected /a/[...], relation, start, end "
                "and JSON, separated by tabs"
            )
        _, relation, head, tail, details = cells
        if not (head.startswith(wanted) and tail.startswith(wanted)):
            tally.skipped["assertion in another language"] += 1
        elif relation in _SKIPPED:
            tally.skipped["link to another site"] += 1
        else:
            yield Triple(_term(head), relation, _term(tail), _weight(path, number, details))


def _term(term: str) -> str:
    return "/".join(term.split("/", 4)[:4])


def _weight(path: Path, number: int, details: str) -> float:
    try:
        return float(json.loads(details).get("weight", 1.0))
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise InputError(
            f"{path}:{number}:5: details are not JSON with a weight; download it again"
        ) from None


# WordNet's database files (Miller, 1995): `data.noun`, `data.verb` ... in the published archive or a folder.
#
# A synset is a concept, named `wn:` with its part of speech and place; its words are its labels, the first one
# preferred. Pointers become facts; of a pair of inverses only one is kept.

_FILES = ("data.noun", "data.verb", "data.adj", "data.adv")
_MARKER = re.compile(r"\((?:a|p|ip)\)$")
_POINTERS = {
    "@": "IsA",
    "@i": "InstanceOf",
    "%p": "HasA",
    "%m": "HasMember",
    "%s": "MadeOf",
    "*": "Entails",
    ">": "Causes",
    "&": "SimilarTo",
    "$": "SimilarTo",
    "!": "Antonym",
    "+": "DerivedFrom",
    "=": "HasProperty",
    ";c": "HasContext",
    ";r": "HasContext",
    "^": "RelatedTo",
}
_VERB_POINTERS = {"@": "MannerOf"}
_LONGEST = 1 << 20


def is_wordnet(path: Path) -> bool:
    """Whether a path is a WordNet archive, by its name, or a folder of database files."""
    if path.is_dir():
        return (path / "data.noun").is_file()
    return path.name.endswith((".tar.gz", ".tgz"))


def read_wordnet(path: Path, tally: Tally) -> Iterator[Batch]:
    """Synsets of the archive or folder at `path`. Raises `InputError` with the line of an invalid synset."""
    found = False
    if path.is_dir():
        for name in _FILES:
            if (path / name).is_file():
                found = True
                with (path / name).open("rb") as file:
                    yield _read(path / name, file, tally)
    else:
        try:
            with tarfile.open(path, "r:gz") as archive:
                for member in archive:
                    name = member.name.rsplit("/", 1)[-1]
                    file_in = archive.extractfile(member) if member.isfile() and name in _FILES else None
                    if file_in is not None:
                        found = True
                        yield _read(path / name, file_in, tally)
        except (tarfile.TarError, OSError, EOFError) as error:
            raise InputError(f"{path}: damaged or truncated ({error}); download it again") from None
    if not found:
        raise InputError(f"{path}: no data.noun in it; expected WordNet's dict archive")


def _read(path: Path, file: IO[bytes], tally: Tally) -> Batch:
    batch = Batch()
    for number, line in enumerate(iter(lambda: file.readline(_LONGEST), b""), 1):
        if line.startswith(b"  "):  # the licence, line by line
            continue
        try:
            _synset(line.decode("utf-8").split(" | ", 1)[0].split(), batch, tally)
        except (ValueError, IndexError):
            raise InputError(f"{path}:{number}: not a WordNet synset; download the archive again") from None
    return batch


def _synset(cells: list[str], batch: Batch, tally: Tally) -> None:
    # satellite adjectives share the numbering of adjectives, and pointers name them either way
    kind = "a" if cells[2] == "s" else cells[2]
    name = f"wn:{kind}{int(cells[0]):08d}"
    count = int(cells[3], 16)
    for place in range(count):
        word = _MARKER.sub("", cells[4 + 2 * place]).replace("_", " ")
        batch.labels.append(Label(name, word, "en", preferred=place == 0))
    at = 4 + 2 * count
    for pointer in range(int(cells[at])):
        symbol, offset, target, _ = cells[at + 1 + 4 * pointer : at + 5 + 4 * pointer]
        relation = (_VERB_POINTERS if kind == "v" else {}).get(symbol) or _POINTERS.get(symbol)
        if relation is None:
            tally.skipped["inverse or usage pointer"] += 1
            continue
        batch.heads.append(name)
        batch.relations.append(relation)
        batch.tails.append(f"wn:{'a' if target == 's' else target}{int(offset):08d}")
        batch.weights.append(UNSTATED)

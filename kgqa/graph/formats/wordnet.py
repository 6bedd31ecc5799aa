"""WordNet's database files (Miller, 1995): `data.noun`, `data.verb` ... in the published archive or a folder.

A synset is a concept, named `wn:` with its part of speech and place; its words are its labels, the first one
preferred. Pointers become facts; of a pair of inverses only one is kept.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from kgqa.graph.formats.source_files import UNSTATED, Batch, Tally
from kgqa.types import InputError, Label

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

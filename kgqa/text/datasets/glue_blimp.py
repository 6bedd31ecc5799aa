"""Sentences with a judgement from files: BLiMP's pairs and the GLUE subset that encoders are probed with."""

from __future__ import annotations

import json
import tarfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from kgqa.text.datasets.published import located
from kgqa.text.files import read_lines
from kgqa.types import InputError


class Pair(NamedTuple):
    """Two sentences that differ in one point of grammar."""

    paradigm: str
    good: str
    bad: str


class Judged(NamedTuple):
    """A sentence, or a pair of them (`second` empty or not), with its class."""

    first: str
    second: str
    label: int


def read_blimp(data: Path, limit: int | None = None) -> list[Pair]:
    """BLiMP (Warstadt et al., 2020): 67 paradigms of 1,000 pairs, or the first `limit` of each.

    Raises:
        InputError: the archive is missing or damaged.
    """
    import zstandard

    path = located(data, "blimp/blimp_67x1000.jsonl.tar")
    taken: dict[str, int] = defaultdict(int)
    pairs: list[Pair] = []
    try:
        with path.open("rb") as raw:
            stream = zstandard.ZstdDecompressor().stream_reader(raw) if path.suffix == ".zst" else raw
            with tarfile.open(fileobj=stream, mode="r|") as archive:
                for member in archive:
                    file = archive.extractfile(member) if member.name.endswith(".jsonl") else None
                    for line in file.read().decode("utf-8").splitlines() if file else ():
                        row = json.loads(line)
                        if limit is None or taken[row["UID"]] < limit:
                            taken[row["UID"]] += 1
                            pairs.append(Pair(row["UID"], row["sentence_good"], row["sentence_bad"]))
    except (tarfile.TarError, zstandard.ZstdError, ValueError, KeyError) as error:
        raise InputError(f"{path}: not BLiMP's archive ({error}); fetch it again") from error
    return pairs


def _judged(
    file: str, count: int, of: Callable[[list[str]], Judged], header: bool = True
) -> Callable[[Path, str], list[Judged]]:
    """A reader of tables of at least `count` columns."""

    def read(data: Path, split: str) -> list[Judged]:
        path = located(data, f"glue/{file.format(split)}")
        return [of(cells) for cells in _cells(path, count, header)]

    return read


JUDGED: dict[str, Callable[[Path, str], list[Judged]]] = {
    # Warstadt et al., 2019: is the sentence acceptable (1) or not (0)? Measured by Matthews' r.
    "cola": _judged("CoLA/in_domain_{}.tsv", 4, lambda cells: Judged(cells[3], "", int(cells[1])), False),
    # Socher et al., 2013: is the opinion good (1) or bad (0)?
    "sst2": _judged("SST-2/{}.tsv", 2, lambda cells: Judged(cells[0].strip(), "", int(cells[1]))),
    # Dagan et al., 2005 and later: does the first text entail the second (1)?
    "rte": _judged("RTE/{}.tsv", 4, lambda cells: Judged(cells[1], cells[2], int(cells[3] == "entailment"))),
}
"""Name -> reader of a data folder and a split, `train` or `dev`."""


def _cells(path: Path, count: int, header: bool) -> Iterator[list[str]]:
    for number, line in enumerate(read_lines(path), 1):
        cells = line.rstrip("\n").split("\t")
        if header and number == 1:
            continue
        if len(cells) < count:
            raise InputError(f"{path}:{number}: {len(cells)} columns of {count}; fetch the file again")
        yield cells

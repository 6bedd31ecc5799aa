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


def read_cola(data: Path, split: str) -> list[Judged]:
    """CoLA (Warstadt et al., 2019): is the sentence acceptable (1) or not (0)? Measured by Matthews' r.

    Raises:
        InputError: a file is missing, or a line of it is none of this set.
    """
    name = "in_domain_train" if split == "train" else "in_domain_dev"
    path = located(data, f"glue/CoLA/{name}.tsv")
    return [Judged(cells[3], "", int(cells[1])) for cells in _cells(path, 4)]


def read_sst2(data: Path, split: str) -> list[Judged]:
    """SST-2 (Socher et al., 2013): is the opinion good (1) or bad (0)?

    Raises:
        InputError: as `read_cola`.
    """
    path = located(data, f"glue/SST-2/{split}.tsv")
    return [Judged(cells[0].strip(), "", int(cells[1])) for cells in _cells(path, 2, header=True)]


def read_rte(data: Path, split: str) -> list[Judged]:
    """RTE (Dagan et al., 2005 and later): does the first text entail the second (1)?

    Raises:
        InputError: as `read_cola`.
    """
    path = located(data, f"glue/RTE/{split}.tsv")
    return [
        Judged(cells[1], cells[2], int(cells[3] == "entailment")) for cells in _cells(path, 4, header=True)
    ]


JUDGED: dict[str, Callable[[Path, str], list[Judged]]] = {
    "cola": read_cola,
    "sst2": read_sst2,
    "rte": read_rte,
}
"""Name -> reader of a data folder and a split, `train` or `dev`."""


def _cells(path: Path, count: int, header: bool = False) -> Iterator[list[str]]:
    for number, line in enumerate(read_lines(path), 1):
        cells = line.rstrip("\n").split("\t")
        if header and number == 1:
            continue
        if len(cells) < count:
            raise InputError(f"{path}:{number}: {len(cells)} columns of {count}; fetch the file again")
        yield cells

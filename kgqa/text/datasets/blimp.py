"""BLiMP's pairs of sentences, of which one is good English."""

from __future__ import annotations

import json
import tarfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from kgqa.text.datasets.published import located
from kgqa.types import InputError


class Pair(NamedTuple):
    """Two sentences that differ in one point of grammar."""

    paradigm: str
    good: str
    bad: str


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

"""ConceptNet's assertion dump."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kgqa.graph.formats.source_files import Tally
from kgqa.graph.formats.tsv import read_conceptnet
from kgqa.types import InputError, Triple

LINES = (
    '/a/[/r/UsedFor/,/c/en/trowel/n/,/c/en/dig/]\t/r/UsedFor\t/c/en/trowel/n\t/c/en/dig\t{"weight": 2.5}\n'
    '/a/[/r/Synonym/,/c/fr/x/,/c/en/y/]\t/r/Synonym\t/c/fr/x\t/c/en/y\t{"weight": 1.0}\n'
    '/a/[/r/ExternalURL/]\t/r/ExternalURL\t/c/en/x\t/c/en/y\t{"weight": 1.0}\n'
)


def test_language_filter(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(LINES.encode()))
    tally = Tally()
    (fact,) = read_conceptnet(tmp_path / "a.csv.gz", tally)
    assert fact == Triple("/c/en/trowel", "/r/UsedFor", "/c/en/dig", 2.5)
    assert sum(tally.skipped.values()) == 2
    assert len(list(read_conceptnet(tmp_path / "a.csv.gz", tally, ()))) == 2


@pytest.mark.parametrize("line", ["nonsense\n", "/a/[]\t/r/IsA\t/c/en/a\t/c/en/b\tnot json\n"])
def test_broken(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.csv").write_text(LINES + line)
    with pytest.raises(InputError, match=r"a\.csv:4"):
        list(read_conceptnet(tmp_path / "a.csv", Tally()))

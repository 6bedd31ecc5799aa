"""Compressed files, and what no graph file holds."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard

from kgqa.graph.sources.files import Checked, bare_suffix
from kgqa.types import InputError


@pytest.mark.parametrize(
    ("name", "suffix"), [("a.nt", ".nt"), ("a.ttl.gz", ".ttl"), ("A.NT.ZST", ".nt"), ("a", ""), ("a.gz", "")]
)
def test_bare_suffix(name: str, suffix: str) -> None:
    assert bare_suffix(Path(name)) == suffix


TEXT = b"line of text\n" * 50_000


@pytest.mark.parametrize("kind", ["plain", "gz", "zst", "frames"])
def test_reads_all(tmp_path: Path, kind: str) -> None:
    pack = zstandard.ZstdCompressor().compress
    packed = {
        "plain": TEXT,
        "gz": gzip.compress(TEXT),
        "zst": pack(TEXT),
        "frames": pack(TEXT[:100]) + pack(TEXT[100:]),
    }[kind]
    path = tmp_path / {"plain": "a", "gz": "a.gz"}.get(kind, "a.zst")
    path.write_bytes(packed)
    with Checked(path) as stream:
        assert stream.read() == TEXT
    with Checked(path) as stream:
        assert b"".join(iter(lambda: stream.read(1000), b"")) == TEXT


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_cut_short_or_damaged(tmp_path: Path, suffix: str) -> None:
    packed = gzip.compress(TEXT) if suffix == ".gz" else zstandard.ZstdCompressor().compress(TEXT)
    for content in (packed[:-20], b"not packed at all"):
        path = tmp_path / f"a{suffix}"
        path.write_bytes(content)
        with pytest.raises(InputError, match="cut short"), Checked(path) as stream:
            stream.read()


def test_nul_byte_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_bytes(b"one\ntwo\nth\0ree\n")
    with pytest.raises(InputError, match=r"a\.nt:3: NUL"), Checked(tmp_path / "a.nt") as stream:
        stream.read()


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        Checked(tmp_path / "a.nt")
    with pytest.raises(InputError, match="is a folder"):
        Checked(tmp_path)

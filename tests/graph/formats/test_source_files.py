"""Compressed files, and what no graph file holds."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard

from kgqa.graph.formats.source_files import Checked, bare_suffix
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
        with pytest.raises(InputError, match="truncated"), Checked(path) as stream:
            stream.read()


@pytest.mark.parametrize("size", [7, 1 << 20])
def test_utf_16_is_read_as_utf_8(tmp_path: Path, size: int) -> None:
    text = "".join(f"thing {number}\t\uc2dc\uc7a5\n" for number in range(2000))
    (tmp_path / "a.tsv").write_text(text, encoding="utf-16")
    with Checked(tmp_path / "a.tsv") as stream:
        parts = list(iter(lambda: stream.read(size), b""))
    assert b"".join(parts).decode() == text and max(map(len, parts)) <= size
    (tmp_path / "cut.tsv").write_bytes(text.encode("utf-16") + b"\x00\xdc\n\x00")
    with pytest.raises(InputError, match=r"cut\.tsv:\d+: damaged or truncated"):
        Checked(tmp_path / "cut.tsv").read()


def test_nul_byte_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_bytes(b"one\ntwo\nth\0ree\n")
    with pytest.raises(InputError, match=r"a\.nt:3: NUL"), Checked(tmp_path / "a.nt") as stream:
        stream.read()


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        Checked(tmp_path / "a.nt")
    with pytest.raises(InputError, match="is a folder"):
        Checked(tmp_path)


def test_terms_nested_and_closed_again_are_counted_as_deep_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_bytes(b"<a:s> <a:p> " + b"<<( <a:s> <a:p> " * 5_000 + b"<a:o>" + b" )>>" * 5_000 + b" .\n")
    with pytest.raises(InputError, match="nested over"), Checked(path) as stream:
        stream.read()
    path.write_bytes(b"<a:s> <a:p> <<( <a:s> <a:p> <a:o> )>> .\n" * 5_000)
    with Checked(path) as stream:
        assert len(stream.read()) > 5_000


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_an_archive_that_holds_far_more_than_it_weighs_is_refused_early(tmp_path: Path, suffix: str) -> None:
    path, zeros = tmp_path / f"a.nt{suffix}", b"#" * (1 << 20)
    if suffix == ".gz":
        with gzip.open(path, "wb") as packed:
            for _ in range(100):
                packed.write(zeros)
    else:
        with path.open("wb") as raw, zstandard.ZstdCompressor().stream_writer(raw) as packed:
            for _ in range(100):
                packed.write(zeros)
    with Checked(path) as stream:
        assert len(stream.read(4096)) == 4096  # identified without reading it all
    with pytest.raises(InputError, match="times its size"), Checked(path) as stream:
        while stream.read(1 << 20):
            pass


def test_a_device_is_no_file() -> None:
    with pytest.raises(InputError, match="regular file"):
        Checked(Path("/dev/zero"))

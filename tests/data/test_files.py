from pathlib import Path

import pytest
import zstandard

from kgqa.data.files import read_json_lines, read_lines, read_text
from kgqa.types import InputError


def test_plain_and_compressed_read_alike(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.txt", tmp_path / "a.txt.zst"
    plain.write_text("\ufeffein\nzwei\n", encoding="utf-8")
    packed.write_bytes(zstandard.compress(plain.read_bytes()))
    assert list(read_lines(plain)) == list(read_lines(packed)) == ["ein\n", "zwei\n"]
    assert read_text(packed) == "ein\nzwei\n"


def test_unusable_files_are_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt.zst"
    bad.write_bytes(b"not zstd")
    latin = tmp_path / "latin.txt"
    latin.write_bytes(b"caf\xe9")
    short = tmp_path / "short.txt.zst"
    short.write_bytes(zstandard.compress(b"a line\n" * 90_000)[:-9])
    for path in (bad, latin, short, tmp_path / "missing", tmp_path):
        with pytest.raises(InputError, match=str(path)):
            read_text(path)


def test_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}')
    assert list(read_json_lines(path)) == [(1, {"a": 1}), (3, {"a": 2})]
    path.write_text('{"a": 1}\n{"a" 2}')
    with pytest.raises(InputError, match=r"a\.jsonl:2, column 6"):
        list(read_json_lines(path))
    path.write_text("[" * 100_000)
    with pytest.raises(InputError, match=":1"):
        list(read_json_lines(path))

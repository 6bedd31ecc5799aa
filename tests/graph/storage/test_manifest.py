"""A manifest comes back as it was written, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.graph.storage.layout import FORMAT, MANIFEST, read_manifest, write_manifest
from kgqa.types import InputError

WHOLE = {"format": FORMAT, "name": "농장 \u2028 x", "relations": [{"words": 'a"b'}], "weight": 1.5}


def test_a_manifest_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_manifest(tmp_path, WHOLE)
    assert read_manifest(tmp_path, "") == WHOLE


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    write_manifest(tmp_path, WHOLE)
    content = (tmp_path / MANIFEST).read_bytes()
    for bit in range(8 * len(content)):
        broken = bytearray(content)
        broken[bit // 8] ^= 1 << bit % 8
        (tmp_path / MANIFEST).write_bytes(broken)
        with pytest.raises(InputError, match="do this"):
            read_manifest(tmp_path, "do this")


def test_another_format_is_told_with_what_to_do(tmp_path: Path) -> None:
    write_manifest(tmp_path, {**WHOLE, "format": 1})
    with pytest.raises(InputError, match=f"store format 1, this kgqa reads {FORMAT}; do this"):
        read_manifest(tmp_path, "do this")


def test_a_manifest_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_manifest(tmp_path / "nowhere", {})

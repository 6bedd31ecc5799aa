"""The format of the source files, and what it says about mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_data.build.blocks import read_blocks, split_sense
from graph_data.build.tables import read_relations
from kgqa.settings import RELATIONS
from kgqa.types import InputError

TEXT = """# a comment
domain: garden and farm

trowel
  also: hand trowel; garden trowel
  ko: 모종삽
  UsedFor: plant flowers *2; dig a small hole  # the most typical first
  IsA: hand tool

bat (animal)
  ko: 박쥐
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "garden.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_blocks(tmp_path: Path) -> None:
    trowel, bat = read_blocks(write(tmp_path, TEXT), read_relations(RELATIONS))
    assert (trowel.label, trowel.domain, trowel.also) == (
        "trowel",
        "garden and farm",
        ("hand trowel", "garden trowel"),
    )
    assert [(f.relation, f.tail, f.weight) for f in trowel.facts] == [
        ("UsedFor", "plant flowers", 2.0),
        ("UsedFor", "dig a small hole", 1.0),
        ("IsA", "hand tool", 1.0),
    ]
    assert trowel.facts[0].where.endswith("garden.txt:7")
    assert split_sense(bat.label) == ("bat", "animal")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("domain: x\na\n  UsedFr: b", r"garden.txt:3: unknown relation 'UsedFr'; did you mean 'UsedFor'\?"),
        ("domain: x\na\n  usedfor: b", "did you mean 'UsedFor'"),
        ("domain: x\na\n  just words", "garden.txt:3: .* has no colon"),
        ("domain: x\na\n  IsA:", "garden.txt:3: nothing after"),
        ("domain: x\na\n  IsA: b *many", "garden.txt:3: weight 'many'"),
        ("domain: x\na\n  IsA: b *0", "garden.txt:3: weight '0'"),
        ("domain: x\na\n  IsA: b: c", "garden.txt:3: .* is no label"),
        ("domain: x\n  IsA: b", "garden.txt:2: a fact outside a block"),
        ("a\n  IsA: b", "garden.txt:1: no domain yet"),
        ("domain: x\na\n\tIsA: b", "garden.txt:3: a tab"),
    ],
)
def test_mistakes_name_the_line_and_the_remedy(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        list(read_blocks(write(tmp_path, text), read_relations(RELATIONS)))
    assert "\n" not in str(caught.value)


def test_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"domain: caf\xe9\n")
    with pytest.raises(InputError, match="not UTF-8"):
        list(read_blocks(tmp_path / "latin.txt", {}))

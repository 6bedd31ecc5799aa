from pathlib import Path

import pytest

from kgqa.assets import GRAPHS
from kgqa.graph.authoring.kinds import read_kinds
from kgqa.types import InputError


def test_the_shipped_table_has_a_korean_name_for_every_type() -> None:
    kinds = read_kinds(GRAPHS / "types.toml")
    assert 20 <= len(kinds) <= 45
    assert all(kind.ko and kind.name == name for name, kind in kinds.items())
    roots = [root for kind in kinds.values() for root in kind.roots]
    assert len(roots) == len(set(roots)), "a root stands for one type only"


def test_a_damaged_table_is_one_sentence(tmp_path: Path) -> None:
    assert read_kinds(tmp_path / "none.toml") == {}
    (tmp_path / "types.toml").write_text("[tool\n")
    with pytest.raises(InputError, match="no table of types"):
        read_kinds(tmp_path / "types.toml")

"""Orders of typicality are read, and those of the shipped graph are many."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.assets import GRAPHS
from kgqa.graph.authoring.typicality import Order, read_orders
from kgqa.types import InputError


def test_orders_are_read_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "typical.toml"
    assert read_orders(path) == []
    path.write_text('[[order]]\nhead = "dig"\nrelation = "HasInstrument"\ntails = ["shovel", "spoon"]\n')
    assert read_orders(path) == [Order("dig", "HasInstrument", ("shovel", "spoon"))]
    path.write_text('[[order]]\nhead = "dig"\n')
    with pytest.raises(InputError, match="typical.toml"):
        read_orders(path)
    assert len(read_orders(GRAPHS / "typical.toml")) >= 30

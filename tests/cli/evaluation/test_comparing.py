from pathlib import Path

import pytest

from kgqa.assets import RECIPES
from kgqa.cli.evaluation.comparing import compare_rows
from kgqa.types import InputError


def test_an_unknown_row_is_named_with_its_neighbour(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'qagnn'"):
        compare_rows(RECIPES / "compare" / "everyday.toml", [], "fused; qagn", 1, None, tmp_path)
    assert not list(tmp_path.iterdir())

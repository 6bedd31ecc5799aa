from pathlib import Path

import pytest

from kgqa.cli.training import train_recipe
from kgqa.types import InputError


def test_an_unknown_recipe_key_is_named_with_its_neighbour(tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text('name = "x"\n[[data]]\nname = "synthesis"\n')
    with pytest.raises(InputError, match="max_nodes"):
        train_recipe(recipe, ["reading.max_nodez=3"], tmp_path / "out")
    assert not (tmp_path / "out").exists()

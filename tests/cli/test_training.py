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


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5_000 + "]" * 5_000,
        "a." * 3_000 + "b = 1",
        "a = " + "9" * 5_000,
        "reasoner.n" + "9" * 5_000 + " = 1",
    ],
)
def test_a_recipe_deep_or_endless_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.toml").write_text(text)
    with pytest.raises(InputError) as refused:
        train_recipe(tmp_path / "r.toml", [], tmp_path / "out")
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 2_000

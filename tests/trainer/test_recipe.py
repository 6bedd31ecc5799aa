from pathlib import Path

import pytest

from kgqa.trainer.finetuning.reader import ReaderRecipe
from kgqa.trainer.pretraining import PretrainingRecipe
from kgqa.trainer.recipe import TrainerSettings, load_recipe
from kgqa.types import InputError

RECIPE = """
name = "toy"
[encoder]
variant = "electra"
[data]
folder = "somewhere"
[data.sources]
stories = 1.0
[trainer]
max_steps = 10
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "toy.toml").write_text(RECIPE)
    return tmp_path / "toy.toml"


def test_overrides_reach_every_depth(path: Path) -> None:
    overrides = ["trainer.max_steps=50", "name=other", "data.sources.more=0.5", "trainer.betas=[0.8, 0.9]"]
    recipe = load_recipe(path, overrides, PretrainingRecipe)
    assert (recipe.trainer.max_steps, recipe.name, recipe.trainer.betas) == (50, "other", (0.8, 0.9))
    assert recipe.data.sources == {"stories": 1.0, "more": 0.5}


def test_a_recipe_changes_its_base(path: Path, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text('base = "toy.toml"\nname = "other"\n[trainer]\nseed = 3\n')
    recipe = load_recipe(tmp_path / "other.toml", ["trainer.warmup=0.5"], PretrainingRecipe)
    assert (recipe.name, recipe.encoder.variant, recipe.data.sources) == (
        "other",
        "electra",
        {"stories": 1.0},
    )
    assert (recipe.trainer.max_steps, recipe.trainer.seed, recipe.trainer.warmup) == (10, 3, 0.5)


@pytest.mark.parametrize("base", ["itself.toml", "missing.toml"])
def test_a_base_that_cannot_be_read_is_named(base: str, tmp_path: Path) -> None:
    (tmp_path / "itself.toml").write_text(f'base = "{base}"\n')
    with pytest.raises(InputError, match=base):
        load_recipe(tmp_path / "itself.toml", [], PretrainingRecipe)


def test_resolved_recipe_loads_again(path: Path, tmp_path: Path) -> None:
    recipe = load_recipe(path, [], PretrainingRecipe)
    (tmp_path / "recipe.json").write_text(recipe.model_dump_json(indent=2), encoding="utf-8")
    assert PretrainingRecipe.model_validate_json((tmp_path / "recipe.json").read_text()) == recipe


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("trainer.max_step=5", "did you mean 'max_steps'"),
        ("encodr.variant=bert", "did you mean 'encoder'"),
        ("objective.mask_shar=0.1", "did you mean 'mask_share'"),
        ("objective.generator.hiden_size=8", "did you mean 'hidden_size'"),
        ("trainer.max_steps=none", "trainer.max_steps"),
        ("trainer.learning_rate=-1", "trainer.learning_rate"),
        ("trainer.max_steps", "key=value"),
        ("name.more=1", "is a value, not a table"),
        ("name=nan", "quote a text: 'name=\"...\"'"),
    ],
)
def test_mistakes_are_one_line_with_the_remedy(path: Path, override: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_recipe(path, [override], PretrainingRecipe)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_key_that_is_none_is_told_before_one_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text('encodr.folder = "x"\n')
    with pytest.raises(InputError, match="unknown key 'encodr'; did you mean 'encoder'"):
        load_recipe(tmp_path / "r.toml", [], ReaderRecipe)
    (tmp_path / "r.toml").write_text('encoder.folder = "x"\n')
    with pytest.raises(InputError, match="'data' is missing, which is required"):
        load_recipe(tmp_path / "r.toml", [], ReaderRecipe)


def test_files_that_are_no_recipes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        load_recipe(tmp_path / "no.toml", [], PretrainingRecipe)
    (tmp_path / "bad.toml").write_text("name = \n")
    with pytest.raises(InputError, match="not TOML"):
        load_recipe(tmp_path / "bad.toml", [], PretrainingRecipe)


def test_lists_are_reached_by_number(tmp_path: Path) -> None:
    from pydantic import BaseModel

    class Item(BaseModel, extra="forbid"):
        weight: float = 1.0

    class Listed(BaseModel, extra="forbid"):
        data: list[Item]
        trainer: TrainerSettings = TrainerSettings()

    (tmp_path / "l.toml").write_text("[[data]]\n[[data]]\nweight = 2.0\n")
    assert load_recipe(tmp_path / "l.toml", ["data.1.weight=3"], Listed).data[1].weight == 3
    for key in ("2", "²"):
        with pytest.raises(InputError, match="not an index"):
            load_recipe(tmp_path / "l.toml", [f"data.{key}.weight=3"], Listed)
    with pytest.raises(InputError, match="did you mean 'weight'"):
        load_recipe(tmp_path / "l.toml", ["data.0.wait=3"], Listed)


def test_tables_without_end_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "deep.toml").write_text("a = " + "[" * 100_000)
    with pytest.raises(InputError, match="deep.toml"):
        load_recipe(tmp_path / "deep.toml", [], TrainerSettings)


def test_a_path_is_relative_to_the_recipe_where_something_lies_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, elsewhere = tmp_path / "recipes", tmp_path / "elsewhere"
    here.mkdir(), elsewhere.mkdir()
    (here / "mine.jsonl").touch()
    (here / "r.toml").write_text(
        'encoder.folder = "kgqa-mini"\n[[data]]\nname = "mine.jsonl"\ngraph = "everyday"\n'
        '[[data]]\nname = "mi*.jsonl"\n[[data]]\nname = "yours.jsonl"\n'
    )
    monkeypatch.chdir(elsewhere)
    for path in (here / "r.toml", Path("../recipes/r.toml")):
        recipe = load_recipe(path, [], ReaderRecipe)
        named = [data.name for data in recipe.data]
        assert [Path(name).resolve() for name in named[:2]] == [here / "mine.jsonl", here / "mi*.jsonl"]
        assert named[2] == "yours.jsonl" and recipe.data[0].graph == "everyday"
        assert recipe.encoder.folder == "kgqa-mini"

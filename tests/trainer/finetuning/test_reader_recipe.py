from pathlib import Path

import pytest

from kgqa.trainer.data.mixture import DataSettings
from kgqa.trainer.finetuning.reader import ReaderRecipe, located
from kgqa.types import InputError


def test_names_are_located_for_use_and_the_recipe_keeps_them_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERE", str(tmp_path))
    data = [{"name": "$HERE/own.jsonl", "graph": "$HERE/own.ttl", "texts": ["$HERE/a.txt"]}]
    recipe = ReaderRecipe.model_validate({"data": data, "entities": "$HERE/entities"})
    found = recipe.located()
    assert found.data[0].name == f"{tmp_path}/own.jsonl" and found.data[0].graph == f"{tmp_path}/own.ttl"
    assert found.data[0].texts == (f"{tmp_path}/a.txt",) and found.entities == f"{tmp_path}/entities"
    assert recipe.data[0].name == "$HERE/own.jsonl"


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(InputError, match="NOT_SET_HERE"):
        located(DataSettings(name="$NOT_SET_HERE/own.jsonl"))


def test_yes_and_no_want_their_classes() -> None:
    with pytest.raises(ValueError, match=r"set reasoner\.yes_no = true as well"):
        ReaderRecipe.model_validate({"data": [{"name": "mine.jsonl"}], "input": {"yes_no": True}})

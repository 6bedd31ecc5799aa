import json
from pathlib import Path

import pytest

from kgqa.trainer.checkpoint import FILE, claim, weights_of
from kgqa.trainer.finetuning.reader import ReaderRecipe
from kgqa.types import InputError

RECIPE = ReaderRecipe.model_validate({"data": [{"name": "a"}]})


def test_a_folder_with_another_run_is_refused_and_an_empty_one_is_not(tmp_path: Path) -> None:
    claim(tmp_path, RECIPE, data="one")
    claim(tmp_path, RECIPE, data="two")  # nothing was made yet
    (tmp_path / "latest.json").write_text("{}")
    claim(tmp_path, RECIPE.model_copy(update={"name": "renamed"}), data="two")
    with pytest.raises(InputError, match="data='two', the recipe has 'one'.*--out"):
        claim(tmp_path, RECIPE, data="one")
    with pytest.raises(InputError, match="paraphrase=0.5, the recipe has 0.25"):
        claim(tmp_path, RECIPE.model_copy(update={"paraphrase": 0.25}), data="two")
    (tmp_path / FILE).write_text("[1")
    with pytest.raises(InputError, match="damaged"):
        claim(tmp_path, RECIPE)


def test_settings_that_an_earlier_version_did_not_know_are_taken_up(tmp_path: Path) -> None:
    (tmp_path / "latest.json").write_text("{}")
    (tmp_path / FILE).write_text(json.dumps({"paraphrase": 0.5}))
    claim(tmp_path, RECIPE)
    assert json.loads((tmp_path / FILE).read_text())["consistency"] == 0.0


def test_content_decides(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(b"weights")
    assert weights_of([tmp_path / "a"]) == weights_of([tmp_path / "b"])
    (tmp_path / "b" / "model.safetensors").write_bytes(b"others")
    assert weights_of([tmp_path / "a"]) != weights_of([tmp_path / "b"])


@pytest.mark.parametrize("name", ["export", "latest-photos", "log.jsonl"])
def test_what_no_training_left_is_not_replaced_by_one(name: str, tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").touch()  # what a training reads may be there
    claim(tmp_path / "own", RECIPE)
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=f"{name}: is not from a training run.*--out"):
        claim(tmp_path, RECIPE)
    assert not (tmp_path / FILE).exists()

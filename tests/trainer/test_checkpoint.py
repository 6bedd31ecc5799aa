from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from kgqa.trainer import checkpoint
from kgqa.trainer.checkpoint import (
    FILE,
    OPTIMIZER,
    claim,
    find_checkpoint,
    load_checkpoint,
    save_checkpoint,
    weights_of,
)
from kgqa.trainer.finetuning.reader import ReaderRecipe
from kgqa.trainer.loop import build_optimizers
from kgqa.trainer.recipe import TrainerSettings
from kgqa.types import InputError


def trained(optimizer: str, width: int = 16) -> tuple[nn.Module, list[torch.optim.Optimizer]]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width))
    optimizers = build_optimizers(model, TrainerSettings(max_steps=1, optimizer=optimizer))  # type: ignore[arg-type]
    step(model, optimizers)
    return model, optimizers


def step(model: nn.Module, optimizers: list[torch.optim.Optimizer]) -> None:
    torch.manual_seed(1)
    model(torch.randn(4, model[0].in_features)).pow(3).sum().backward()  # type: ignore[index]
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()


@pytest.mark.parametrize("kind", ["adamw", "muon"])
def test_restored_run_goes_on_to_the_same_bits(kind: str, tmp_path: Path) -> None:
    model, optimizers = trained(kind)
    save_checkpoint(tmp_path, "latest", model, optimizers, {"step": 1, "best": None})
    fresh = nn.Sequential(nn.Linear(16, 16), nn.LayerNorm(16))
    others = build_optimizers(fresh, TrainerSettings(max_steps=1, optimizer=kind))  # type: ignore[arg-type]
    found = find_checkpoint(tmp_path)
    assert found and load_checkpoint(found, fresh, others) == {"step": 1, "best": None}
    for _ in range(3):
        step(model, optimizers)
        step(fresh, others)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), fresh.parameters(), strict=True))


def test_newest_is_found_and_older_ones_go(tmp_path: Path) -> None:
    model, optimizers = trained("adamw")
    for number in (1, 2):
        save_checkpoint(tmp_path, "latest", model, optimizers, {"step": number})
    save_checkpoint(tmp_path, "best", model, optimizers, {"step": 1})
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_dir()) == ["best-00000001", "latest-00000002"]
    assert find_checkpoint(tmp_path, "stable") is None


def test_a_half_written_checkpoint_is_never_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, optimizers = trained("adamw")
    save_checkpoint(tmp_path, "latest", model, optimizers, {"step": 1})

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kgqa.trainer.checkpoint.save_file", die)
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(tmp_path, "latest", model, optimizers, {"step": 2})
    found = find_checkpoint(tmp_path)
    assert found and found.name == "latest-00000001" and (found / OPTIMIZER).exists()


def test_the_old_folder_comes_back_where_a_kill_fell_between_the_renames(tmp_path: Path) -> None:
    (tmp_path / "export.old").mkdir()
    (tmp_path / "export.old" / "kept").touch()

    def die(_: Path) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checkpoint.swap_folder(tmp_path / "export", die)
    assert (tmp_path / "export" / "kept").exists()


def test_saving_a_step_again_never_leaves_the_run_without_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, optimizers = trained("adamw")
    save_checkpoint(tmp_path, "latest", model, optimizers, {"step": 1})
    write = checkpoint.save_file

    def look(*arguments: Any, **options: Any) -> None:
        found = find_checkpoint(tmp_path)
        assert found and (found / OPTIMIZER).exists()
        write(*arguments, **options)

    monkeypatch.setattr(checkpoint, "save_file", look)
    for number in range(3):
        save_checkpoint(tmp_path, "latest", model, optimizers, {"step": 1, "number": number})
        found = find_checkpoint(tmp_path)
        assert found and load_checkpoint(found, model, optimizers)["number"] == number
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == 1


def test_another_models_checkpoint_is_refused(tmp_path: Path) -> None:
    model, optimizers = trained("adamw")
    save_checkpoint(tmp_path, "latest", model, optimizers, {"step": 1})
    other, theirs = trained("adamw", width=8)
    with pytest.raises(InputError, match="another recipe") as caught:
        load_checkpoint(tmp_path / "latest-00000001", other, theirs)
    assert "\n" not in str(caught.value)


def test_a_damaged_pointer_is_one_sentence(tmp_path: Path) -> None:
    for content in ("", "[]", "{", '{"folder": 3}', "[" * 100_000):
        (tmp_path / "latest.json").write_text(content)
        with pytest.raises(InputError, match="latest.json: damaged"):
            find_checkpoint(tmp_path)


RECIPE = ReaderRecipe.model_validate({"data": [{"name": "a"}]})


def test_a_folder_with_another_run_is_refused_and_an_empty_one_is_not(tmp_path: Path) -> None:
    claim(tmp_path, RECIPE, data="one")
    claim(tmp_path, RECIPE, data="two")  # nothing was made yet
    (tmp_path / "latest.json").write_text("{}")
    claim(tmp_path, RECIPE.model_copy(update={"name": "renamed"}), data="two")
    with pytest.raises(InputError, match="data='two', the recipe has 'one'.*--out"):
        claim(tmp_path, RECIPE, data="one")
    with pytest.raises(InputError, match="paraphrase=0.5, the recipe has 0.25"):
        claim(
            tmp_path, RECIPE.model_copy(update={"paraphrase": 0.25}), data="one"
        )  # the setting is named first
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

"""`kgqa compare` and `kgqa probe`, which lie beside the package."""

import json
from pathlib import Path

import pytest

from kgqa.settings import RECIPES
from kgqa.types import InputError
from training.experiments import compare as compare_module
from training.experiments import probe as probe_module
from training.experiments.commands import COMPARED, compare_rows, probe_encoder


def test_an_unknown_row_is_named_with_its_neighbour(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'qagnn'"):
        compare_rows(RECIPES / "compare" / "everyday.toml", [], "fused; qagn", 1, None, tmp_path)
    assert not list(tmp_path.iterdir())


def test_overrides_without_a_recipe_change_the_default_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(compare_module, "compare", lambda recipe, *_, **__: seen.append(recipe) or [])
    compare_rows(Path("trainer.max_steps=7"), ["deletion_questions=1"], "fused", 1, None, tmp_path)
    (recipe,) = seen
    assert recipe.name == COMPARED.stem
    assert (recipe.trainer.max_steps, recipe.deletion_questions) == (7, 1)


def test_the_row_is_printed_or_its_figures(tmp_path: Path, encoder_folder: Path, monkeypatch, capsys) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "text").mkdir()
    monkeypatch.setattr(probe_module, "HELD_OUT", ())
    monkeypatch.setenv("KGQA_DATA", str(tmp_path))
    settings = (None, None, 1, 100, False, 0.0)
    probe_encoder(str(encoder_folder), "heldout", *settings, False, "", tmp_path / "kept")
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == probe_module.HEAD and shown[2].startswith("| encoder | - |"), "no head, no loss"
    probe_encoder(str(encoder_folder), "heldout", *settings, True, "mine", tmp_path / "kept")
    reported = json.loads(capsys.readouterr().out)
    assert reported == {"by": "mine", "seeds": 1}


def test_bad_input_is_named_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_DATA", str(tmp_path))
    settings = (None, None, 1, 100, False, 0.0, False, "", tmp_path / "kept")
    with pytest.raises(InputError, match="not an encoder"):
        probe_encoder(str(tmp_path / "none"), "rte", *settings)
    with pytest.raises(InputError, match="unknown probe"):
        probe_encoder("kgqa-mini", "everything", *settings)
    with pytest.raises(InputError, match="RTE"):
        probe_encoder("kgqa-mini", "rte", *settings)
    assert not (tmp_path / "kept").exists()

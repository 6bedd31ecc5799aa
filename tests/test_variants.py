"""The comparison of the variants names every one of them, and takes no figures of half a run."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import kgqa.trainer.pretraining as encoder
from kgqa.models.encoders.variants import ENCODERS

SCRIPT = Path(__file__).parent.parent / "training" / "variants.py"


@pytest.fixture
def variants() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def test_every_variant_is_compared(variants: dict[str, Any]) -> None:
    output = {setting for _, settings in variants["ROWS"].values() for setting in settings}
    named = {setting.removeprefix("encoder.variant=") for setting in output if "encoder.variant=" in setting}
    assert named | {"modernbert"} == set(ENCODERS)  # the recipe's own


def test_an_interrupted_run_ends_the_comparison(
    variants: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGQA_DATA", str(tmp_path))
    monkeypatch.setattr(encoder, "run_recipe", lambda recipe, folder: SimpleNamespace(interrupted=True))
    with pytest.raises(KeyboardInterrupt):
        variants["pretrain"]("roberta", 1000, tmp_path)

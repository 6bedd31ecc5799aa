"""The tutorial runs from end to end; with a few steps alone, so that it takes seconds."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from kgqa.settings import MODELS

TUTORIAL = Path(__file__).parent.parent / "training" / "tutorial.py"


def test_from_an_own_graph_to_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not (MODELS / "kgqa-mini" / "config.json").exists():
        pytest.skip("the encoder is not in this checkout")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    spec = importlib.util.spec_from_file_location("tutorial", TUTORIAL)
    assert spec and spec.loader
    tutorial = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tutorial)
    right, asked = tutorial.main(tmp_path, max_steps=2)
    assert asked == 12 and 0 <= right <= asked
    assert "48 facts; 432 questions" in capsys.readouterr().out

"""`kgqa adapt` at its smallest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgqa.cli.train import adapt_reader
from kgqa.settings import GRAPH_SUITE
from kgqa.types import InputError


def test_the_command_reports_before_and_after(
    tmp_path: Path, model_folder: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    films = str(GRAPH_SUITE / "films.ttl")
    out = tmp_path / "adapted"
    adapt_reader(films, str(model_folder), out, 1.0, 24, 2, "cpu", False)
    shown = capsys.readouterr().out
    assert "before" in shown and str(out / "export") in shown
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert report["trained_on"] == 24 and report["before"]["all"][1] == report["after"]["all"][1] > 0
    card = json.loads((out / "export" / "reader.json").read_text(encoding="utf-8"))
    assert card["name"].endswith("adapted to films")
    with pytest.raises(InputError, match="already"):
        adapt_reader(films, str(model_folder), out, 1.0, 24, 2, "cpu", False)

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kgqa.cli.graph.commands import graph_app
from kgqa.models.vectors.entities import METHODS


@pytest.mark.parametrize("method", METHODS)
def test_a_graph_is_embedded(method: str, tools_file: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    line = ["embed", str(tools_file), "--out", str(tmp_path / "out"), "--method", method]
    result = CliRunner().invoke(graph_app, [*line, "--size", "8", "--epochs", "2", "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["method"] == method and Path(report["file"]).exists()


def test_an_unknown_method_is_named(tools_file: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = CliRunner().invoke(
        graph_app, ["embed", str(tools_file), "--out", str(tmp_path), "--method", "x"]
    )
    assert "transe" in str(result.exception)

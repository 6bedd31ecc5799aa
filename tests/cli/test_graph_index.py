import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kgqa.cli import graph as graph_index
from kgqa.cli.graph import graph_app
from kgqa.models import dense_retrieval
from kgqa.models.entity_vectors import METHODS


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kgqa" / "facts"


def test_a_graph_is_indexed_where_readers_look(tools_file: Path, model_folder: Path, cache: Path) -> None:
    line = ["index", str(tools_file), "--encoder", str(model_folder)]
    result = CliRunner().invoke(graph_app, line)
    assert result.exit_code == 0, result.output
    (made,) = cache.glob("*.faiss")
    assert str(made) in result.stdout and "facts" in result.stdout


def test_an_imported_graph_has_its_index_where_the_encoder_is_here(
    tools_file: Path, model_folder: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (graph_index, dense_retrieval):  # the shipped one, by another name
        monkeypatch.setattr(module, "FACT_ENCODER", "nowhere")
    assert (
        CliRunner().invoke(graph_app, ["import", str(tools_file), "--out", str(tmp_path / "a")]).exit_code
        == 0
    )
    assert not list(cache.glob("*.faiss"))
    monkeypatch.setattr(graph_index, "FACT_ENCODER", str(model_folder))
    result = CliRunner().invoke(graph_app, ["import", str(tools_file), "--out", str(tmp_path / "b")])
    assert result.exit_code == 0 and len(list(cache.glob("*.faiss"))) == 1


def test_a_large_closed_world_graph_is_not_indexed_in_passing(
    tools_file: Path, model_folder: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_index, "FACT_ENCODER", str(model_folder))
    monkeypatch.setattr(dense_retrieval, "MADE_AT_ONCE", 1)
    line = ["import", str(tools_file), "--out", str(tmp_path / "a")]
    assert CliRunner().invoke(graph_app, line).exit_code == 0 and not list(cache.glob("*.faiss"))


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

"""The command builds, checks, and says in one line what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from graph_data.build.command import build
from kgqa.settings import RELATIONS
from kgqa.types import InputError


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()
    app.command()(build)
    return app


def test_builds_and_checks(tmp_path: Path, app: typer.Typer) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "a.txt").write_text("domain: d\ncat\n  ko: 고양이\n  IsA: animal; cat\n", encoding="utf-8")
    result = CliRunner().invoke(app, [str(folder), "--relations", str(RELATIONS)])
    assert result.exit_code == 0 and "2 concepts, 1 facts" in result.output
    assert "cat IsA itself" in result.output
    assert "ev:cat" in (tmp_path / "mine.ttl").read_text(encoding="utf-8")
    result = CliRunner().invoke(app, [str(folder), "--relations", str(RELATIONS), "--check"])
    assert result.exit_code == 1 and "FAULT: no Korean label: 1" in result.output
    result = CliRunner().invoke(app, [str(folder), "--relations", str(RELATIONS), "--draw", "3"])
    assert result.exit_code == 0 and "cat | is a kind of | animal" in result.output


def test_bad_input_is_named(tmp_path: Path, app: typer.Typer) -> None:
    result = CliRunner().invoke(app, [str(tmp_path / "none")])
    assert isinstance(result.exception, InputError) and "no .txt files" in str(result.exception)

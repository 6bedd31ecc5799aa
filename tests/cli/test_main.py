from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, get_args, get_origin

import pytest
from typer.testing import CliRunner

from kgqa import __version__
from kgqa.cli import options
from kgqa.cli.main import ENVIRONMENT, app
from kgqa.cli.main import run as command_line


@pytest.mark.parametrize(
    "command", ["ask", "predict", "evaluate", "compare", "suite", "train", "pretrain", "probe", "app"]
)
def test_every_command_has_help(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0 and "Usage" in result.output


def test_the_version_is_told() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0 and result.output == f"kgqa {__version__}\n"


def test_help_does_not_import_torch() -> None:
    code = (
        "import sys; import kgqa.cli.main; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def run_as_typed(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[object, str, str]:
    """The exit code of a command line, and what it prints on standard output and standard error."""
    monkeypatch.setattr(sys, "argv", ["kgqa", *arguments])
    monkeypatch.setattr(app, "registered_groups", [*app.registered_groups])  # `run` adds to them
    for name, value in ENVIRONMENT.items():  # undone at the end of the test
        monkeypatch.setenv(name, os.environ.get(name, value))
    with pytest.raises(SystemExit) as ended:
        command_line()
    return ended.value.code, *capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evaluate", "graphs"], "kgqa suite"),
        (["suite", "questions"], "graphs or edits"),
        (["compare", "missing.toml"], "missing.toml"),
        (["train", "missing.toml"], "missing.toml"),
        (["probe", "missing", "--tasks", "rte"], "missing"),
        (["aks", "why?"], "'ask'"),
        (["ask", "why?", "--pasage", "x"], "--passage"),
        (["ask", "why?", "--caution", "7"], "ask --help"),
        (["ask", "who", "rang"], "rang"),
        (["predict"], "IN"),
        (["suite", "--limit", "0"], "--limit"),
    ],
)
def test_bad_input_ends_in_one_line_and_code_2(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, said = run_as_typed(arguments, monkeypatch, capsys)
    assert code == 2 and len(said.strip().splitlines()) == 1 and words in said


def test_no_command_at_all_shows_the_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, shown, said = run_as_typed([], monkeypatch, capsys)
    assert code == 2 and "Commands" in shown and not said


def test_a_process_of_its_own_ends_with_the_code_and_the_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kgqa", "ask", "why?", "--graph", "missing.ttl"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ended.returncode == 2 and len(ended.stderr.strip().splitlines()) == 1 and not ended.stdout


def test_commands_listen_on_this_machine_alone() -> None:
    from kgqa.cli import main

    found = [
        parameter.default
        for command in main.app.registered_commands
        for name, parameter in inspect.signature(command.callback).parameters.items()
        if name in ("host", "address")
    ]
    assert found == ["127.0.0.1"] * 2


def test_every_option_says_what_it_is_for() -> None:
    declared = [get_args(one)[-1] for one in vars(options).values() if get_origin(one) is Annotated]
    assert len(declared) > 10 and all(option.help for option in declared)


def test_a_command_beside_the_package_has_its_own_help_and_errors() -> None:
    result = CliRunner().invoke(app, ["suite", "--help"])
    assert result.exit_code == 0 and "--ablation" in result.output and "graphs|edits" in result.output
    assert CliRunner().invoke(app, ["suite", "--none-such"]).exit_code == 2

from typing import get_args

from typer.testing import CliRunner

from kgqa.cli import options
from kgqa.cli.main import app
from kgqa.types import InputError


def test_every_option_says_what_it_is_for() -> None:
    for name in (
        "Graph",
        "Model",
        "Device",
        "Language",
        "Shots",
        "ExampleFile",
        "ChoiceScore",
        "NoAnswerThreshold",
        "AsJson",
    ):
        declared = get_args(getattr(options, name))[-1]
        assert declared.help


def test_a_command_beside_the_package_has_its_own_help_and_errors() -> None:
    result = CliRunner().invoke(app, ["suite", "--help"])
    assert result.exit_code == 0 and "--ablation" in result.output and "[graphs|edits]" in result.output
    assert CliRunner().invoke(app, ["suite", "--none-such"]).exit_code == 2
    wrong = CliRunner().invoke(app, ["suite", "questions"]).exception
    assert isinstance(wrong, InputError) and "graphs or edits" in str(wrong)

"""The graph commands, called as a user calls them."""

from __future__ import annotations

from typer.testing import CliRunner

from kgqa.cli.graph import graph_app
from kgqa.types import InputError


def run(*arguments: str) -> str:
    """What a command that succeeds prints."""
    result = CliRunner().invoke(graph_app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments: str) -> str:
    """The one line with which a command refuses its input."""
    result = CliRunner().invoke(graph_app, list(arguments))
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)

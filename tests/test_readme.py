"""The README's commands exist, with their options, and its tree is the tree."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from kgqa.cli.main import app

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [line.split("#")[0].strip() for line in README.splitlines() if line.startswith("kgqa ")]


@pytest.mark.parametrize("line", [c for c in COMMANDS if not c.startswith("kgqa graph")])
def test_commands_parse(line: str) -> None:
    _, name, *arguments = shlex.split(line)
    group = typer.main.get_command(app)
    command = group.commands[name]  # type: ignore[attr-defined]
    command.make_context(name, arguments).close()


def test_recipes_and_files_exist() -> None:
    for path in re.findall(r"(?:training|graph_data|kgqa|apps)/[\w./-]+\.(?:toml|md|ttl|py)", README):
        assert (ROOT / path).exists(), path


def test_the_python_example_compiles() -> None:
    for block in re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL):
        compile(block, "README.md", "exec")

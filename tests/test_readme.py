"""What the README and the pages of docs/ say is so: their blocks run in an empty folder and print what they say."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import typer.main
from support import forked_kgqa

from kgqa.cli.main import app
from kgqa.data.datasets.json_lines import read_examples

ROOT = Path(__file__).parent.parent
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", *PAGES)}
BLOCKS = {
    name: re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    for name, text in TEXTS.items()
}
COMMANDS = [command for text in TEXTS.values() for command in re.findall(r"`(kgqa [^`\n]+)`", text)]
MOST_WORDS = 650
"""Of the README, code and tables aside: what is read in three minutes."""
DONE = "-- done --"


class Command(NamedTuple):
    """What is typed, and what it prints."""

    typed: str
    printed: str


def commands_of(block: str) -> list[Command]:
    """The commands of a block of `$` lines, their further lines behind `>`, with what stands below each."""
    found: list[tuple[list[str], list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(([line[2:]], []))
        elif line.startswith("> ") and not found[-1][1]:
            found[-1][0].append(line[2:])
        else:
            found[-1][1].append(line)
    return [Command("\n".join(typed), "\n".join(printed)) for typed, printed in found]


def fits(expected: str, printed: str) -> bool:
    """Whether a text is as expected, where `...` stands for anything."""
    pattern = re.escape(expected.strip()).replace(re.escape("..."), ".*")
    lines = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    return re.fullmatch(pattern, lines, flags=re.DOTALL) is not None


def run_block(block: str, folder: Path, environment: dict[str, str]) -> None:
    """Type the commands of a block into one shell, and compare what each prints."""
    commands = commands_of(block)
    ending = "trap 'kill $(jobs -p) 2> /dev/null' EXIT"
    script = "\n".join(["set -m", ending, *(f"{typed}\necho '{DONE}'" for typed, _ in commands)])
    shell = subprocess.Popen(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=(folder.parent / "stderr.txt").open("w"),
        text=True,
        process_group=0,
    )
    try:
        output, _ = shell.communicate(timeout=800)
    finally:
        shell.terminate()
    errors = (folder.parent / "stderr.txt").read_text(encoding="utf-8")
    printed = output.split(f"{DONE}\n")
    for command, shown in zip(commands, printed, strict=False):
        assert fits(command.printed, shown), f"$ {command.typed}\n{shown}\n{errors}"
    assert len(printed) == len(commands) + 1, errors


def free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def runs(name: str, kind: str, block: str) -> bool:
    """Whether a block is run: not a module, which test_external_reasoner.py trains with, nor, on a page, commands that
    the README has too."""
    if kind == "console":
        shown = [c for k, b in BLOCKS["README.md"] if k == "console" for c in commands_of(b)]
        return name == "README.md" or any(command not in shown for command in commands_of(block))
    return kind == "python" and not block.startswith('"""')


RUN = {name: sum(runs(name, *block) for block in BLOCKS[name]) for name in TEXTS}


SHIM = """#!/bin/sh
case "$1" in serve) exec {python} -m kgqa "$@" ;; esac  # which is killed
exec {python} -IS {script} {socket} call "$@"
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """An environment in which `kgqa` is found, and answers without importing what has been imported before."""
    folder = tmp_path_factory.mktemp("bin")
    script, address, shim = str(forked_kgqa.__file__), folder / "socket", folder / "kgqa"
    names = {"python": sys.executable, "script": script, "socket": str(address)}
    shim.write_text(SHIM.format(**{name: shlex.quote(value) for name, value in names.items()}))
    shim.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "NO_PROXY": "127.0.0.1",
        "COLUMNS": "150",
    }
    command = [sys.executable, script, str(address)]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as server:
        while not address.exists():
            assert server.poll() is None
            time.sleep(0.1)
        yield environment


@pytest.mark.parametrize("name", [name for name in TEXTS if RUN[name]])
def test_every_block_does_what_it_says_in_an_empty_folder(
    name: str, environment: dict[str, str], tmp_path: Path
) -> None:
    pytest.importorskip("kiwipiepy")
    here = tmp_path / "empty"
    here.mkdir()
    port = free_port()
    blocks = BLOCKS[name]
    for number, (kind, block) in enumerate(blocks):
        if not runs(name, kind, block):
            continue
        if kind == "console":
            run_block(block.replace("8600", port), here, environment)
        else:
            done = subprocess.run(
                ["kgqa", "-c", block], cwd=here, env=environment, capture_output=True, text=True
            )
            assert blocks[number + 1][0] == "text"
            assert fits(blocks[number + 1][1], done.stdout), done.stdout + done.stderr


def test_tutorials_have_blocks_that_run() -> None:
    wanted = {"README.md": 4, "docs/ask.md": 2, "docs/own_graph.md": 2}
    wanted |= dict.fromkeys(("docs/train.md", "docs/backbone.md", "docs/serve.md"), 1)
    assert {name: number for name, number in RUN.items() if number} == wanted


def test_no_other_block_is_code_but_what_installs() -> None:
    """Diffs are applied by test_extending.py."""
    blocks = [block for found in BLOCKS.values() for block in found]
    assert {kind for kind, _ in blocks} == {"console", "python", "text", "json", "sh", "toml", "diff"}
    installs = {line.split()[0] for kind, block in blocks if kind == "sh" for line in block.splitlines()}
    assert installs == {"make", "source", "pip", "hf", "podman", "docker"}
    assert all(tomllib.loads(block) for kind, block in blocks if kind == "toml")


def test_the_readme_is_short() -> None:
    prose = re.sub(
        r"^```.*?^```|^\|[^\n]*|<[^>]*>|\]\([^)]*\)", " ", TEXTS["README.md"], flags=re.DOTALL | re.MULTILINE
    )
    assert len(re.findall(r"\w[\w'’.-]*", prose)) <= MOST_WORDS


def test_links_lead_somewhere() -> None:
    def anchor(title: str) -> str:
        return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")

    for name, text in TEXTS.items():
        for file, place in re.findall(r"\]\(([^)#:]*)#?([^)]*)\)", text):
            if file.startswith("api/"):
                assert list((ROOT / "kgqa").glob(f"{Path(file).stem}*")), f"{name}: {file}"
                continue
            target = (ROOT / name).parent / file if file else ROOT / name
            assert target.exists(), f"{name}: {file}"
            if place:
                titles = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
                assert place in map(anchor, titles), f"{name}: {file}#{place}"


def test_the_rows_that_are_shown_are_read(tmp_path: Path) -> None:
    (shown,) = [block for kind, block in BLOCKS["README.md"] if kind == "json"]
    (tmp_path / "rows.jsonl").write_text(shown, encoding="utf-8")
    sources = [example.source.value for example in read_examples(tmp_path / "rows.jsonl")]
    assert sources == ["passage", "choice", "knowledge"] and all(
        json.loads(line) for line in shown.splitlines()
    )


@pytest.mark.parametrize(
    "line", [c for c in COMMANDS if not re.search(r"\.\.\.|^kgqa (graph|--|COMMAND)|--help", c)]
)
def test_commands_parse(line: str) -> None:
    _, name, *arguments = shlex.split(line)
    group = typer.main.get_command(app)
    command = group.commands[name]  # type: ignore[attr-defined]
    arguments = [{"URL": "http://127.0.0.1:8600"}.get(argument, argument) for argument in arguments]
    command.make_context(name, arguments).close()


def test_the_site_leads_to_every_page() -> None:
    named = re.findall(r": ([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert {Path(page).name for page in PAGES} <= set(named)
    assert all((ROOT / page).is_file() or (ROOT / "docs" / page).is_file() for page in named)


def test_recipes_and_files_exist() -> None:
    for path in re.findall(
        r"(?:training|graph_data|kgqa|apps)/[\w./-]+\.(?:toml|md|ttl|py|jsonl?|ipynb)",
        re.sub(r"^```diff\n.*?^```", "", "".join(TEXTS.values()), flags=re.DOTALL | re.MULTILINE),
    ):
        assert "NAME" in path or (ROOT / path).exists(), path

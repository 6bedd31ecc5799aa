"""Results are data: a line of JSON for each thing measured, in `training/results/`; the pages are made of them.

`python training/results.py add FILE OF BY -- COMMAND` runs a command of this repository that prints its figures as
lines of JSON (`kgqa evaluate ... --json`, `training/bench/`), and keeps them in `training/results/FILE.jsonl` as what
was measured OF a data set BY a reader. `python training/results.py` writes `training/RESULTS.md`, and the tables
between `<!-- results: NAME -->` and `<!-- end -->` of other documents, as `training/results/tables.toml` lays them
out. A figure is marked † where a path that its line watches (code, data, weights; git's hash of it) no longer holds
what it did, other than comments, docstrings and layout of Python and TOML: what its command names, and what
`watches.toml` says that it depends on. `python training/results.py again PATTERN` runs the commands of marked lines
again, of those whose "OF by BY" the regular expression finds.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import shlex
import subprocess
import sys
import time
import tomllib
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from kgqa.data.datasets.load import DATASETS, load_dataset
from kgqa.settings import DEFAULT_READER, write_whole
from kgqa.trainer.checkpoint import questions_hash
from kgqa.types import InputError

ROOT = Path(__file__).resolve().parent.parent
LINES, PAGE = ROOT / "training" / "results", ROOT / "training" / "RESULTS.md"
MORE, WATCHES = LINES / "MORE.md", LINES / "watches.toml"
DOCUMENTS = (ROOT / "README.md", ROOT / "training" / "MODEL_CARD.md")
HEAD = """# Results

Made by `python training/results.py` of the lines in [results/](results): command, commit, seeds and time of each; a
command takes `--model NAME` for another reader than kgqa-base. † is a figure whose code, data or weights have changed
since; a withdrawn one was measured on questions that the reader was trained on. ± is a standard deviation over seeds.
Shares are percent; goals were set before. More: [MORE.md](results/MORE.md), [RUNS.md](RUNS.md).
"""
STALE = "†"
WITHDRAWN = "withdrawn"
"""Stands for a figure whose line says why it proves nothing (`withdrawn`)."""
PLACE = re.compile(r"(<!-- results: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def rows() -> list[dict[str, Any]]:
    """All lines, each with the name of its `file`."""
    return [
        {**json.loads(line), "file": path.stem}
        for path in sorted(LINES.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


@cache
def tree(path: str, commit: str = "HEAD") -> str:
    """Git's hash of what a path holds, "" where there is none."""
    return git("rev-parse", "--verify", "--quiet", f"{commit}:{path}").strip()


def git(*words: str) -> str:
    """What a command of git prints, "" where it fails."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout


def is_stale(row: dict[str, Any]) -> bool:
    """Whether something that a line watches has changed, or it says why it no longer holds (`stale`); published sets
    are looked at where they are (`KGQA_DATA`)."""
    if row.get("stale"):
        return True
    if row.get("data") and row.get("task") in DATASETS:
        with suppress(InputError):  # the set is not here
            asked = islice(load_dataset(row["task"]), int(row["figures"]["questions"]))
            if questions_hash(asked) != row["data"]:
                return True
    return any(differs(path, before, tree(path)) for path, before in row["watched"].items())


def differs(path: str, before: str, after: str) -> bool:
    """Whether two of git's objects at a path hold something else than each other."""
    if before == after or not before or not after:
        return before != after
    old, new = files_of(before), files_of(after)
    if old or new:
        return old.keys() != new.keys() or any(differs(name, old[name], new[name]) for name in old)
    return not path.endswith((".py", ".toml")) or parsed(path, before) != parsed(path, after)


@cache
def files_of(folder: str) -> dict[str, str]:
    """The files of a folder (a tree of git) and their hashes, none of a file."""
    lines = (line.split(maxsplit=3) for line in git("ls-tree", "-r", folder).splitlines())
    return {name: blob for _, _, blob, name in lines}


@cache
def parsed(path: str, blob: str) -> str:
    """What a file of Python or TOML says, without comments and docstrings; "" where it cannot be read."""
    text = git("cat-file", "blob", blob)
    try:
        if path.endswith(".toml"):
            return str(tomllib.loads(text)) if text else ""
        return ast.dump(Undocumented().visit(ast.parse(text))) if text else ""
    except (SyntaxError, tomllib.TOMLDecodeError):
        return ""


class Undocumented(ast.NodeTransformer):
    """Takes out docstrings, of fields too: texts that stand alone."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        alone = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if alone else node


def watched_by(of: str, by: str, command: str) -> list[str]:
    """Files and models of the repository that a command names, and what `watches.toml` adds for what it measures."""
    words = [word.rpartition("=")[2] for word in shlex.split(command)]
    named = [path for word in words for path in (word, f"training/models/{word}")]
    for rule in tomllib.loads(WATCHES.read_text(encoding="utf-8"))["rules"]:
        if of.startswith(tuple(rule["of"])):
            named += rule["paths"]
            named += [f"training/models/{DEFAULT_READER}"] * ("reader" in rule and "--model" not in words)
    if of.startswith("compare"):
        named += reasoner_files(by)
    return [path for path in dict.fromkeys(named) if "/" in path.strip("./") and tree(path)]


def reasoner_files(row: str) -> list[str]:
    """The modules of a comparison's reasoner, those of the networks it shares with others included."""
    sys.path.insert(0, str(ROOT))
    from kgqa.models.reasoners import REASONERS, Reasoner, find_reasoner
    from training.experiments.compare import ROWS

    name = ROWS.get(row, {}).get("reasoner", "")
    kind = find_reasoner(name) if name in REASONERS else None
    own = (
        [part for part in kind.__mro__ if issubclass(part, Reasoner) and part is not Reasoner] if kind else []
    )
    return [f"{part.__module__.replace('.', '/')}.py" for part in own]


def cell(row: dict[str, Any] | None, figures: str, unit: str) -> str:
    """One or several figures (by comma) of a line, a list as mean and standard deviation, "-" for one it lacks."""
    if row is None or not any(name in row["figures"] for name in figures.split(",")):
        return ""
    if row.get("withdrawn"):
        return WITHDRAWN
    info = []
    for name in figures.split(","):
        value = row["figures"].get(name, [])
        values = value if isinstance(value, list) else [value]
        shown = (
            f"{100 * v:.1f}" if unit == "%" else f"{v:,.4g}" if v < 1000 else f"{v:,.0f}" for v in values
        )
        info.append(" ± ".join(shown) or "-")
    return ", ".join(info) + STALE * is_stale(row)


def table(layout: dict[str, Any], measured: list[dict[str, Any]]) -> list[str]:
    """A table's Markdown: either its `rows` by readers, or all readers `of` one thing by its `columns`."""
    by = {(row["of"], row["by"]): row for row in measured}
    if "of" in layout:
        head = ["", *(name for name, *_ in layout["columns"])]
        readers = {row["by"]: row.get("stale") for row in measured if row["of"] == layout["of"]}
        body = [
            [
                reader + f" (stale: {why})" * bool(why),
                *(cell(by[layout["of"], reader], figure, unit) for _, figure, unit in layout["columns"]),
            ]
            for reader, why in readers.items()
        ]
    else:
        asked = any(len(row) > 4 for row in layout["rows"])
        head = ["", *([layout.get("beside", "goal")] if asked else []), *layout["by"]]
        body = [
            [
                name,
                *([more[0] if more else ""] if asked else []),
                *(cell(by.get((of, reader)), figures, unit) for reader in layout["by"]),
            ]
            for name, of, figures, unit, *more in layout["rows"]
        ]
    lines = [head, ["---"] * len(head), *body]
    return [f"| {' | '.join(line)} |" for line in lines]


def commands(layout: dict[str, Any], measured: list[dict[str, Any]]) -> str:
    """The commands that made a table, each once whatever reader it was for."""
    of = {layout["of"]} if "of" in layout else {row[1] for row in layout["rows"]}
    shown = [row for row in measured if row["of"] in of and row["by"] in layout.get("by", [row["by"]])]
    info = dict.fromkeys(re.sub(r" --json| --model (?!runs/)\S+", "", row["command"]) for row in shown)
    return "; ".join(f"`{command}`" for command in info)


def pages() -> dict[Path, str]:
    """What every document should say."""
    layouts = tomllib.loads((LINES / "tables.toml").read_text(encoding="utf-8"))["table"]
    measured, made = rows(), {}
    found = {PAGE: HEAD, MORE: "# More results\n\nWhat [RESULTS.md](../RESULTS.md) has no room for.\n"}
    for layout in layouts:
        made[layout["name"]] = "\n".join(table(layout, measured)) + "\n"
        note = " ".join([*layout.get("note", "").split(), commands(layout, measured)])
        section = f"\n## {layout['name']}\n\n{note}\n\n{made[layout['name']]}"
        found[MORE if layout.get("more") else PAGE] += section if "only" not in layout else ""
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        found[path] = PLACE.sub(
            lambda place: f"{place[1]}{made[place[2]]}{legend(made[place[2]])}{place[3]}", text
        )
    return found


def legend(text: str) -> str:
    """What the mark means, for a table that has one."""
    return f"\n{STALE} measured before code, data or weights last changed.\n" if STALE in text else ""


def is_figure(value: object) -> bool:
    """Whether it is a number, or several."""
    return all(isinstance(part, (int, float)) for part in (value if isinstance(value, list) else [value]))


def add(file: str, of: str, by: str, command: list[str]) -> None:
    """Run a command and keep its figures, the numbers of the lines of JSON that it prints, in place of earlier ones."""
    watched = watched_by(of, by, shlex.join(command))
    changed = subprocess.run(
        ["git", "status", "--porcelain", *watched], cwd=ROOT, capture_output=True, text=True
    )
    if changed.stdout.strip():
        raise SystemExit(f"{changed.stdout.split()[1]}: changed and not committed; commit it first")
    text, minutes = printed(tuple(command))
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True).strip()
    for line in text.splitlines():
        if not line.startswith("{"):
            continue
        info = json.loads(line)
        of, by = info.pop("of", of), info.pop("by", by)
        row = {
            "of": of,
            "by": by,
            "figures": {name: value for name, value in info.items() if is_figure(value)},
            "command": shlex.join(command),
            "commit": commit,
            "watched": {path: tree(path) for path in watched_by(of, by, shlex.join(command))},
            "task": info.get("task", ""),
            "data": info.get("data", ""),
            "seeds": info.get("seeds", 1),
            "minutes": minutes,
        }
        path = LINES / f"{file}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        kept = [line for line in lines if [json.loads(line)[key] for key in ("of", "by")] != [of, by]]
        write_whole(path, "\n".join((*kept, json.dumps(row, ensure_ascii=False), "")))


@cache
def printed(command: tuple[str, ...]) -> tuple[str, float]:
    """What a command prints, and the minutes that it takes. Raises SystemExit with its errors if it fails."""
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr or done.stdout)
    return done.stdout, round((time.monotonic() - began) / 60, 1)


def again(pattern: str) -> None:
    """Run the commands of marked lines again; one that fails is told and passed over."""
    for earlier in rows():
        of, by = earlier["of"], earlier["by"]
        row = next(row for row in rows() if (row["of"], row["by"]) == (of, by))  # a command may print several
        if re.search(pattern, f"{of} by {by}") and is_stale(row) and not row.get("withdrawn"):
            print(f"{of} by {by}: {row['command']}", flush=True)
            try:
                add(row["file"], of, by, shlex.split(row["command"]))
            except SystemExit as failure:
                print(failure, file=sys.stderr)


def main() -> None:
    """Add a line, measure lines again, or write the pages."""
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    does = parser.add_subparsers(dest="does")
    adding = does.add_parser("add")
    for name in ("file", "of", "by"):
        adding.add_argument(name)
    does.add_parser("again").add_argument("pattern")
    given = parser.parse_args(words[:end])
    if given.does == "add":
        add(given.file, given.of, given.by, words[end + 1 :])
    elif given.does == "again":
        again(given.pattern)
    for path, text in pages().items():
        write_whole(path, text)


if __name__ == "__main__":
    main()

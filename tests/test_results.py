"""The pages of results say what the lines of results say."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from kgqa.settings import DEFAULT_READER
from kgqa.trainer.checkpoint import questions_hash
from kgqa.types import Example, Question

SCRIPT = Path(__file__).parent.parent / "training" / "results.py"


@pytest.fixture
def results() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def test_every_page_is_made_of_the_lines(results: dict[str, Any]) -> None:
    for path, text in results["pages"]().items():
        written = path.read_text(encoding="utf-8")
        without = [output.replace(results["legend"]("†"), "").replace("†", "") for output in (written, text)]
        assert without[0] == without[1], f"{path}: run python training/results.py"
    page = results["PAGE"].read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 200, "one page: put a table on the second (`more`)"


def test_every_line_says_how_it_was_made(results: dict[str, Any]) -> None:
    for row in results["rows"]():
        assert row["figures"] and row["command"] and row["commit"] and row["watched"] and row["seeds"], row


def test_what_has_changed_since_is_marked(results: dict[str, Any]) -> None:
    row = {"figures": {"em": [0.5, 0.01], "ms": 12.0}, "watched": {"setup.py": results["tree"]("setup.py")}}
    assert results["cell"](row, "em", "%") == "50.0 ± 1.0" and results["cell"](row, "ms", "") == "12"
    row["watched"]["kgqa"] = "another"
    assert results["cell"](row, "em,ms", "") == "0.5 ± 0.01, 12†" and results["cell"](row, "f1", "%") == ""
    assert results["cell"](row, "f1,ms", "") == "-, 12†"


def test_comments_docstrings_and_layout_change_nothing(results: dict[str, Any], tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a"]
    results["git"].__globals__["ROOT"] = tmp_path
    subprocess.run([*git, "init", "-q"], check=True)

    def committed(code: str, table: str) -> dict[str, str]:
        (tmp_path / "part").mkdir(exist_ok=True)
        (tmp_path / "part" / "a.py").write_text(code)
        (tmp_path / "part" / "a.toml").write_text(table)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "x", "--allow-empty"], check=True)
        results["tree"].cache_clear()
        return {path: results["tree"](path) for path in ("part", "part/a.py", "part/a.toml")}

    before = committed('"""Adds."""\ndef add(a, b):\n    """Sum."""\n    return a + b  # so\n', "a = 1")
    after = committed('def add(\n    a, b,\n):\n    "Both."\n    return (a + b)\n', "a  = 1  # one")
    assert before["part"] != after["part"]
    assert not any(results["differs"](path, before[path], after[path]) for path in before)
    changed = committed('def add(a, b):\n    """Sum."""\n    return a - b\n', "a = 2")
    assert all(results["differs"](path, before[path], changed[path]) for path in before)
    assert results["differs"]("part/a.py", "0" * 40, after["part/a.py"])  # a clone without the old file


def test_a_withdrawn_figure_is_not_shown(results: dict[str, Any]) -> None:
    row = {"figures": {"em": 0.9}, "watched": {}, "withdrawn": "trained on"}
    assert results["cell"](row, "em", "%") == "withdrawn"


def test_a_line_is_kept_of_a_command(results: dict[str, Any], tmp_path: Path) -> None:
    results["add"].__globals__["LINES"] = tmp_path
    reported = {"em": 0.5, "task": "x", "data": "ab"}
    output = f"import json; print('so'); print(json.dumps({reported}))"
    results["add"]("file", "linking", "reader", [sys.executable, "-c", output])
    row = json.loads((tmp_path / "file.jsonl").read_text())
    assert row["figures"] == {"em": 0.5} and row["data"] == "ab" and row["by"] == "reader"
    assert row["watched"]["kgqa/graph/linking"] == results["tree"]("kgqa/graph/linking")
    changed = {**row, "watched": {"kgqa/graph/linking": "another"}}
    (tmp_path / "file.jsonl").write_text(
        "".join(json.dumps(changed | {"of": of}) + "\n" for of in ("x", "linking"))
    )
    results["again"]("linking by read")
    other, anew = map(json.loads, (tmp_path / "file.jsonl").read_text().splitlines())
    assert other["of"] == "x" and anew == row | {"minutes": anew["minutes"]}


def test_a_line_watches_what_it_depends_on_and_no_more(results: dict[str, Any]) -> None:
    asked, watched_by = (
        "kgqa evaluate own --data training/data/why/development/why_dev.jsonl",
        results["watched_by"],
    )
    watched = watched_by("why_dev", "x", f"{asked} --model kgqa-small")
    assert {
        "training/data/why/development/why_dev.jsonl",
        "training/models/kgqa-small",
        "kgqa/metrics.py",
    } <= set(watched)
    default = f"training/models/{DEFAULT_READER}"
    assert default not in watched and default in watched_by("why_dev", "x", asked)
    compared = watched_by("compare csqa", "dragon", "kgqa evaluate compare")
    assert {"kgqa/models/reasoners/greaselm.py", "kgqa/models/reasoners/gnn.py"} <= set(compared)
    assert "kgqa/models/reasoners/kbert.py" not in compared
    taught = watched_by(
        "trec", "x", "kgqa train training/recipes/task/sentence.toml encoder.folder=kgqa-mini"
    )
    assert {"training/recipes/task/sentence.toml", "training/models/kgqa-mini"} <= set(taught)
    rules = tomllib.loads(results["WATCHES"].read_text(encoding="utf-8"))["rules"]
    for path in (path for rule in rules for path in rule["paths"]):
        assert results["tree"](path) and path.count("/"), f"{path} of watches.toml is not there, or too broad"
    for row in results["rows"]():
        assert "kgqa" not in row["watched"], row


def test_what_the_commands_of_lines_run_prints_json(results: dict[str, Any]) -> None:
    for command in {row["command"] for row in results["rows"]()}:
        if program := re.match(r"python (\S+)", command):
            assert "json.dumps(" in (SCRIPT.parents[1] / program[1]).read_text(encoding="utf-8"), command


def test_other_questions_make_a_line_stale(results: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [Example(Question("why?"), concepts=("so",))] * 3
    row = {"figures": {"questions": 2}, "watched": {}, "task": "csqa-dev", "data": questions_hash(asked[:2])}
    monkeypatch.setenv("KGQA_DATA", "/nowhere")
    results["is_stale"].__globals__["load_dataset"] = lambda _name: iter(asked)
    assert not results["is_stale"](row)
    asked[0] = Example(Question("why?"), concepts=("because",))
    assert results["is_stale"](row)

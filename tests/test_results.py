"""The pages of results say what the lines of results say."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from kgqa.trainer.fingerprint import questions_hash
from kgqa.types import Example, Question

SCRIPT = Path(__file__).parent.parent / "training" / "results.py"


@pytest.fixture
def results() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def test_every_page_is_made_of_the_lines(results: dict[str, Any]) -> None:
    for path, text in results["pages"]().items():
        written = path.read_text(encoding="utf-8")
        without = [said.replace(results["legend"]("†"), "").replace("†", "") for said in (written, text)]
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


def test_a_line_is_kept_of_a_command(results: dict[str, Any], tmp_path: Path) -> None:
    results["add"].__globals__["LINES"] = tmp_path
    told = {"em": 0.5, "task": "x", "data": "ab"}
    said = f"import json; print('so'); print(json.dumps({told}))"
    results["add"]("file", "squad", "reader", ["setup.py"], [sys.executable, "-c", said])
    row = json.loads((tmp_path / "file.jsonl").read_text())
    assert row["figures"] == {"em": 0.5} and row["data"] == "ab" and row["by"] == "reader"
    assert row["watched"] == {"setup.py": results["tree"]("setup.py")}
    named = ["kgqa", "evaluate", "own", "--data", "training/data/why_dev.jsonl", "--model", "kgqa-everyday"]
    watched = results["watched_by"](named)
    assert {"kgqa", "training/data/why_dev.jsonl", "training/models/kgqa-everyday"} <= set(watched)
    assert "training/models/kgqa-base" not in watched
    assert "training/models/kgqa-base" in results["watched_by"](named[:5])


def test_other_questions_make_a_line_stale(results: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [Example(Question("why?"), concepts=("so",))] * 3
    row = {"figures": {"questions": 2}, "watched": {}, "task": "csqa-dev", "data": questions_hash(asked[:2])}
    monkeypatch.setenv("KGQA_DATA", "/nowhere")
    results["is_stale"].__globals__["load_dataset"] = lambda _name: iter(asked)
    assert not results["is_stale"](row)
    asked[0] = Example(Question("why?"), concepts=("because",))
    assert results["is_stale"](row)

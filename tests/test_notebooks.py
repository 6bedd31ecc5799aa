"""The notebooks run from an empty folder, cell by cell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "training" / "notebooks").glob("*.ipynb"))
RUNNER = """
import ast, json, sys
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    if cell["cell_type"] != "code":
        continue
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, sys.argv[1], "exec"))
    if last is not None:  # what a notebook shows
        shown = eval(compile(ast.Expression(last.value), sys.argv[1], "eval"))
        print(shown._repr_html_() if hasattr(shown, "_repr_html_") else repr(shown))
"""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(path.parents[2])}
    command = [sys.executable, "-c", RUNNER, str(path)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr
    assert "<svg" in done.stdout or path.stem == "own_data"


def test_what_was_computed_is_not_kept_in_them() -> None:
    assert len(NOTEBOOKS) == 3
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            assert not cell.get("outputs") and cell.get("execution_count") is None

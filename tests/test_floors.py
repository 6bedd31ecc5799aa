"""The rules of the house: the direction of imports (pyproject.toml, import-linter), and no drawers for the rest."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "kgqa").rglob("*.py"))


def test_imports_point_down_and_heavy_libraries_stay_in_their_rooms() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()"]
    done = subprocess.run([*command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def test_one_module_knows_where_things_lie() -> None:
    for path in MODULES:
        if path.name != "settings.py":
            found = re.search(r"\.parents\[|os\.environ\W.*(KGQA|XDG)", path.read_text(encoding="utf-8"))
            assert not found, f"{path}: ask settings.py"


def test_no_drawers() -> None:
    assert not [path for path in MODULES if path.stem in {"utils", "common", "helpers", "misc"}]

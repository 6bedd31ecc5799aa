"""The direction of imports, and which libraries are imported where (pyproject.toml, import-linter)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_imports_point_down_and_heavy_libraries_stay_in_their_rooms() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()"]
    done = subprocess.run([*command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]

"""What pyproject.toml cannot say: the wheel carries what lies beside the package in a checkout."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SHIPPED = (
    "graph_data",
    "apps",
    "training/models/kgqa-small",
    "training/models/kgqa-mini",
    "training/models/kgqa-story",
    "training/recipes",
    "training/RESULTS.md",
    "training/curves.json",
    "training/parts.json",
    "tests/graphs",
)
"""Copied to kgqa/_shipped under the same names; `kgqa/assets.py` looks there first."""
LEFT_OUT = shutil.ignore_patterns(
    "__pycache__", "*.png", "everyday"
)  # pictures, and the sources of everyday.ttl


class BuildWithAssets(build_py):
    """Building the package, with what it needs to answer a question anywhere."""

    def run(self) -> None:
        """Build; an editable install finds everything in the checkout instead."""
        super().run()
        if self.editable_mode:
            return
        here, target = Path(__file__).parent, Path(self.build_lib) / "kgqa" / "_shipped"
        shutil.rmtree(target, ignore_errors=True)
        for name in SHIPPED:
            source = here / name
            if source.is_dir():
                shutil.copytree(source, target / name, ignore=LEFT_OUT)
            elif source.is_file():
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target / name)


setup(cmdclass={"build_py": BuildWithAssets})

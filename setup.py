"""What pyproject.toml cannot say: the wheel carries what lies beside the package in a checkout."""

from __future__ import annotations

import os
import shutil
import tomllib
from pathlib import Path
from typing import Any

from setuptools import setup
from setuptools.command.build_py import build_py

SHIPPED = (
    "graph_data",
    "apps",
    "training/models/kgqa-small",
    "training/models/kgqa-mini",
    "training/models/kgqa-story",
    "training/experiments",
    "training/recipes",
    "training/curves.json",
    "training/parts.json",
    "tests/graphs",
)
"""Copied to kgqa/_shipped under the same names; `kgqa/settings.py` looks there first."""
LEFT_OUT = shutil.ignore_patterns(
    "__pycache__", "*.png", "everyday", "languages", "forms_*", "held_out", "unseen", "vocabularies"
)
"""Pictures, the sources of everyday.ttl, and the graphs of the tests that are no examples."""


def needs_the_checkout(recipe: Path) -> bool:
    """Whether a recipe or its base reads files of the checkout, or of an earlier run, and cannot run from a wheel."""

    def named(value: Any) -> bool:
        if isinstance(value, dict):
            return any(map(named, value.values()))
        if isinstance(value, list):
            return any(map(named, value))
        return isinstance(value, str) and value.startswith(("training/", "runs/", "data/"))

    said = tomllib.loads(recipe.read_text(encoding="utf-8"))
    if "forms" in said or named(said):
        return True
    return "base" in said and needs_the_checkout(recipe.parent / said["base"])


def left_out(folder: str | os.PathLike[str], names: list[str]) -> set[str]:
    """What of a folder is not shipped."""
    found, recipes = set(LEFT_OUT(folder, names)), "recipes" in Path(folder).parts
    return found | {
        n for n in names if recipes and n.endswith(".toml") and needs_the_checkout(Path(folder) / n)
    }


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
                shutil.copytree(source, target / name, ignore=left_out)
            elif source.is_file():
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target / name)


setup(cmdclass={"build_py": BuildWithAssets})

"""What a run on a lent machine needs of this checkout: `python training/parcel.py RECIPE.toml [--leave-out]`.

Prints the size of what the recipe needs and of the rest; with `--leave-out` the tracked files that it does not need,
one a line, so that `python training/parcel.py RECIPE.toml --leave-out | xargs rm` makes the checkout small enough to
travel and `git checkout -- .` brings everything back.
"""

from __future__ import annotations

import argparse
import subprocess
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from kgqa.trainer.recipe import recipe_values

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = (
    "kgqa/*",
    "pyproject.toml",
    "setup.py",
    "graph_data/*.toml",
    "training/recipes/*",
    "training/*.py",
    "training/bench/*",
)
"""Patterns of what every run needs."""


def named(value: Any) -> set[str]:
    """Every text that stands anywhere in a recipe: names of models, graphs and files among them."""
    if isinstance(value, dict):
        return {text for item in value.values() for text in named(item)}
    if isinstance(value, list):
        return {text for item in value for text in named(item)}
    return {value} if isinstance(value, str) else set()


def needed(path: str, texts: set[str], graphs: bool) -> bool:
    """Whether a recipe that names `texts` needs a tracked file."""
    if any(fnmatch(path, pattern) for pattern in ALWAYS) or any(fnmatch(path, text) for text in texts):
        return True
    if path == "graph_data/everyday.ttl":
        return graphs
    return any(path.startswith(f"training/models/{text}/") for text in texts)


def main() -> None:
    """Print what may be left out, or sizes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipe", type=Path, nargs="+")
    parser.add_argument("--leave-out", action="store_true")
    asked = parser.parse_args()
    recipes = [recipe_values(path) for path in asked.recipe]
    texts = {text for recipe in recipes for text in named(recipe)}
    parts = [recipe["data"] for recipe in recipes if isinstance(recipe.get("data"), list)]
    everyday = any(data.get("graph", "everyday") == "everyday" for part in parts for data in part)
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [path for path in listed.stdout.split("\n") if path and (ROOT / path).is_file()]
    kept = [path for path in files if needed(path, texts, everyday)]
    rest = sorted(set(files) - set(kept))
    if asked.leave_out:
        print("\n".join(rest))
        return
    for title, paths in (("needed", kept), ("not needed", rest)):
        size = sum((ROOT / path).stat().st_size for path in paths) / 2**20
        print(f"{title}: {len(paths)} files, {size:.1f} MiB")


if __name__ == "__main__":
    main()

"""Which files of `KGQA_DATA`, and which public weights, the recipes read, by whom, and whether they are there.

Run `KGQA_DATA=... python training/data_files.py`. Where each is to be had says training/DATA.md.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from kgqa.data.corpus.shards import find_text
from kgqa.data.datasets.labelled import LABELLED
from kgqa.data.datasets.load import DATASETS
from kgqa.settings import RECIPES, ROOT, data_folder
from kgqa.trainer.recipe import recipe_values
from kgqa.types import InputError

NOWHERE = Path("nowhere")
WEIGHTS = "data/"
"""Where `training/start.py` puts public weights, in the checkout."""
SHOWN = 3
"""Recipes that are named beside a file."""
Check = Callable[[Path], object]
"""Reads the first of a file of a data folder, or of the checkout; InputError where it is not there."""


def wanted() -> dict[str, tuple[Check, set[str]]]:
    """Each file, without `.zst`, with what tries to read it and the recipes that name it."""
    found: dict[str, tuple[Check, set[str]]] = {}
    users: defaultdict[str, set[str]] = defaultdict(set)
    for path in sorted(RECIPES.glob("*/*.toml")):
        for file, check in _files(recipe_values(path)):
            users[file].add(f"{path.parent.name}/{path.stem}")
            found[file] = check, users[file]
    return dict(sorted(found.items()))


def _files(recipe: dict[str, Any]) -> Iterator[tuple[str, Check]]:
    data, retriever = recipe.get("data", {}), recipe.get("retriever", {})
    parts = [
        *(data if isinstance(data, list) else ()),
        *recipe.get("columns", ()),
        *recipe.get("development", ()),
    ]
    parts += [{"name": name, "graph": retriever.get("graph", "")} for name in retriever.get("data", ())]
    for part in parts:
        if part["name"] in DATASETS:
            check: Check = partial(_first, DATASETS[part["name"]])
            yield _asked_for(check), check
        yield from _paths([part.get("graph", ""), *part.get("texts", ())])
    if "task" in recipe:
        for split in ("train", "dev"):
            _, read = LABELLED[recipe["task"]["train"]]
            check = partial(_first, partial(_swapped, read, split))
            yield _asked_for(check), check
    corpus = data if isinstance(data, dict) else {}
    for name in {**corpus.get("sources", {}), **recipe.get("sources", {})}:
        yield f"text/{name}", partial(_text, name)
    yield from _paths([corpus.get("facts", ""), *recipe.get("graphs", ())])
    start = recipe.get("encoder", {}).get("folder", "")
    if start.startswith(WEIGHTS):
        yield start, lambda _data: _there("config.json", ROOT / start)


def _paths(named: list[str]) -> Iterator[tuple[str, Check]]:
    for path in named:
        if path.startswith("$KGQA_DATA/"):
            file = path.removeprefix("$KGQA_DATA/")
            name = file.removesuffix(".zst")
            yield name.removesuffix(".txt") if name.startswith("text/") else name, partial(_there, file)


def _first(read: Callable[[Path], Iterator[Any]], data: Path) -> object:
    return next(iter(read(data)))


def _swapped(read: Callable[[Path, str], Iterator[Any]], split: str, data: Path) -> Iterator[Any]:
    return read(data, split)


def _there(file: str, data: Path) -> object:
    if not (data / file).is_file():
        raise InputError(f"{data / file}: no such file")
    return file


def _text(name: str, data: Path) -> object:
    return _there(str(find_text(data / "text", name).relative_to(data)), data)


def _asked_for(check: Check) -> str:
    """The file that a reader of a published set looks for first."""
    try:
        check(NOWHERE)
    except InputError as missing:
        (file,) = re.findall(r"looked for \S*?nowhere/(.*?)\.zst\)", str(missing))
        return str(file)
    raise AssertionError("a set was read of nowhere")


if __name__ == "__main__":
    folder = data_folder()
    for name, (check, recipes) in wanted().items():
        try:
            check(folder)
            state = "there"
        except InputError:
            state = "MISSING"
        more = f" and {len(recipes) - SHOWN} more" if len(recipes) > SHOWN else ""
        print(f"{state:8} {name:42} {', '.join(sorted(recipes)[:SHOWN])}{more}")

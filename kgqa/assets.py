"""Where shipped and cached things lie, what the environment says about it (the one place that looks), and files that
are replaced whole.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from kgqa.types import InputError

_PACKAGE = Path(__file__).resolve().parent
ROOT = _PACKAGE / "_shipped" if (_PACKAGE / "_shipped").is_dir() else _PACKAGE.parent
"""The checkout, or the part of it that an installed wheel carries."""
GRAPHS = ROOT / "graph_data"
"""Shipped graphs, and examples of one's own in `examples/`."""
RELATIONS = GRAPHS / "relations.toml"
"""Readable names of relations."""
PARAPHRASES = GRAPHS / "paraphrases.toml"
"""Relations in other words, for training."""
INDEXES = GRAPHS / "facts"
"""Indexes of the shipped graphs' facts by meaning."""
MODELS = ROOT / "training" / "models"
"""Shipped readers and encoders, a folder each."""
DEFAULT_READER = "kgqa-base"
"""The reader that answers where none is named."""
SMALLER = "kgqa-small"
"""The one that does so where that is not installed, and that an app offers beside it for slow machines."""
FACT_ENCODER = "kgqa-facts"
"""The encoder by which facts are found by meaning."""
INSTALLED = "kgqa.models"
"""Entry points of packages that bring a model: its name, and the package whose folder holds it."""
RESULTS = ROOT / "training" / "RESULTS.md"
CURVES = ROOT / "training" / "curves.json"
"""Curves of the shipped encoders' pretraining."""
PARTS = ROOT / "training" / "parts.json"
"""What each part of the released reader brings, as measured."""
APP = ROOT / "apps" / "main.py"
RECIPES = ROOT / "training" / "recipes"
"""Recipes of the shipped readers and encoders, and of the comparison."""
GRAPH_SUITE = ROOT / "tests" / "graphs"
"""Graphs in the forms people have them, with questions, for development."""


def cache_folder(kind: str) -> Path:
    """Where things made once are kept: compiled "graphs", retrieved "subgraphs"; within `$XDG_CACHE_HOME/kgqa`."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "kgqa" / kind


def write_whole(path: Path, text: str) -> None:
    """Write a text file whole or not at all, in place of an earlier one, which stands until then."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        os.replace(part, path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise


def feedback_file() -> Path:
    """Where what visitors think of answers is kept: KGQA_FEEDBACK, or `$XDG_DATA_HOME/kgqa/feedback.jsonl`."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(os.environ.get("KGQA_FEEDBACK") or Path(home) / "kgqa" / "feedback.jsonl")


def graph_folders() -> list[Path]:
    """Folders whose graphs can be opened by name, first one first: that named by KGQA_GRAPHS, then the shipped."""
    own = os.environ.get("KGQA_GRAPHS")
    return [Path(own), GRAPHS] if own else [GRAPHS]


def data_folder() -> Path:
    """The folder of the published data sets: what KGQA_DATA names, else ./data."""
    return Path(os.environ.get("KGQA_DATA", "data"))


def precision() -> str:
    """How answers are computed: what KGQA_PRECISION says (bf16, int8, fp32), else "auto"."""
    return os.environ.get("KGQA_PRECISION", "auto")


def trusted_modules() -> set[str]:
    """Modules from which a checkpoint's card may name a reasoner: what KGQA_REASONERS lists, commas between."""
    return {name.strip() for name in os.environ.get("KGQA_REASONERS", "").split(",")} - {""}


def find_model(model: str | Path) -> Path:
    """The folder of a reader given by path or shipped name.

    Raises:
        InputError: there is none.
    """
    names = (DEFAULT_READER, SMALLER) if model == DEFAULT_READER else (str(model),)
    for folder in chain.from_iterable(map(_places, names)):
        if (folder / "reader.json").exists():
            return folder
    shipped = ", ".join(folder.name for folder in shipped_readers())
    raise InputError(f"{model}: no reader here (a folder with reader.json); shipped: {shipped or 'none'}")


def shipped_readers() -> list[Path]:
    """Folders of the readers that are here, by name: those of this package, and those of packages of their own."""
    found = {path.parent.name: path.parent for path in MODELS.glob("*/reader.json")}
    for entry in entry_points(group=INSTALLED):
        for folder in _package_folders(entry.value):
            if (folder / "reader.json").exists():
                found.setdefault(entry.name, folder)
    return [found[name] for name in sorted(found)]


def _places(name: str) -> Iterator[Path]:
    """Where a model may lie: at a path, among those of this package, in a package of its own."""
    yield Path(name)
    yield MODELS / name
    for entry in entry_points(group=INSTALLED, name=name):
        yield from _package_folders(entry.value)


def _package_folders(package: str) -> list[Path]:
    """Folders of an installed package, which is not imported; so none of a package within another."""
    try:
        spec = None if "." in package else find_spec(package)
    except (ImportError, ValueError):
        return []
    return [Path(place) for place in (spec and spec.submodule_search_locations) or ()]


def find_encoder(name: str) -> Path:
    """The folder of an encoder given by path or shipped name.

    Raises:
        InputError: there is none, or its path names an environment variable that is not set.
    """
    name = expanded(name)
    for folder in _places(name):
        if (folder / "config.json").exists():
            return folder
    raise InputError(
        f"{name}: no encoder here (a Hugging Face folder with config.json); run `kgqa pretrain`, or training/start.py "
        "for public weights, first"
    )


def expanded(name: str) -> str:
    """A path or name with the environment's variables put in.

    Raises:
        InputError: a variable is not set.
    """
    found = os.path.expandvars(name)
    if unset := re.search(r"\$(\w+|\{\w+\})", found):
        raise InputError(f"{name}: the environment variable {unset[0]} is not set; see training/DATA.md")
    return found


def data_path(text: str) -> Path:
    """A path of a recipe, in which `$KGQA_DATA` and `~` are replaced.

    Raises:
        InputError: it names an environment variable that is not set.
    """
    return Path(expanded(text)).expanduser()

"""Where shipped and cached things lie, what the environment says about it (the one place that looks), and files that
are replaced whole.
"""

from __future__ import annotations

import difflib
import glob
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from secrets import token_hex

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
"""Indexes of the shipped graphs' facts by dense retrieval."""
MODELS = ROOT / "training" / "models"
"""Shipped readers and encoders, a folder each."""
DEFAULT_READER = "kgqa-base"
"""The reader that answers where none is named."""
SMALLER = "kgqa-small"
"""The one that does so where that is not installed, and that an app offers beside it for slow machines."""
MULTILINGUAL = "kgqa-multi"
"""The reader that answers questions in other languages than English where none is named."""
TRANSLATED = frozenset({"ko"})
"""Languages whose questions are translated for the default reader, and not read by the multilingual one."""
FACT_ENCODER = "kgqa-facts"
"""The encoder by which facts is found by dense retrieval."""
INSTALLED = "kgqa.models"
"""Entry points of packages that bring a model: its name, and the package whose folder holds it."""
CURVES = ROOT / "training" / "curves.json"
"""Curves of the shipped encoders' pretraining."""
PARTS = ROOT / "training" / "parts.json"
"""What each part of the released reader brings, as measured."""
APP = ROOT / "apps" / "main.py"
RECIPES = ROOT / "training" / "recipes"
"""Recipes of the shipped readers and encoders, and of the comparison."""
DATA_SETS = ROOT / "training" / "data"
"""The project's own question sets, a folder with a card each."""
GRAPH_SUITE = ROOT / "tests" / "graphs"
"""Graphs in the forms people have them, with questions, for development."""


def cache_folder(kind: str) -> Path:
    """Where things made once are kept: compiled "graphs", retrieved "subgraphs"; within `$XDG_CACHE_HOME/kgqa`."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "kgqa" / kind


def output_file(path: Path | str, overwrite: bool, *inputs: Path | str) -> Path:
    """The file that an output's path means, links followed: what is written there is a new file or one given up.

    Raises:
        InputError: it is an input, a folder or device, or there already where it is not to be overwritten.
    """
    found = Path(os.path.realpath(path))
    if any(os.path.exists(name) and found.exists() and os.path.samefile(name, found) for name in inputs):
        raise InputError(f"{path}: is the input itself; name another output file")
    if os.path.lexists(found):
        if not found.is_file():
            raise InputError(f"{path}: no regular file; name another output file")
        if not overwrite:
            raise taken(path)
    return found


def taken(path: Path | str) -> InputError:
    """What is said where a file is there that is not ours."""
    return InputError(f"{path}: is there already; name another output, or replace it with --overwrite")


@contextmanager
def replacing(path: Path, overwrite: bool = True) -> Iterator[Path]:
    """A new file beside `path` to write: it is put in its place once the block ends, and removed where that fails.

    What stands at `path` is whole, the old or the new, at every moment, also after a crash of the machine.

    Raises:
        InputError: as `output_file`; or nothing can be written there, as on a full disk.
    """
    target = output_file(path, overwrite)
    try:
        with _beside(target) as part:
            yield part
            put_in_place(part, target, overwrite)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); make room, or name another place"
        ) from None


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A new hidden file, locked as long as this process lives, which tells it from those that killed ones left."""
    name = f".{target.name[:40]}."
    for left in target.parent.glob(f"{glob.escape(name)}????????.part"):
        with suppress(OSError, ImportError), left.open("rb") as file:
            if hold(file.fileno()):
                left.unlink()
    part, handle = _new_file(target.parent, name)
    try:
        with suppress(OSError):
            part.chmod(target.stat().st_mode & 0o777)
        yield part
    finally:
        if handle is not None:
            os.close(handle)
        with suppress(OSError):
            part.unlink()


def _new_file(folder: Path, name: str) -> tuple[Path, int | None]:
    while True:
        part = folder / f"{name}{token_hex(4)}.part"
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            hold(handle)
        except ImportError:  # Windows renames no open file
            os.close(handle)
            return part, None
        if os.fstat(handle).st_nlink:  # else somebody took it for left before it was held
            return part, handle
        os.close(handle)


def hold(handle: int) -> bool:
    """Lock an open file for this process alone; False where another holds it.

    Raises:
        ImportError: the system (Windows) has no such locks.
    """
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def put_in_place(part: Path, target: Path, overwrite: bool = True) -> None:
    """Rename a finished file, on disk before and after.

    Raises:
        InputError: a file has come to be there that is not to be overwritten.
    """
    sync(part)
    if overwrite:
        os.replace(part, target)
    else:
        try:
            os.link(part, target)  # unlike a rename, never in place of another
        except FileExistsError:
            raise taken(target) from None
        except OSError:  # a file system without hard links
            output_file(target, overwrite)
            os.replace(part, target)
        else:
            part.unlink()
    sync(target.parent)


def sync(path: Path) -> None:
    """See that what a file holds is on disk; or which files a folder has, on systems that can be told."""
    if not path.is_dir():
        with path.open("rb+") as file:
            os.fsync(file.fileno())
        return
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_whole(path: Path, text: str) -> None:
    """Write a text file whole or not at all, in place of an earlier one, which stands until then.

    Raises:
        InputError: as `replacing`.
    """
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


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


GET_BASE = "pip install its wheel kgqa_base, or ./training/models of a clone"
"""How the default reader and the encoder of facts are had: they are on no package index."""


@cache
def tell_once(line: str) -> None:
    """Log that something stands in for another: on standard error, unless the program logs elsewhere."""
    logging.getLogger("kgqa").warning(line)


def find_model(model: str | Path) -> Path:
    """The folder of a reader given by path or shipped name. Where the default one is not installed a smaller one stands
    in, and that is told on standard error.

    Raises:
        InputError: there is none.
    """
    names = (DEFAULT_READER, SMALLER) if model == DEFAULT_READER else (str(model),)
    for folder in chain.from_iterable(map(_places, names)):
        if (folder / "reader.json").exists():
            if model == DEFAULT_READER != folder.name.replace("_", "-"):
                tell_once(
                    f"{DEFAULT_READER} is not installed; {folder.name} answers, which knows less; {GET_BASE}"
                )
            return folder
    shipped = [folder.name.replace("_", "-") for folder in shipped_readers()]
    near = difflib.get_close_matches(str(model), shipped, n=1)
    if model == "kgqa-everyday":
        raise InputError(f"kgqa-everyday is no longer shipped; take {SMALLER}")
    hint = f"did you mean {near[0]!r}?" if near else f"shipped: {', '.join(shipped) or 'none'}"
    raise InputError(f"{model or 'the empty name'}: no reader here (a folder with reader.json); {hint}")


def has_model(model: str) -> bool:
    """Whether there is a reader of that shipped name."""
    return any((folder / "reader.json").exists() for folder in _places(model))


def shipped_readers() -> list[Path]:
    """Folders of the readers that are here, by name: those of this package, and those of packages of their own."""
    found = {path.parent.name: path.parent for path in MODELS.glob("*/reader.json")}
    for entry in entry_points(group=INSTALLED):
        for folder in _package_folders(entry.value):
            if (folder / "reader.json").exists():
                found.setdefault(entry.name, folder)
    return [found[name] for name in sorted(found)]


def is_shipped(folder: Path) -> bool:
    """Whether a model's folder came with this package, or with one of the installed packages that bring models."""
    found = folder.resolve()
    brought = (place for entry in entry_points(group=INSTALLED) for place in _package_folders(entry.value))
    return found.parent == MODELS or found in (place.resolve() for place in brought)


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
    shipped = {path.parent.name for path in MODELS.glob("*/config.json")}
    near = difflib.get_close_matches(
        name, shipped | {entry.name for entry in entry_points(group=INSTALLED)}, n=1
    )
    hint = f"did you mean {near[0]!r}?" if near else "`kgqa pretrain` or training/start.py makes one"
    raise InputError(f"{name}: no encoder here (a Hugging Face folder with config.json); {hint}")


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

"""Paths of shipped and cached files, settings from the environment (read only here), and atomic writes."""

from __future__ import annotations

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
from typing import NamedTuple

from kgqa.types import InputError, did_you_mean

_PACKAGE = Path(__file__).resolve().parent
ROOT = _PACKAGE / "_shipped" if (_PACKAGE / "_shipped").is_dir() else _PACKAGE.parent
"""The checkout, or the part of it that an installed wheel contains."""
GRAPHS = ROOT / "graph_data"
"""Shipped graphs, and examples of custom graphs in `examples/`."""
RELATIONS = GRAPHS / "relations.toml"
"""Labels and words of relations."""
PARAPHRASES = GRAPHS / "paraphrases.toml"
"""Paraphrases of relations, for training."""
INDEXES = GRAPHS / "facts"
"""Dense retrieval indexes of the shipped graphs."""
MODELS = ROOT / "training" / "models"
"""Shipped readers and encoders, a folder each."""
DEFAULT_READER = "kgqa-base"
"""The default reader."""
SMALLER = "kgqa-small"
"""The fallback if the default reader is not installed; the app also offers it for slow machines."""
MULTILINGUAL = "kgqa-multi"
"""The default reader for questions in languages other than English."""
FACT_ENCODER = "kgqa-facts"
"""The fact encoder for dense retrieval."""
INSTALLED = "kgqa.models"
"""Entry point group in which packages register a model: its name, and the package whose folder holds it."""
CURVES = ROOT / "training" / "curves.json"
"""Learning curves of the shipped encoders' pretraining."""
PARTS = ROOT / "training" / "parts.json"
"""Measured contribution of each part of the released reader."""
APP = ROOT / "apps" / "main.py"
RECIPES = ROOT / "training" / "recipes"
"""Recipes of the shipped readers and encoders, and of the comparison."""
DATA_SETS = ROOT / "training" / "data"
"""The project's own data sets, each in a folder with a data card."""
GRAPH_SUITE = ROOT / "tests" / "graphs"
"""Graphs in various formats with questions, the development suite."""


class Variable(NamedTuple):
    """An environment variable: what it sets, and its value where it is unset or empty."""

    meaning: str
    default: str = ""


VARIABLES = {
    "KGQA_DATA": Variable("folder of the published data sets", "data"),
    "KGQA_GRAPHS": Variable("folder of your graphs, which can then be opened by name"),
    "KGQA_PRECISION": Variable("precision of inference: bf16, int8, fp32, or auto for the device", "auto"),
    "KGQA_REASONERS": Variable("modules of reasoners, comma-separated; deprecated: use an entry point"),
    "KGQA_API_KEY": Variable("API key for `--server`"),
    "KGQA_MODEL": Variable("reader of the app, set by `kgqa app --model`", DEFAULT_READER),
    "KGQA_GRAPH": Variable("graph of the app, set by `kgqa app --graph`", "everyday"),
    "KGQA_DEVICE": Variable("device of the app, set by `kgqa app --device`", "auto"),
    "KGQA_READERS": Variable("further readers to compare with, set by `kgqa app --reader`"),
    "KGQA_SERVER": Variable("URL of the service that answers for the app, set by `kgqa app --server`"),
    "KGQA_ALLOW_SPARQL": Variable("1: visitors may query endpoints by URL, set by `kgqa app --allow-sparql`"),
    "KGQA_ALLOW_PRIVATE": Variable("1: the app may query SPARQL endpoints at private addresses"),
    "KGQA_FEEDBACK": Variable("file that stores feedback on answers; default: in `XDG_DATA_HOME`"),
    "KGQA_ENCODER": Variable("encoder folder of the Learn page; else kgqa-mini"),
    "KGQA_DISCRIMINATOR": Variable("folder of the ELECTRA discriminator of the Learn page"),
    "KGQA_STORYTELLER": Variable("folder of the causal language model of the Learn page; else kgqa-story"),
    "XDG_CACHE_HOME": Variable("folder of the cache of graphs, subgraphs and indexes", "~/.cache"),
    "XDG_DATA_HOME": Variable("folder of persistent data", "~/.local/share"),
    "OMP_NUM_THREADS": Variable("CPU threads of torch; else 1"),
    "RANK": Variable("rank of this process in distributed training", "0"),
    "RAY_ADDRESS": Variable("Ray cluster of `kgqa predict --engine ray`; else this machine"),
    "PROMETHEUS_MULTIPROC_DIR": Variable("folder with the metrics of all processes, set by `kgqa serve`"),
    "DISPLAY": Variable("X display on which a browser can be opened"),
    "WAYLAND_DISPLAY": Variable("the same for Wayland"),
}
"""All environment variables that kgqa and its app read."""


def setting(name: str) -> str:
    """The value of one of the `VARIABLES`, or its default."""
    return os.environ.get(name) or VARIABLES[name].default


def cache_folder(kind: str) -> Path:
    """Cache folder for a kind of files ("graphs", "subgraphs"), in `$XDG_CACHE_HOME/kgqa`."""
    return Path(setting("XDG_CACHE_HOME")).expanduser() / "kgqa" / kind


def output_file(path: Path | str, overwrite: bool, *inputs: Path | str) -> Path:
    """An output path with links resolved, after checking that it is new or may be overwritten.

    Raises:
        InputError: it is an input, a folder or a device, or it exists and may not be overwritten.
    """
    found = Path(os.path.realpath(path))
    if any(os.path.exists(name) and found.exists() and os.path.samefile(name, found) for name in inputs):
        raise InputError(f"{path}: is the input itself; choose another output file")
    if os.path.lexists(found):
        if not found.is_file():
            raise InputError(f"{path}: not a regular file; choose another output file")
        if not overwrite:
            raise taken(path)
    return found


def taken(path: Path | str) -> InputError:
    """The error for an output that exists already."""
    return InputError(f"{path}: exists already; choose another output, or replace it with --overwrite")


@contextmanager
def replacing(path: Path, overwrite: bool = True) -> Iterator[Path]:
    """Context with a new file next to `path`: it replaces `path` when the block ends, and is removed if the block
    fails.

    At any time, `path` is either the complete old or the complete new file, even after a crash of the machine.

    Raises:
        InputError: as `output_file`; or nothing can be written there, such as on a full disk.
    """
    target = output_file(path, overwrite)
    try:
        with _beside(target) as part:
            yield part
            put_in_place(part, target, overwrite)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); make room, or choose another place"
        ) from None


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A new hidden file next to `target`, locked until closed; unlocked ones of killed processes are deleted."""
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
        except ImportError:  # Windows cannot rename open files
            os.close(handle)
            return part, None
        # no link left: before it was locked, another process took it for a leftover and removed it
        if os.fstat(handle).st_nlink:
            return part, handle
        os.close(handle)


def hold(handle: int) -> bool:
    """Lock an open file exclusively; False if another process holds the lock.

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
    """Rename a finished file to `target`; the file is flushed to disk before, the folder after.

    Raises:
        InputError: a file that may not be overwritten has appeared meanwhile.
    """
    sync(part)
    if overwrite:
        os.replace(part, target)
    else:
        try:
            os.link(part, target)  # unlike a rename, it fails if the target exists
        except FileExistsError:
            raise taken(target) from None
        except OSError:  # a file system without hard links
            output_file(target, overwrite)
            os.replace(part, target)
        else:
            part.unlink()
    sync(target.parent)


def sync(path: Path) -> None:
    """Flush a file to disk; or the entries of a folder, on systems that support it."""
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
    """Write a text file atomically, replacing an earlier one.

    Raises:
        InputError: as `replacing`.
    """
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def feedback_file() -> Path:
    """File of visitors' feedback on answers: KGQA_FEEDBACK, or `$XDG_DATA_HOME/kgqa/feedback.jsonl`."""
    return Path(setting("KGQA_FEEDBACK") or f"{setting('XDG_DATA_HOME')}/kgqa/feedback.jsonl").expanduser()


def graph_folders() -> list[Path]:
    """Folders whose graphs can be opened by name, by precedence: KGQA_GRAPHS, then the shipped ones."""
    own = setting("KGQA_GRAPHS")
    return [Path(own), GRAPHS] if own else [GRAPHS]


def data_folder() -> Path:
    """The folder of the published data sets: KGQA_DATA, else ./data."""
    return Path(setting("KGQA_DATA"))


def trusted_modules() -> set[str]:
    """Modules from which a checkpoint's card may import a reasoner: KGQA_REASONERS, comma-separated (deprecated)."""
    names = {name.strip() for name in setting("KGQA_REASONERS").split(",")} - {""}
    if names:
        warn_once("KGQA_REASONERS is deprecated; use an entry point of kgqa.reasoners (docs/extend.md)")
    return names


GET_BASE = "pip install the wheel kgqa_base, or ./training/models of a clone"
"""How to install the default reader and the fact encoder, which are on no package index."""


@cache
def warn_once(line: str) -> None:
    """Log a warning once: on standard error, unless the program configures logging."""
    logging.getLogger("kgqa").warning(line)


def find_model(model: str | Path) -> Path:
    """The folder of a reader given by path or shipped name. If the default reader is not installed, the fallback is
    used, with a warning.

    Raises:
        InputError: there is no such reader.
    """
    names = (DEFAULT_READER, SMALLER) if model == DEFAULT_READER else (str(model),)
    for folder in chain.from_iterable(map(_places, names)):
        if (folder / "reader.json").exists():
            if model == DEFAULT_READER != folder.name.replace("_", "-"):
                warn_once(f"{DEFAULT_READER} is not installed; the smaller {folder.name} is used; {GET_BASE}")
            return folder
    shipped = [folder.name.replace("_", "-") for folder in shipped_readers()]
    if model == "kgqa-everyday":
        raise InputError(f"kgqa-everyday is no longer shipped; use {SMALLER}")
    known = f"shipped: {', '.join(shipped) or 'none'}"
    hint = _export_in(model, "reader.json") or did_you_mean(str(model), shipped, known)
    if any((folder / "config.json").is_file() for folder in _places(str(model))):
        hint = f"it is an encoder: encoder.folder={model} in a recipe of `kgqa train` makes a reader of it"
    raise InputError(f"{model or 'the empty name'}: not a reader (a folder with reader.json); {hint}")


def _export_in(run: str | Path, file: str) -> str:
    """Remedy for the folder of a training run in place of its model; "" for any other."""
    return f"did you mean {Path(run) / 'export'}?" if (Path(run) / "export" / file).is_file() else ""


def has_model(model: str) -> bool:
    """Whether a reader with that shipped name is installed."""
    return any((folder / "reader.json").exists() for folder in _places(model))


def shipped_readers() -> list[Path]:
    """Folders of the installed readers by name: in this package, and in packages of their own."""
    found = {path.parent.name: path.parent for path in MODELS.glob("*/reader.json")}
    for entry in entry_points(group=INSTALLED):
        for folder in _package_folders(entry.value):
            if (folder / "reader.json").exists():
                found.setdefault(entry.name, folder)
    return [found[name] for name in sorted(found)]


def is_shipped(folder: Path) -> bool:
    """Whether a model's folder belongs to this package, or to an installed package with models."""
    found = folder.resolve()
    brought = (place for entry in entry_points(group=INSTALLED) for place in _package_folders(entry.value))
    return found.parent == MODELS or found in (place.resolve() for place in brought)


def _places(name: str) -> Iterator[Path]:
    """Possible folders of a model: a path, in this package, in a package of its own."""
    yield Path(name)
    yield MODELS / name
    for entry in entry_points(group=INSTALLED, name=name):
        yield from _package_folders(entry.value)


def _package_folders(package: str) -> list[Path]:
    """Folders of an installed top-level package, found without importing it."""
    try:
        spec = None if "." in package else find_spec(package)
    except (ImportError, ValueError):
        return []
    return [Path(place) for place in (spec and spec.submodule_search_locations) or ()]


def find_encoder(name: str) -> Path:
    """The folder of an encoder given by path or shipped name.

    Raises:
        InputError: there is none, or its path contains an environment variable that is not set.
    """
    name = expanded(name)
    for folder in _places(name):
        if (folder / "config.json").exists():
            return folder
    shipped = {path.parent.name for path in MODELS.glob("*/config.json")}
    shipped |= {entry.name for entry in entry_points(group=INSTALLED)}
    known = "`kgqa pretrain` trains one, training/start.py downloads one"
    hint = _export_in(name, "config.json") or did_you_mean(name, shipped, known)
    raise InputError(f"{name}: not an encoder (a Hugging Face folder with config.json); {hint}")


def expanded(name: str) -> str:
    """A path or name with environment variables expanded.

    Raises:
        InputError: a variable is not set.
    """
    found = os.path.expandvars(name)
    if unset := re.search(r"\$(\w+|\{\w+\})", found):
        raise InputError(f"{name}: the environment variable {unset[0]} is not set; see training/DATA.md")
    return found


def model_folder(text: str) -> Path:
    """The folder of a model or tokenizer in a recipe: a path as `data_path` expands it, or a shipped name."""
    path = data_path(text)
    return next((folder for folder in _places(str(path)) if folder.is_dir()), path)


def data_path(text: str) -> Path:
    """A path of a recipe, with `$KGQA_DATA` and `~` expanded.

    Raises:
        InputError: it contains an environment variable that is not set.
    """
    return Path(expanded(text)).expanduser()

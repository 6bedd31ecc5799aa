"""What a run is made of, kept in its folder: settings and content hashes, so that no other run is taken for it."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterable, Mapping
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from kgqa.assets import write_whole
from kgqa.types import Example, InputError

FILE = "made_of.json"
BUDGET = ("max_steps", "max_minutes", "max_tokens", "patience", "threads", "compile")
EVERY = ("log_every_steps", "save_every_minutes", "evaluate_every_steps")
FREE = frozenset(f"trainer.{key}" for key in (*BUDGET, *EVERY)) | {"name", "task.epochs"}
"""Settings that may differ when a run goes on."""
OWN = ("recipe.json", "log.jsonl", "latest*", "best*", "stable*", "export*")
"""What a run writes over, or removes, in its folder."""
MADE = ("latest.json", "*/outcomes.json")
"""What a run leaves: before there is any, its folder is anybody's."""


def fingerprint(things: Iterable[object]) -> str:
    """Hash of files by their content, of all else by how it is written."""
    digest = blake2b(digest_size=12)
    for thing in things:
        if isinstance(thing, Path):
            with thing.open("rb") as file:
                digest.update(file_digest(file, lambda: blake2b(digest_size=12)).digest())
        else:
            digest.update(repr(thing).encode() + b"\0")
    return digest.hexdigest()


def questions_hash(examples: Iterable[Example]) -> str:
    """Hash of questions with their answers."""
    return fingerprint(
        (e.question.text, e.question.choices, e.question.passage_text, e.source, e.golds, e.kind)
        for e in examples
    )


def weights_of(folders: Iterable[Path]) -> str:
    """Hash of all weights and tokenizers of models' folders."""
    kept = ("*.safetensors", "tokenizer.json")
    return fingerprint(path for folder in folders for kind in kept for path in sorted(folder.glob(kind)))


def claim(folder: Path, recipe: BaseModel, **hashes: str) -> None:
    """Write what a run is made of into its folder; refuse a folder in which another run was made.

    Called once what a recipe leaves open is set (sizes of vectors). Budgets may grow, and what changes nothing about
    the outcome may change; so may what either side does not tell of.

    Raises:
        InputError: the folder holds another run, or what no run wrote, or what tells of it is damaged.
    """
    path, own = folder / FILE, {**hashes, **flat(recipe.model_dump(mode="json"))}
    others = [found for kind in OWN for found in folder.glob(kind)]
    if others and not path.is_file():
        raise InputError(f"{others[0]}: no training left it, and one would replace it; take another --out")
    earlier: dict[str, Any] = {}
    if path.is_file() and any(any(folder.glob(kind)) for kind in MADE):
        try:
            earlier = dict(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError, RecursionError):
            raise InputError(f"{path}: damaged; remove it to go on with this recipe regardless") from None
    refuse_other(folder, earlier, own, f"take another --out, or remove {path} to go on regardless")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps({**earlier, **own}, indent=1) + "\n")


def refuse_other(folder: Path, earlier: Mapping[str, Any], own: Mapping[str, Any], remedy: str) -> None:
    """Raise InputError at the first thing that `folder` was made of and that is otherwise here."""
    for key, value in own.items():
        if key in earlier and earlier[key] != value and key not in FREE:
            raise InputError(
                f"{folder}: was made with {key}={reprlib.repr(earlier[key])}, the recipe says "
                f"{reprlib.repr(value)}; {remedy}"
            )


def flat(values: Any, prefix: str = "") -> dict[str, Any]:
    """Settings by their dotted names, places of a list as numbers.

    >>> flat({"data": [{"name": "a"}], "seed": 0})
    {'data.count': 1, 'data.0.name': 'a', 'seed': 0}
    """
    if isinstance(values, list):
        values = {"count": len(values), **dict(enumerate(values))}
    if not isinstance(values, dict):
        return {prefix.rstrip("."): values}
    return {k: v for name, inner in values.items() for k, v in flat(inner, f"{prefix}{name}.").items()}

"""Checkpoints that survive `kill -9`: written to a new folder, then activated by one atomic rename. No pickle."""

from __future__ import annotations

import json
import os
import reprlib
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel
from safetensors import SafetensorError
from safetensors.torch import load_file, load_model, save_file, save_model
from torch import nn

from kgqa.fingerprint import fingerprint
from kgqa.objectives.base import Objective
from kgqa.settings import sync, write_whole
from kgqa.types import Example, InputError, report_damage

# The inputs of a run (settings and content hashes) are stored in its folder, so that a different run cannot resume it.


FILE = "made_of.json"
BUDGET = ("max_steps", "max_minutes", "max_tokens", "patience", "threads", "compile")
EVERY = ("log_every_steps", "save_every_minutes", "evaluate_every_steps")
FREE = frozenset(f"trainer.{key}" for key in (*BUDGET, *EVERY)) | {"name", "task.epochs"}
"""Settings that may differ when a run is resumed."""
CONTENT = {
    "asked": "questions",
    "examples": "examples",
    "texts": "texts",
    "graphs": "graphs",
    "weights": "weights or tokenizers",
    "corpus": "corpus",
}
"""Inputs of a run that are compared by a hash, and what it is of."""
OWN = ("recipe.json", "log.jsonl", "latest*", "best*", "stable*", "export*")
"""Files that a run overwrites or removes in its folder."""
MADE = ("latest.json", "*/outcomes.json")
"""Files that show that a run has made progress; before, another run may take over its folder."""


def questions_hash(examples: Iterable[Example]) -> str:
    """Hash of questions with their answers."""
    return fingerprint(
        *(
            (e.question.text, e.question.choices, e.question.passage_text, e.source, e.golds, e.kind)
            for e in examples
        )
    )


def weights_of(folders: Iterable[Path]) -> str:
    """Hash of all weights and tokenizers in model folders."""
    kept = ("*.safetensors", "tokenizer.json")
    return fingerprint(*(path for folder in folders for kind in kept for path in sorted(folder.glob(kind))))


def claim(folder: Path, recipe: BaseModel, **hashes: str) -> None:
    """Write the inputs of a run and its resolved recipe into its folder. Raises InputError for a folder of another run.

    It is called after values that the recipe leaves open (dimensions of vectors) are set. Budgets may differ, as may
    settings that do not affect the result, and keys that only one of the two runs has.
    """
    path, own = folder / FILE, {**flat(recipe.model_dump(mode="json")), **hashes}
    others = [found for kind in OWN for found in folder.glob(kind)]
    if others and not path.is_file():
        raise InputError(
            f"{others[0]}: is not from a training run, and would be overwritten; use another --out"
        )
    earlier: dict[str, Any] = {}
    if path.is_file() and any(any(folder.glob(kind)) for kind in MADE):
        with report_damage(f"{path}: damaged", "remove it to resume with this recipe anyway"):
            earlier = dict(json.loads(path.read_text(encoding="utf-8")))
    refuse_other(folder, earlier, own, f"use another --out, or remove {path} to resume anyway")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps({**earlier, **own}, indent=1) + "\n")
    write_whole(folder / "recipe.json", recipe.model_dump_json(indent=2) + "\n")


def refuse_other(folder: Path, earlier: Mapping[str, Any], own: Mapping[str, Any], remedy: str) -> None:
    """Raise InputError for the first input of the run in `folder` that differs from this one."""
    for key, value in own.items():
        if key in earlier and earlier[key] != value and key not in FREE:
            was, now = f"{key}={reprlib.repr(earlier[key])}", f"the recipe has {reprlib.repr(value)}"
            if key in CONTENT:
                was, now = f"other {CONTENT[key]}", "or these have changed since"
            raise InputError(f"{folder}: was trained with {was}, {now}; {remedy}")


def flat(values: Any, prefix: str = "") -> dict[str, Any]:
    """Settings by dotted names, with indices for the items of a list.

    >>> flat({"data": [{"name": "a"}], "seed": 0})
    {'data.count': 1, 'data.0.name': 'a', 'seed': 0}
    """
    if isinstance(values, list):
        values = {"count": len(values), **dict(enumerate(values))}
    if not isinstance(values, dict):
        return {prefix.rstrip("."): values}
    return {k: v for name, inner in values.items() for k, v in flat(inner, f"{prefix}{name}.").items()}


WEIGHTS, OPTIMIZER, STATE = "weights.safetensors", "optimizer.safetensors", "state.json"


def save_checkpoint(
    folder: Path,
    name: str,
    model: nn.Module,
    optimizers: Sequence[torch.optim.Optimizer],
    state: dict[str, Any],
) -> None:
    """Write the checkpoint `name` (latest, best, stable) of a run.

    The files are written to a new folder; then the pointer `<name>.json` is replaced atomically, so that it always
    names a complete checkpoint. Older folders are removed last, including one of the same step.
    """
    target = folder / f"{name}-{state['step']:08d}"
    if target == find_checkpoint(folder, name):
        target = target.with_name(f"{target.name}-again")

    def write(fresh: Path) -> None:
        save_model(model, str(fresh / WEIGHTS))
        save_file(_flatten(optimizers), fresh / OPTIMIZER)
        (fresh / STATE).write_text(json.dumps(state), encoding="utf-8")

    swap_folder(target, write)
    write_whole(folder / f"{name}.json", json.dumps({"folder": target.name}))
    for old in folder.glob(f"{name}-*"):
        if old != target:
            shutil.rmtree(old, ignore_errors=True)


def find_checkpoint(folder: Path, name: str = "latest") -> Path | None:
    """The folder of the checkpoint `name`; None if there is none yet."""
    pointer = folder / f"{name}.json"
    if not pointer.is_file():
        return None
    with report_damage(f"{pointer}: damaged", "remove it to start over"):
        found = folder / Path(json.loads(pointer.read_text(encoding="utf-8"))["folder"]).name
    return found if found.is_dir() else None


def load_checkpoint(
    folder: Path, model: nn.Module, optimizers: Sequence[torch.optim.Optimizer]
) -> dict[str, Any]:
    """Restore model and optimizers in place from a checkpoint folder; returns the state of the run."""
    try:
        state: dict[str, Any] = json.loads((folder / STATE).read_text(encoding="utf-8"))
        load_model(model, str(folder / WEIGHTS))
        state.pop("optimizer", None)  # of earlier versions, always empty
        _restore(optimizers, load_file(folder / OPTIMIZER))
    except (OSError, RuntimeError, LookupError, TypeError, ValueError, SafetensorError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[-1].strip()
        raise InputError(
            f"{folder}: damaged, or from another recipe ({reason}); use another run folder"
        ) from None
    return state


def export_best(folder: Path, objective: Objective) -> None:
    """Load the best checkpoint of a run, if there is one, into an objective, and export it."""
    from accelerate import PartialState

    best = find_checkpoint(folder, "best")
    if best:
        load_model(objective, str(best / WEIGHTS))
        if PartialState().is_main_process:
            swap_folder(folder / "export", objective.export)


def swap_folder(target: Path, write: Callable[[Path], None]) -> None:
    """Write a folder next to `target`, then replace `target` by it."""
    part, old = target.with_name(target.name + ".part"), target.with_name(target.name + ".old")
    if old.exists() and not target.exists():  # killed between the two renames
        os.replace(old, target)
    for leftover in (part, old):
        shutil.rmtree(leftover, ignore_errors=True)
    part.mkdir(parents=True)
    write(part)
    for path in part.rglob("*"):
        sync(path)
    if target.exists():
        os.replace(target, old)
    os.replace(part, target)
    sync(target.parent)
    shutil.rmtree(old, ignore_errors=True)


def _flatten(optimizers: Sequence[torch.optim.Optimizer]) -> dict[str, torch.Tensor]:
    """The state of optimizers, all of which is tensors."""
    return {
        f"{number}.{index}.{key}": value.detach().contiguous()
        for number, optimizer in enumerate(optimizers)
        for index, entries in optimizer.state_dict()["state"].items()
        for key, value in entries.items()
    }


def _restore(optimizers: Sequence[torch.optim.Optimizer], tensors: dict[str, torch.Tensor]) -> None:
    for number, optimizer in enumerate(optimizers):
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in tensors.items():
            owner, index, key = name.split(".", 2)
            if int(owner) == number:
                state.setdefault(int(index), {})[key] = value
        groups = optimizer.state_dict()["param_groups"]
        optimizer.load_state_dict({"state": state, "param_groups": groups})

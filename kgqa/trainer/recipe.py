"""Recipes: TOML files with `key=value` overrides, validated by frozen models; errors name the nearest known key.

A path is relative to the recipe if it exists there; else it is a name, or relative to the working directory. A recipe
may change another, its `base`.
"""

from __future__ import annotations

import difflib
import reprlib
import tomllib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo

from kgqa.renamed import current_keys, print_renamed
from kgqa.types import InputError

RecipeModel = TypeVar("RecipeModel", bound=BaseModel)
LONGEST_KEY = 200
"""Maximum number of characters of a key that are repeated in an error message."""


def _beside(name: str, info: ValidationInfo) -> str:
    """Resolve a path or a pattern relative to the recipe, if something exists there."""
    folder: Path | None = (info.context or {}).get("folder")
    if folder is None or not name or name.startswith(("$", "~")) or Path(name).is_absolute():
        return name
    place = folder / name
    if place.exists() or (any(mark in place.name for mark in "*?[") and any(place.parent.glob(place.name))):
        return str(place)
    return name


RecipePath = Annotated[str, AfterValidator(_beside)]
"""A name or a path in a recipe."""


class Settings(BaseModel):
    """Base of settings in a recipe: frozen, and unknown keys are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TrainerSettings(Settings):
    """Settings of a training run, which ends when the first of the given budgets is spent."""

    max_steps: int | None = Field(default=None, ge=1)
    """Optimizer steps."""
    max_minutes: float | None = Field(default=None, gt=0)
    """Wall-clock time of training, summed over resumed runs."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Number of tokens of all batches, padding included."""
    gradient_accumulation: int = Field(default=1, ge=1)
    """Number of batches per optimizer step and device."""
    optimizer: Literal["adamw", "muon"] = "adamw"
    """With muon, the weight matrices of layers are trained by Muon, the rest by AdamW."""
    learning_rate: float = Field(default=1e-3, gt=0)
    encoder_learning_rate: float | None = Field(default=None, gt=0)
    """Learning rate of the encoder, if it differs."""
    weight_decay: float = Field(default=0.01, ge=0)
    betas: tuple[float, float] = (0.9, 0.98)
    warmup: float = Field(default=0.02, ge=0, le=1)
    """Share of the budget for warm-up of the learning rate."""
    schedule: Literal["linear", "wsd", "constant"] = "linear"
    """After the warm-up: linear decay to zero; or constant, then decay in the last `decay` (wsd); or constant."""
    decay: float = Field(default=0.25, gt=0, le=1)
    """Share of the budget in which `wsd` decays."""
    clip: float = Field(default=1.0, ge=0)
    """Maximum gradient norm; 0: no clipping."""
    precision: Literal["bf16", "fp32"] = "bf16"
    compile: bool = False
    """Whether to `torch.compile` the objective on a GPU, or its Transformer layers on a CPU, for batches of one
    shape (pretraining)."""
    seed: int = 0
    log_every_steps: int = Field(default=50, ge=1)
    save_every_minutes: float = Field(default=5.0, gt=0)
    evaluate_every_steps: int = Field(default=500, ge=1)
    patience: int | None = Field(default=None, ge=1)
    """Stop after this number of evaluations without a better `best_metric`."""
    best_metric: str = "loss"
    """Metric that selects the best checkpoint; metrics whose names begin with `loss` are minimized."""
    threads: int | None = Field(default=None, ge=1)
    """Number of CPU threads; None: unchanged."""


def recipe_values(path: Path) -> dict[str, Any]:
    """The values of a TOML file. A key `base` names a recipe beside it, whose values hold where the file has none.
    Raises InputError if there is no such file, or it is not TOML.
    """
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        base = values.pop("base", None)
        return values if base is None else _changed(recipe_values(Path(path).parent / str(base)), values)
    except RecursionError:
        raise InputError(f"{path}: tables, lists or bases nested too deeply; flatten them") from None
    except OSError as error:
        raise InputError(f"{path}: cannot read the recipe ({error.strerror}); see training/recipes") from None
    except ValueError as error:  # invalid TOML or UTF-8, or an integer with thousands of digits
        raise InputError(f"{path}: not TOML: {error}") from None


def _changed(values: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """`values` with `changes`; tables are merged, all else is replaced."""
    both = [key for key in changes if isinstance(changes[key], dict) and isinstance(values.get(key), dict)]
    return {**values, **changes, **{key: _changed(values[key], changes[key]) for key in both}}


def load_recipe(path: Path, overrides: Sequence[str], model: type[RecipeModel]) -> RecipeModel:
    """A recipe from a TOML file, changed by `table.key=value` overrides (values in TOML, bare words allowed). Raises
    InputError for no such file, no TOML, an unknown key (the nearest is named), or a value out of range.
    """
    values = recipe_values(path)
    return checked_recipe(values, overrides, model, str(path), Path(path).absolute().parent)


def checked_recipe(
    values: dict[str, Any],
    overrides: Sequence[str],
    model: type[RecipeModel],
    name: str,
    folder: Path | None = None,
) -> RecipeModel:
    """A recipe from its values and overrides, checked as by `load_recipe`; `name` is for error messages, paths are
    tried in `folder` first."""
    for override in overrides:
        _override(values, override)
    try:
        values = current_keys(values, print_renamed(f"{name}: "))
        return model.model_validate(values, context={"folder": folder})
    except ValidationError as error:
        raise InputError(f"{name}: {_explain(error, model)}") from None
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except RecursionError:
        raise InputError(f"{name}: tables and lists nested too deeply; flatten them") from None


def _override(values: dict[str, Any], override: str) -> None:
    name, equals, text = override.partition("=")
    keys = name.strip().split(".")
    if not equals or not all(keys):
        raise InputError(f"override {override!r}: expected key=value, such as trainer.max_steps=50")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        value = text.strip()
    except RecursionError:
        raise InputError(f"override {name!r}: nested too deeply") from None
    place: Any = values
    for number, key in enumerate(keys):
        index: int | str = key
        if isinstance(place, list):
            if not key.isdecimal() or int(key) >= len(place):
                raise InputError(f"override {override!r}: {key!r} is not an index below {len(place)}")
            index = int(key)
        elif isinstance(place, dict):
            place.setdefault(key, {})
        else:
            raise InputError(f"override {override!r}: {'.'.join(keys[:number])} is a value, not a table")
        if number == len(keys) - 1:
            place[index] = value
        place = place[index]


def _explain(error: ValidationError, model: type[BaseModel]) -> str:
    errors = error.errors()  # unknown keys first: a misspelt key may be why another is missing
    first = next((one for one in errors if one["type"] == "extra_forbidden"), errors[0])
    place = ".".join(str(part) for part in first["loc"])
    place = place if len(place) <= LONGEST_KEY else f"{place[:LONGEST_KEY]}..."
    if first["type"] == "missing":
        return f"{place!r} is missing, which is required; see training/recipes"
    if first["type"] == "value_error":  # raised by a validator over several keys
        return f"{place}: {first['ctx']['error']}" if place else str(first["ctx"]["error"])
    if first["type"] != "extra_forbidden":
        quote = f"; quote a text: '{place}=\"...\"'" if first["type"] == "string_type" else ""
        return f"{place}: {first['msg']} (given {reprlib.repr(first['input'])}){quote}"
    *parents, key = first["loc"]
    known = _fields(model, parents)
    near = difflib.get_close_matches(str(key), known, n=1)
    return f"unknown key {place!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def unknown_keys(values: object, *models: type[BaseModel]) -> list[str]:
    """Keys of a recipe, including nested tables, that none of the models has."""
    if isinstance(values, list):
        return [key for value in values for key in unknown_keys(value, *models)]
    if not isinstance(values, dict) or not models:
        return []
    fields = {name: field for model in models for name, field in model.model_fields.items()}
    within = (unknown_keys(values[key], *_models(fields[key].annotation)) for key in values if key in fields)
    return [*(key for key in values if key not in fields), *chain.from_iterable(within)]


def _fields(model: Any, parents: Sequence[int | str]) -> list[str]:
    """Keys that a model allows in the table at `parents`."""
    found = [model]
    for parent in parents:
        inner: list[Any] = []
        for candidate in found:
            if isinstance(parent, int):
                inner.append(candidate)
            elif parent in getattr(candidate, "model_fields", {}):
                inner.extend(_models(candidate.model_fields[parent].annotation))
        found = inner or found
    return [name for candidate in found for name in getattr(candidate, "model_fields", {})]


def _models(annotation: Any) -> list[Any]:
    """The models in a type annotation, such as that of a list or an optional table."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]

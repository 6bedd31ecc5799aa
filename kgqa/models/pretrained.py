"""Folders of models, whoever made them: configurations and weights are read as data, never run, and damage is told.

Weights may be stored in 8 bits: each row of a matrix as integers with a scale of its own, all else in half precision
(absolute-maximum quantisation by row: Dettmers et al., 2022, section 2). Word embeddings that came in 4 bits and were
not trained stay so: blocks of 32 numbers of a row, each a scale and integers from -8 to 7.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from kgqa.settings import write_whole
from kgqa.types import InputError, first_line

CARD = "reader.json"
FACT_ENCODER_CARD = "retriever.json"
"""What the folder of a fact encoder says of it: its recipe, and the checksums of the other files."""
WEIGHTS = "model.safetensors"
POOLER = "pooler."
"""In the name of weights that no reader reads."""
_DATA: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
_READ = ("config.json", "tokenizer.json", "tokenizer_config.json", "*.index.json", "*.safetensors")
_OLDER = frozenset(
    {
        "num_labels",
        "rope_theta",
        "rope_scaling",
        "global_rope_theta",
        "local_rope_theta",
        "partial_rotary_factor",
    }
)
"""What configurations said before, and transformers still understands."""
_TABLES = frozenset({"id2label", "label2id", "rope_parameters", "rope_scaling"})
"""Fields of a configuration that are tables."""
SCALE = "::scale"
"""Ends the name of the scales of a matrix: (rows,) of one in 8 bits, (rows, blocks) of one in 4."""
BLOCK = 32
"""Numbers that share a scale in 4 bits."""


def unpacked(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights in float32 from what `training/pack.py` gave, or from any weights in half or whole precision.

    Raises:
        KeyError: a matrix in 8 bits has no scales.
        ValueError: it has too many or too few, or some weights are no numbers.
    """
    state: dict[str, Tensor] = {}
    for name, value in stored.items():
        if name.endswith(SCALE):
            continue
        if value.dtype is torch.int8:
            scale = stored[name + SCALE]
            if scale.shape != value.shape[:1]:
                raise ValueError(f"{name} has scales of another shape")
            state[name] = value.float().mul_(scale.float().unsqueeze(1))
        elif value.dtype is torch.uint8:
            state[name] = from_four_bits(value, stored[name + SCALE])
        else:
            state[name] = value.float() if value.is_floating_point() else value
        # integers are finite, and so are their products with finite scales in half precision
        stored_value = stored[name + SCALE] if value.dtype in (torch.int8, torch.uint8) else value
        if not stored_value.isfinite().all():
            raise ValueError(f"{name} holds what is no number")
    return state


def from_four_bits(stored: Tensor, scale: Tensor) -> Tensor:
    """The matrix (rows, columns) stored in 4 bits by `training/pack.py`; raises ValueError where the two do not fit."""
    if scale.shape != (len(stored), stored.shape[1] * 2 // BLOCK):
        raise ValueError("scales of another shape")
    halves = stored.reshape(*scale.shape, BLOCK // 2)
    whole = torch.cat([halves & 15, halves >> 4], dim=2).float().sub_(8)
    return whole.mul_(scale.float().unsqueeze(2)).reshape(len(stored), -1)


def is_packed(folder: Path, name: str) -> bool:
    """Whether weights are stored in 8 bits."""
    index = folder / f"{name}.index.json"
    return index.exists() and json.loads(index.read_text(encoding="utf-8"))["metadata"].get("bits") == 8


def load_weights(folder: Path, name: str) -> dict[str, Tensor]:
    """Weights in float32 from one file or from parts, in whatever precision they are stored.

    Raises what `json`, `safetensors` and the file system raise where a file is damaged or missing.
    """
    from safetensors.torch import load_file

    index, files = folder / f"{name}.index.json", [name]
    if index.exists():
        files = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    stored: dict[str, Tensor] = {}
    for file in files:
        stored |= load_file(folder / Path(file).name)
    return unpacked(stored)


def check_regular(folder: Path) -> None:
    """Raise InputError where a folder holds a device, a pipe or a link to nowhere, which would be read without end."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not (path.is_file() or path.is_dir()):
            raise InputError(f"{path}: no regular file; copy the model again")


def load_config(folder: Path) -> Any:
    """The configuration of a Hugging Face folder: numbers, and what its own class names, as words.

    All else is left out, since transformers would fetch and run some of it: attention kernels, quantisers, backbones.
    """
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    check_regular(folder)
    try:
        config_values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        kind = str(config_values["model_type"])
        if kind not in CONFIG_MAPPING:
            raise OSError(f"model_type {kind} is not known, and custom code is not run")
        made: Any = CONFIG_MAPPING[kind]
        allowed = {field.name for field in fields(made)} | set(made.attribute_map) | _OLDER
        kept = {
            name: value
            for name, value in config_values.items()
            if (name in allowed or _is_number(name, value)) and _is_plain(name, value)
        }
        return made(**kept)
    except Exception as error:  # each class checks its fields in its own way
        raise InputError(f"{folder}: not a whole model ({first_line(error, 300)}); copy it again") from error


def _is_number(name: str, value: Any) -> bool:
    """Whether a field is a size or a switch, as those are that older versions named otherwise."""
    return isinstance(value, (bool, int, float)) and not name.startswith("_")


def _is_plain(name: str, value: Any) -> bool:
    """Whether a field of a configuration says something of the network, and nothing of what to fetch or run."""
    if name == "dtype" or "backbone" in name:  # in which precision is ours to say
        return False
    if isinstance(value, dict):
        return name in _TABLES
    return not (isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value))


def load_pretrained(auto: Any, folder: Path, **how: Any) -> Any:
    """What a class of transformers loads from a folder, its weights from safetensors alone."""
    try:
        check_regular(folder)
        if (folder / "adapter_config.json").exists():
            raise OSError("it holds an adapter beside a model that would be fetched")
        if not is_packed(folder, WEIGHTS):
            how.setdefault("config", load_config(folder))
            if not any(folder.glob("*.safetensors")) and any(folder.glob("*.bin")):
                raise InputError(
                    f"{folder}: its weights are pickled, which may run code, and are not read; "
                    "save_pretrained(...) of transformers writes them as safetensors"
                )
            return auto.from_pretrained(folder, **_DATA, use_safetensors=True, **how)
        if how.pop("output_loading_info", False):
            raise OSError("it holds an encoder alone")
        how.pop("dtype", None)
        model = from_config(auto, how.pop("config", None) or load_config(folder), **how)
        load_into(model, folder)
        return model.eval()
    except InputError:
        raise
    except Exception as error:  # a damaged folder may fail anywhere in the encoder's own code
        raise InputError(f"{folder}: not a whole model ({first_line(error, 300)}); copy it again") from error


def load_into(model: Any, folder: Path) -> None:
    """Give a model the weights of a folder; those of a pooler may be missing, or too many: nobody reads them."""
    absent, more = model.load_state_dict(load_weights(folder, WEIGHTS), strict=False, assign=True)
    if wrong := [name for name in (*more, *absent) if POOLER not in name]:
        raise OSError(f"it holds no such weights: {wrong[0]}")


def from_config(auto: Any, config: Any, **how: Any) -> Any:
    """A model of a configuration, its weights yet to be loaded or learnt."""
    return auto.from_config(config, trust_remote_code=False, **how)


class Undrawn(TorchFunctionMode):
    """Weights are zeros where they would be drawn at random: those that are loaded next need no beginning."""

    DRAWS = frozenset({"normal_", "uniform_", "trunc_normal_", "kaiming_uniform_", "xavier_uniform_"})

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") not in self.DRAWS:
            return func(*args, **kwargs)
        drawn = kwargs["tensor"] if "tensor" in kwargs else args[0]
        with torch.no_grad():
            return drawn.zero_()


def copy_tokenizer(source: Path, target: Path) -> None:
    """Copy the files of a folder's tokenizer, where they are not there already."""
    for name in ("tokenizer.json", "tokenizer_config.json"):
        if (source / name).is_file() and (source / name).resolve() != (target / name).resolve():
            (target / name).write_bytes((source / name).read_bytes())


def checksum(*paths: Path, size: int = 16) -> str:
    """Of what files hold, one after the other, in `size` bytes."""
    digest = blake2b(digest_size=size)
    for path in paths:
        with path.open("rb") as file:
            file_digest(file, lambda: digest)
    return digest.hexdigest()


def write_card(folder: Path, card: dict[str, Any], name: str = CARD) -> None:
    """Write a model's card, atomically, with the checksums of all that is read of its folder."""
    files = sorted(path for pattern in _READ for path in folder.glob(pattern) if path.name[0] != ".")
    about = {**card, "checksums": {path.name: checksum(path) for path in files}}
    write_whole(folder / name, json.dumps(about, indent=2, ensure_ascii=False) + "\n")


def check_sums(folder: Path, card: dict[str, Any]) -> None:
    """Raise InputError where a file is not what it was when the card was written; cards of old hold no checksums."""
    check_regular(folder)
    try:
        for name, expected in card.get("checksums", {}).items():
            if checksum(folder / Path(name).name) != expected:
                raise InputError(
                    f"{folder / name}: damaged (its checksum is another); copy the checkpoint again"
                )
    except (OSError, AttributeError, TypeError) as error:
        raise InputError(f"{folder}: not a whole reader ({error}); copy the checkpoint again") from None

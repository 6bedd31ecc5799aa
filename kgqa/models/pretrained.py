"""Load model folders safely: configurations and weights are data, nothing in them is executed, and damage is reported.

Weights may be stored in 8 bits: each row of a matrix as integers with its own scale, everything else in half precision
(row-wise absmax quantization: Dettmers et al., 2022, section 2). Word embeddings that were distributed in 4 bits, and
not trained, stay so: blocks of 32 numbers of a row, each with a scale and integers from -8 to 7.
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

from kgqa.settings import replacing, write_whole
from kgqa.types import InputError, report_damage

CARD = "reader.json"
FACT_ENCODER_CARD = "retriever.json"
"""Card of a fact encoder: its recipe, and the checksums of the other files."""
WEIGHTS = "model.safetensors"
POOLER = "pooler."
"""Part of the names of pooler weights, which no reader uses."""
_DATA: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
_READ = ("config.json", "tokenizer.json", "tokenizer_config.json", "*.index.json", "*.safetensors")
_UNDECLARED = frozenset(
    {
        "num_labels",
        "rope_theta",
        "rope_scaling",
        "global_rope_theta",
        "local_rope_theta",
        "partial_rotary_factor",
        "norm_rel_ebd",
        "conv_act",
    }
)
"""Fields of older configurations, and of DeBERTa's, that transformers reads, though its classes do not declare them."""
_TABLES = frozenset({"id2label", "label2id", "rope_parameters", "rope_scaling"})
"""Fields of a configuration that are tables."""
SCALE = "::scale"
"""Name suffix of the scales of a matrix: (rows,) for 8 bits, (rows, blocks) for 4."""
BLOCK = 32
"""Number of values that share a scale in 4 bits."""


def unpacked(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights in float32, from those packed by `training/pack.py` or in any floating-point precision.

    Raises:
        KeyError: a matrix in 8 bits has no scales.
        ValueError: the number of scales is wrong, or some weights are not finite.
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
            raise ValueError(f"{name} has values that are not finite")
    return state


def from_four_bits(stored: Tensor, scale: Tensor) -> Tensor:
    """The matrix (rows, columns) packed in 4 bits by `training/pack.py`. Raises ValueError if the shapes do not
    match."""
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
    """Weights in float32, from one file or several parts, stored in any precision.

    Errors of `json`, `safetensors` and the file system for damaged or missing files are passed on.
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
    """Raise InputError if a folder contains a device, a pipe or a broken link; reading these may never end."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not (path.is_file() or path.is_dir()):
            raise InputError(f"{path}: not a regular file; copy the model again")


def load_config(folder: Path) -> Any:
    """The configuration of a Hugging Face folder: numbers, and the fields of its configuration class.

    Other fields are left out, since transformers would download and run some of them: attention kernels, quantizers,
    backbones.
    """
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    check_regular(folder)
    with report_damage(f"{folder}: not a whole model", "copy it again", 300):
        config_values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        kind = str(config_values["model_type"])
        if kind not in CONFIG_MAPPING:
            raise OSError(f"unknown model_type {kind}; custom code is not run")
        made: Any = CONFIG_MAPPING[kind]
        allowed = {field.name for field in fields(made)} | set(made.attribute_map) | _UNDECLARED
        kept = {
            name: value
            for name, value in config_values.items()
            if (name in allowed or _is_number(name, value)) and _is_plain(name, value)
        }
        return made(**kept)


def _is_number(name: str, value: Any) -> bool:
    """Whether a field is a number or a switch; older versions had other names for some, which the class maps."""
    return isinstance(value, (bool, int, float)) and not name.startswith("_")


def _is_plain(name: str, value: Any) -> bool:
    """Whether a field of a configuration describes the network, not something to download or run."""
    if name == "dtype" or "backbone" in name:  # the precision is chosen by `find_precision`
        return False
    if isinstance(value, dict):
        return name in _TABLES
    return not (isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value))


def load_pretrained(auto: Any, folder: Path, **how: Any) -> Any:
    """Load a folder with a class of transformers, with weights from safetensors only."""
    with report_damage(f"{folder}: not a whole model", "copy it again", 300):
        check_regular(folder)
        if (folder / "adapter_config.json").exists():
            raise OSError("it contains an adapter for a model that would have to be downloaded")
        if not is_packed(folder, WEIGHTS):
            how.setdefault("config", load_config(folder))
            if not any(folder.glob("*.safetensors")) and any(folder.glob("*.bin")):
                raise InputError(
                    f"{folder}: its weights are pickled, which may run code, and are not loaded; "
                    "save_pretrained(...) of transformers writes them as safetensors"
                )
            return auto.from_pretrained(folder, **_DATA, use_safetensors=True, **how)
        if how.pop("output_loading_info", False):
            raise OSError("it contains only an encoder")
        how.pop("dtype", None)
        model = from_config(auto, how.pop("config", None) or load_config(folder), **how)
        load_into(model, folder)
        return model.eval()


def load_into(model: Any, folder: Path) -> None:
    """Load the weights of a folder into a model; pooler weights may be missing or superfluous, since none are used."""
    absent, more = model.load_state_dict(load_weights(folder, WEIGHTS), strict=False, assign=True)
    if wrong := [name for name in (*more, *absent) if POOLER not in name]:
        raise OSError(f"missing or unexpected weights: {wrong[0]}")


def from_config(auto: Any, config: Any, **how: Any) -> Any:
    """A model with the given configuration and initial weights."""
    return auto.from_config(config, trust_remote_code=False, **how)


class Undrawn(TorchFunctionMode):
    """Context that replaces random initialization by zeros, which saves time if weights are loaded next."""

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


def save_half(weights: Mapping[str, Tensor], path: Path) -> None:
    """Write weights in half precision, atomically; copies, since safetensors refuses weights that share memory."""
    from safetensors.torch import save_file

    halves = {
        name: value.detach().to("cpu", torch.half, copy=True).contiguous() for name, value in weights.items()
    }
    with replacing(path) as part:
        save_file(halves, part, metadata={"format": "pt"})


def copy_tokenizer(source: Path, target: Path) -> None:
    """Copy the tokenizer files of a folder, unless source and target are the same."""
    for name in ("tokenizer.json", "tokenizer_config.json"):
        if (source / name).is_file() and (source / name).resolve() != (target / name).resolve():
            (target / name).write_bytes((source / name).read_bytes())


def checksum(*paths: Path, size: int = 16) -> str:
    """Checksum of the concatenated content of files, of `size` bytes."""
    digest = blake2b(digest_size=size)
    for path in paths:
        with path.open("rb") as file:
            file_digest(file, lambda: digest)
    return digest.hexdigest()


def write_card(folder: Path, card: dict[str, Any], name: str = CARD) -> None:
    """Write a model card atomically, with the checksums of all files that are loaded from its folder."""
    files = sorted(path for pattern in _READ for path in folder.glob(pattern) if path.name[0] != ".")
    about = {**card, "checksums": {path.name: checksum(path) for path in files}}
    write_whole(folder / name, json.dumps(about, indent=2, ensure_ascii=False) + "\n")


def check_sums(folder: Path, card: dict[str, Any]) -> None:
    """Raise InputError if a file has changed since the card was written; old cards have no checksums."""
    check_regular(folder)
    with report_damage(f"{folder}: not a whole reader", "copy the checkpoint again"):
        for name, expected in card.get("checksums", {}).items():
            if checksum(folder / Path(name).name) != expected:
                raise InputError(f"{folder / name}: damaged (wrong checksum); copy the checkpoint again")

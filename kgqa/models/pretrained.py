"""Folders of models, whoever made them: configurations and weights are read as data, never run, and damage is told.

Weights may be stored in 8 bits: each row of a matrix as integers with a scale of its own, all else in half precision
(absolute-maximum quantisation by row: Dettmers et al., 2022, section 2).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from kgqa.assets import write_whole
from kgqa.types import InputError, first_line

CARD = "reader.json"
FACT_ENCODER_CARD = "retriever.json"
"""What the folder of a fact encoder says of it: its recipe, and the checksums of the other files."""
WEIGHTS = "model.safetensors"
POOLER = "pooler."
"""In the name of weights that no reader reads."""
_DATA: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
_READ = ("config.json", "tokenizer.json", "tokenizer_config.json", "*.index.json", "*.safetensors")
SCALE = "::scale"
"""Ends the name of the scales (rows,) of a matrix that is stored in 8 bits."""


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
            state[name] = value.float() * scale.float().unsqueeze(1)
        else:
            state[name] = value.float() if value.is_floating_point() else value
        if not state[name].isfinite().all():
            raise ValueError(f"{name} holds what is no number")
    return state


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


def load_config(folder: Path) -> Any:
    """The configuration of a Hugging Face folder; one that needs code of its own raises ValueError."""
    from transformers import AutoConfig

    return AutoConfig.from_pretrained(folder, **_DATA)


def load_pretrained(auto: Any, folder: Path, **how: Any) -> Any:
    """What a class of transformers loads from a folder, its weights from safetensors alone.

    Raises:
        InputError: there are no such weights, they are damaged, or the folder needs code of its own.
    """
    try:
        if not is_packed(folder, WEIGHTS):
            return auto.from_pretrained(folder, **_DATA, use_safetensors=True, **how)
        if how.pop("output_loading_info", False):
            raise OSError("it holds an encoder alone")
        how.pop("dtype", None)
        model = from_config(auto, how.pop("config", None) or load_config(folder), **how)
        load_into(model, folder)
        return model.eval()
    except Exception as error:  # a damaged folder may fail anywhere in the encoder's own code
        raise InputError(f"{folder}: not a whole model ({first_line(error, 300)}); copy it again") from error


def load_into(model: Any, folder: Path) -> None:
    """Give a model the weights of a folder; those of its pooler may be missing, as masked language models have none."""
    absent, more = model.load_state_dict(load_weights(folder, WEIGHTS), strict=False)
    if more or any(POOLER not in name for name in absent):
        raise OSError(f"it holds no such weights: {[*more, *absent][0]}")


def from_config(auto: Any, config: Any, **how: Any) -> Any:
    """A model of a configuration, its weights yet to be loaded or learnt."""
    return auto.from_config(config, trust_remote_code=False, **how)


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
    try:
        for name, expected in card.get("checksums", {}).items():
            if checksum(folder / Path(name).name) != expected:
                raise InputError(
                    f"{folder / name}: damaged (its checksum is another); copy the checkpoint again"
                )
    except (OSError, AttributeError, TypeError) as error:
        raise InputError(f"{folder}: not a whole reader ({error}); copy the checkpoint again") from None

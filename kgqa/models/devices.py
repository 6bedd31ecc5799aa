"""Which device a reader runs on, with how many threads, and how precisely it multiplies there."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import nn

from kgqa.assets import precision
from kgqa.models.eight_bits import multiplies_integers, to_eight_bits
from kgqa.types import InputError

PRECISIONS = ("auto", "bf16", "int8", "fp32")
WIDE = 512
"""Width of an encoder from which eight bits are faster than float32: at 256 they are not, at 384 by a tenth."""


def find_device(name: str = "auto") -> torch.device:
    """A device by torch's name ("cpu", "cuda", "cuda:1", "mps"); "auto" takes the first there is of cuda, mps, cpu.

    Raises:
        InputError: no device is called so, or this machine has none.
    """
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind, found in there.items() if found))
    known = ", ".join(["auto", *(kind for kind, found in there.items() if found)])
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InputError(f"{name}: no device is called so; here are {known}") from None
    if not there.get(device.type) or (
        device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count()
    ):
        raise InputError(f"{name}: this machine has no such device; here are {known}")
    return device


def spare_threads() -> None:
    """Compute with one thread, unless OMP_NUM_THREADS says otherwise.

    One question is too little work to share: beside anything else that runs, two threads wait for each other at every
    one of the encoder's small products.
    """
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)


def return_freed_memory() -> None:
    """Give the system what glibc keeps of what was freed: batches of many lengths leave 17 GB in pieces in an hour."""
    if sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)


def find_precision(device: torch.device, width: int) -> str:
    """How an encoder with states of `width` multiplies its matrices on `device`: "bf16", "int8" or "fp32".

    In bfloat16 where that is faster: on cuda, and on processors with instructions for it. On other processors with
    AVX2 in eight bits, if it is wide enough to gain (`eight_bits.py`). KGQA_PRECISION says otherwise. What is trained
    is trained as its recipe says.

    Raises:
        InputError: KGQA_PRECISION is none of these, or int8 and this processor or torch has no such products.
    """
    wanted = precision()
    if wanted not in PRECISIONS:
        raise InputError(f"KGQA_PRECISION={wanted}: no such precision; write one of {', '.join(PRECISIONS)}")
    able = torch.cpu.get_capabilities() if device.type == "cpu" else {}
    has_int8 = able.get("avx2") and multiplies_integers()
    if wanted == "int8" and not has_int8:
        raise InputError("KGQA_PRECISION=int8: only on a CPU with AVX2, and torch with oneDNN; write fp32")
    if wanted != "auto":
        return wanted
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported() else "fp32"
    if able.get("avx512_bf16") or able.get("amx_bf16"):
        return "bf16"
    return "int8" if has_int8 and width >= WIDE else "fp32"


def lighten(module: nn.Module, precision: str, probe: Callable[[], object] = lambda: None) -> None:
    """Keep the matrices of linear layers as they are multiplied, so that no pass need make them anew.

    `probe` sends something through the module: what is rounded to eight bits is so by what it is given then.
    """
    if precision == "bf16":
        for layer in module.modules():
            if isinstance(layer, nn.Linear):
                layer.to(torch.bfloat16)
    elif precision == "int8":
        to_eight_bits(module, probe)


def multiplying(device: torch.device, precision: str) -> AbstractContextManager[object]:
    """Within it the layers of a module that was made lighter are multiplied in that precision."""
    # the cache of autocast is for weights that it casts itself, which are in bfloat16 already
    half = precision == "bf16"
    return torch.autocast(device.type, torch.bfloat16, cache_enabled=False) if half else nullcontext()

"""Which device a reader runs on, with how many threads, and how precisely it multiplies there."""

from __future__ import annotations

import ctypes
import os
import sys

import torch
from torch import nn

from kgqa.assets import precision
from kgqa.types import InputError

PRECISIONS = ("auto", "bf16", "fp32")


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


def multiplies_in_bf16(device: torch.device) -> bool:
    """Whether a reader that answers on `device` multiplies its matrices in bfloat16.

    It does where that is faster: on cuda, and on processors with instructions for it. KGQA_PRECISION=fp32 or bf16
    says otherwise. What is trained is trained as its recipe says.

    Raises:
        InputError: KGQA_PRECISION is neither.
    """
    wanted = precision()
    if wanted not in PRECISIONS:
        raise InputError(f"KGQA_PRECISION={wanted}: no such precision; write one of {', '.join(PRECISIONS)}")
    if wanted != "auto":
        return wanted == "bf16"
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    found = torch.cpu.get_capabilities()
    return device.type == "cpu" and any(found.get(name) for name in ("avx512_bf16", "amx_bf16"))


def halve(module: nn.Module) -> None:
    """Keep the matrices of linear layers in bfloat16, so that autocast need not make them anew in every pass."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            layer.to(torch.bfloat16)

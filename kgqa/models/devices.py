"""Which device a reader runs on, and with how many threads."""

from __future__ import annotations

import os

import torch

from kgqa.types import InputError


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
    if not there.get(device.type) or (device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count()):
        raise InputError(f"{name}: this machine has no such device; here are {known}")
    return device


def spare_threads() -> None:
    """Compute with one thread, unless OMP_NUM_THREADS says otherwise.

    One question is too little work to share: beside anything else that runs, two threads wait for each other at every
    one of the encoder's small products.
    """
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)

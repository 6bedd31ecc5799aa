"""Device, threads and matrix precision of a reader; int8 dynamic quantization."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.settings import precision
from kgqa.types import InputError

# Int8 dynamic quantization of linear layers: faster than float32 on processors without bfloat16.
#
# LLM.int8() (Dettmers et al., 2022, section 3) for answering on a CPU: rows of weights and of inputs are each rounded
# by their largest number, but for the few features that are far larger than all others in every text.

OUTLIERS = 8
"""Features of an input that are multiplied in float32: the largest. Without them the first layers of kgqa-base's
feed-forward blocks are 9 % off, with four 0.8, with eight 0.7."""
LEAST = 1e-9
"""Scale of a row of zeros."""


class Int8Linear(nn.Module):
    """A linear layer of integers; `outliers` are the features that it multiplies in float32.

    Inputs have seven bits: where a processor has no instruction for it, pairs of products are added in sixteen. What a
    row gives depends on the rows beside it as little as in float32. It is for the CPU, and cannot be copied.
    """

    rows: Tensor
    scale: Tensor
    zero: Tensor
    bias: Tensor
    outliers: Tensor
    columns: Tensor

    def __init__(self, layer: nn.Linear, outliers: Tensor) -> None:
        super().__init__()
        self.in_features, self.out_features = layer.in_features, layer.out_features
        weight = layer.weight.detach()
        small = weight.index_fill(1, outliers, 0.0)
        lowest, highest = small.aminmax(dim=1)
        scale = torch.maximum(highest, -lowest).clamp_min(LEAST) / 127
        rows = (
            small.div_(scale.unsqueeze(1)).round_().to(torch.int8)
        )  # in place: opening a reader waits for it
        self.register_buffer("rows", torch.ops.onednn.qlinear_prepack(rows, None))
        self.register_buffer("scale", scale)
        self.register_buffer("zero", torch.zeros(len(scale), dtype=torch.long))
        self.register_buffer("bias", None if layer.bias is None else layer.bias.detach())
        self.register_buffer("outliers", outliers)
        self.register_buffer("columns", weight[:, outliers])

    def forward(self, inputs: Tensor) -> Tensor:
        """(..., in) to (..., out), in float32."""
        exact = F.linear(inputs.index_select(-1, self.outliers), self.columns, self.bias)
        small = inputs.index_fill(-1, self.outliers, 0.0)
        largest = small.abs().amax(-1, keepdim=True).clamp_min_(LEAST)
        rounded = small.div_(largest).mul_(63).add_(64.5).to(torch.uint8)  # 1 to 127; 64 stands for 0
        weights = self.rows, self.scale, self.zero, None
        product: Tensor = torch.ops.onednn.qlinear_pointwise(
            rounded, 1 / 63, 64, *weights, 1.0, 0, torch.float32, "none", [], ""
        )
        return torch.addcmul(exact, product, largest)


def quantize_int8(module: nn.Module, probe: Callable[[], object]) -> None:
    """Replace the linear layers of a module, all that `probe` sends something through."""
    largest: dict[nn.Linear, Tensor] = {}

    def seen(layer: nn.Linear, inputs: tuple[Tensor], _: Tensor) -> None:
        found = inputs[0].detach().abs().flatten(0, -2).amax(0)
        largest[layer] = torch.maximum(largest.get(layer, found), found)

    layers = [layer for layer in module.modules() if type(layer) is nn.Linear]
    if not layers:  # an adapter over layers that are rounded already
        return
    hooks = [layer.register_forward_hook(seen) for layer in layers]
    probe()
    for hook in hooks:
        hook.remove()
    made = {
        layer: Int8Linear(layer, found.topk(min(OUTLIERS, len(found))).indices)
        for layer, found in largest.items()
    }
    for parent in list(module.modules()):
        for name, layer in list(parent.named_children()):
            if layer in made:
                setattr(parent, name, made[layer])


def has_int8_matmul() -> bool:
    """Whether this torch does."""
    name = "onednn::qlinear_pointwise"
    return bool(
        hasattr(torch.ops.onednn, "qlinear_pointwise")
        and torch._C._dispatch_has_kernel_for_dispatch_key(name, "MkldnnCPU")
    )


# Device, threads and matrix precision of a reader.

PRECISIONS = ("auto", "bf16", "int8", "fp32")
WIDE = 512
"""Hidden size from which int8 is faster than float32 on CPUs: at 384 by a tenth, at 256 not."""


def find_device(name: str = "auto") -> torch.device:
    """A device by torch's name ("cpu", "cuda", "cuda:1", "mps"); "auto" takes the first there is of cuda, mps, cpu."""
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


def use_one_thread() -> None:
    """Use one thread, unless OMP_NUM_THREADS is set.

    One question is too little work to share: beside anything else that runs, two threads wait for each other at every
    one of the encoder's small products.
    """
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)


def trim_memory() -> None:
    """Return freed memory to the system (malloc_trim): batches of many lengths fragment 17 GB in an hour."""
    if sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)


def find_precision(device: torch.device, width: int, once: bool = False) -> str:
    """How an encoder with states of `width` multiplies its matrices on `device`: "bf16", "int8" or "fp32".

    In bfloat16 where that is faster: on cuda, and on processors with instructions for it. On other processors with
    AVX2 in int8, if it is wide enough to gain (`quantize_int8`) and not opened for one question alone (`once`):
    rounding its weights takes longer than one question saves. KGQA_PRECISION says otherwise. What is trained
    is trained as its recipe says.
    """
    wanted = precision()
    if wanted not in PRECISIONS:
        raise InputError(f"KGQA_PRECISION={wanted}: no such precision; write one of {', '.join(PRECISIONS)}")
    able = torch.cpu.get_capabilities() if device.type == "cpu" else {}
    has_int8 = able.get("avx2") and has_int8_matmul()
    if wanted == "int8" and not has_int8:
        raise InputError("KGQA_PRECISION=int8: only on a CPU with AVX2, and torch with oneDNN; write fp32")
    if wanted != "auto":
        return wanted
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported() else "fp32"
    if able.get("avx512_bf16") or able.get("amx_bf16"):
        return "bf16"
    return "int8" if has_int8 and width >= WIDE and not once else "fp32"


def cast_linear_layers(module: nn.Module, precision: str, probe: Callable[[], object] = lambda: None) -> None:
    """Convert the weights of linear layers once to the precision of the matrix products.

    `probe` runs an example through the module: int8 quantization is calibrated on its inputs.
    """
    if precision == "bf16":
        for layer in module.modules():
            if isinstance(layer, nn.Linear):
                layer.to(torch.bfloat16)
    elif precision == "int8":
        quantize_int8(module, probe)


def matmul_precision(device: torch.device, precision: str) -> AbstractContextManager[object]:
    """Context in which converted layers multiply in that precision."""
    # the cache of autocast is for weights that it casts itself, which are in bfloat16 already
    half = precision == "bf16"
    return torch.autocast(device.type, torch.bfloat16, cache_enabled=False) if half else nullcontext()

"""Device, threads and matrix precision of a reader; int8 dynamic quantization."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.settings import setting
from kgqa.types import InputError

# Int8 dynamic quantization of linear layers: faster than float32 on processors without bfloat16.
#
# LLM.int8() (Dettmers et al., 2022, section 3) on a CPU: rows of weights and inputs are scaled by their absolute
# maximum and rounded, except for the few outlier features that are far larger than all others in every text.

OUTLIERS = 8
"""Number of outlier features that are multiplied in float32. The error in the first feed-forward layers of kgqa-base is
9 % without them, 0.8 % with four and 0.7 % with eight."""
LEAST = 1e-9
"""Minimum scale of a row, for rows of zeros."""


class Int8Linear(nn.Module):
    """A linear layer with int8 weights; the features `outliers` are multiplied in float32.

    Inputs have seven bits, since processors without VNNI add pairs of products in 16 bits, which eight would overflow.
    The scale of each input row is its own, so its result does not depend on the other rows of the batch. The layer only
    runs on a CPU, and cannot be copied.
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
        # in place, to save time when a reader is opened
        rows = small.div_(scale.unsqueeze(1)).round_().to(torch.int8)
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
        # unsigned, 1 to 127, with zero point 64
        rounded = small.div_(largest).mul_(63).add_(64.5).to(torch.uint8)
        weights = self.rows, self.scale, self.zero, None
        product: Tensor = torch.ops.onednn.qlinear_pointwise(
            rounded, 1 / 63, 64, *weights, 1.0, 0, torch.float32, "none", [], ""
        )
        return torch.addcmul(exact, product, largest)


def quantize_int8(module: nn.Module, probe: Callable[[], object]) -> None:
    """Replace those linear layers of a module that `probe` uses; its inputs determine the outlier features."""
    largest: dict[nn.Linear, Tensor] = {}

    def seen(layer: nn.Linear, inputs: tuple[Tensor], _: Tensor) -> None:
        found = inputs[0].detach().abs().flatten(0, -2).amax(0)
        largest[layer] = torch.maximum(largest.get(layer, found), found)

    layers = [layer for layer in module.modules() if type(layer) is nn.Linear]
    if not layers:  # an adapter, whose base layers are quantized already
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
    """Whether this build of torch has the int8 operators."""
    name = "onednn::qlinear_pointwise"
    return bool(
        hasattr(torch.ops.onednn, "qlinear_pointwise")
        and torch._C._dispatch_has_kernel_for_dispatch_key(name, "MkldnnCPU")
    )


# Device, threads and matrix precision of a reader.

PRECISIONS = ("auto", "bf16", "int8", "fp32")
WIDE = 512
"""Hidden size from which int8 clearly pays on CPUs: it saves only a tenth at 384, and nothing at 256."""


def find_device(name: str = "auto") -> torch.device:
    """A device by torch's name ("cpu", "cuda", "cuda:1", "mps"); "auto" takes the first available of cuda, mps, cpu."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind, found in there.items() if found))
    known = ", ".join(["auto", *(kind for kind, found in there.items() if found)])
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InputError(f"{name}: unknown device; available: {known}") from None
    if not there.get(device.type) or (
        device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count()
    ):
        raise InputError(f"{name}: this machine has no such device; available: {known}")
    return device


def use_one_thread() -> None:
    """Use one thread, unless OMP_NUM_THREADS is set.

    A single question is too little work to split: on a busy machine, two threads wait for each other at each of the
    encoder's small matrix products.
    """
    if not setting("OMP_NUM_THREADS"):
        torch.set_num_threads(1)


def trim_memory() -> None:
    """Return freed memory to the system (malloc_trim): batches of many lengths fragment 17 GB in an hour."""
    if sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)


def find_precision(device: torch.device, width: int, once: bool = False) -> str:
    """How an encoder with states of `width` multiplies its matrices on `device`: "bf16", "int8" or "fp32".

    bf16 on cuda, and on processors whose bf16 products are at least twice as fast as fp32: those with AMX, and AMD's
    with AVX-512 (others with AVX-512 can be slower than in fp32). int8 on other processors with AVX2, for encoders
    wide enough to gain from it (`WIDE`), unless it is opened for a single question (`once`): quantizing takes longer
    than one question saves. KGQA_PRECISION overrides this. Training has its own setting, in the recipe.
    """
    wanted = setting("KGQA_PRECISION")
    if wanted not in PRECISIONS:
        raise InputError(f"KGQA_PRECISION={wanted}: unknown precision; set one of {', '.join(PRECISIONS)}")
    able = torch.cpu.get_capabilities() if device.type == "cpu" else {}
    has_int8 = able.get("avx2") and has_int8_matmul()
    if wanted == "int8" and not has_int8:
        raise InputError("KGQA_PRECISION=int8: needs a CPU with AVX2, and torch with oneDNN; set fp32")
    if wanted != "auto":
        return wanted
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported() else "fp32"
    if able.get("amx_bf16") or (able.get("avx512_bf16") and "AMD" in str(able.get("cpu_name"))):
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
    # autocast's cache is for weights that it casts itself; these are stored in bfloat16 already
    half = precision == "bf16"
    return torch.autocast(device.type, torch.bfloat16, cache_enabled=False) if half else nullcontext()

"""Linear layers that multiply integers: where a processor has no bfloat16, much faster than in float32, and near it.

LLM.int8() (Dettmers et al., 2022, section 3) for answering on a CPU: rows of weights and of inputs are each rounded by
their largest number, but for the few features that are far larger than all others in every text.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

OUTLIERS = 8
"""Features of an input that are multiplied in float32: the largest. Without them the first layers of kgqa-base's
feed-forward blocks are 9 % off, with four 0.8, with eight 0.7."""
LEAST = 1e-9
"""Scale of a row of zeros."""


class EightBitLinear(nn.Module):
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
        weight = layer.weight.detach()
        small = weight.index_fill(1, outliers, 0.0)
        scale = small.abs().amax(1).clamp_min(LEAST) / 127
        rows = (small / scale.unsqueeze(1)).round().to(torch.int8)
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


def to_eight_bits(module: nn.Module, probe: Callable[[], object]) -> None:
    """Replace the linear layers of a module, all that `probe` sends something through."""
    largest: dict[nn.Linear, Tensor] = {}

    def seen(layer: nn.Linear, inputs: tuple[Tensor], _: Tensor) -> None:
        found = inputs[0].detach().abs().flatten(0, -2).amax(0)
        largest[layer] = torch.maximum(largest.get(layer, found), found)

    layers = [layer for layer in module.modules() if type(layer) is nn.Linear]
    hooks = [layer.register_forward_hook(seen) for layer in layers]
    probe()
    for hook in hooks:
        hook.remove()
    made = {
        layer: EightBitLinear(layer, found.topk(min(OUTLIERS, len(found))).indices)
        for layer, found in largest.items()
    }
    for parent in list(module.modules()):
        for name, layer in list(parent.named_children()):
            if layer in made:
                setattr(parent, name, made[layer])


def multiplies_integers() -> bool:
    """Whether this torch does."""
    name = "onednn::qlinear_pointwise"
    return bool(
        hasattr(torch.ops.onednn, "qlinear_pointwise")
        and torch._C._dispatch_has_kernel_for_dispatch_key(name, "MkldnnCPU")
    )

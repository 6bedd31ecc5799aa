"""Run any Hugging Face encoder layer by layer, so that a reasoner can fuse the graph in between; embed labels."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.hooks import RemovableHandle

from kgqa.batch import GraphBatch, TokenBatch
from kgqa.models.encoders.bert import BertEncoder

# Forward hooks on the encoder's own layers, instead of a reimplementation of its forward pass: masks, rotary or
# relative positions and final norms stay Hugging Face's, and a new architecture needs no code here.

CAUSAL_TYPES = frozenset({"gpt2", "openai-gpt"})
UNBOUNDED = 512
"""Maximum tokens of a row for encoders without a limit of their own."""
Visit = Callable[[int, Tensor], Tensor]


def longest_row(encoder: nn.Module) -> int:
    """Maximum number of tokens of a row; `UNBOUNDED` if the encoder has no limit."""
    config: Any = encoder.config
    declared = getattr(config, "max_position_embeddings", None)
    return int(declared) - first_position(encoder) if declared is not None and declared > 0 else UNBOUNDED


def first_position(encoder: nn.Module) -> int:
    """Position id of a row's first token: RoBERTa's start after the padding id."""
    tables = (m for n, m in encoder.named_modules() if n.endswith("position_embeddings"))
    padding = next((table.padding_idx for table in tables if isinstance(table, nn.Embedding)), None)
    return 0 if padding is None else padding + 1


def takes_segments(encoder: nn.Module) -> bool:
    """Whether an encoder has segment embeddings. RoBERTa has a single segment, and GPT would take the ids for words."""
    config: Any = encoder.config
    if "token_type_ids" not in inspect.signature(encoder.forward).parameters:
        return False
    return config.model_type == "xlnet" or getattr(config, "type_vocab_size", 0) > 1


def visible(candidate_index: Tensor, attention_mask: Tensor) -> Tensor:
    """Tree attention mask (B, T, T): all tokens see the shared prefix, each packed candidate also itself (Liu et al.,
    2020, section 3.4)."""
    seen = (candidate_index.unsqueeze(1) == 0) | (
        candidate_index.unsqueeze(1) == candidate_index.unsqueeze(2)
    )
    return seen & attention_mask.bool().unsqueeze(1)


def additive(seen: Tensor) -> Tensor:
    """An additive attention mask (B, 1, T, T), since implementations treat Boolean masks differently."""
    return torch.zeros(seen.shape, device=seen.device).masked_fill(~seen, -1e4).unsqueeze(1)


class _Reached(Exception):
    """Carries the states (B, T, H) of the last layer needed."""

    def __init__(self, states: Tensor) -> None:
        super().__init__()
        self.states = states


class LayerwiseEncoder(nn.Module):
    """An encoder with a layer-wise forward pass: `encode`, `summary`, `embedding`, and its sizes.

    Args:
        encoder: a Hugging Face base model (`AutoModel`), bidirectional or causal.
    """

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        config: Any = encoder.config
        self.hidden_size = int(config.hidden_size)
        self.num_layers = int(config.num_hidden_layers)
        self.causal = config.model_type in CAUSAL_TYPES
        self.first_position = first_position(encoder)
        self.max_tokens = longest_row(encoder)
        self._time_first = config.model_type == "xlnet"  # its layers take (T, B, H)
        self._takes_segments = takes_segments(encoder)
        self._window = config.sliding_window if config.model_type == "modernbert" else None

    @property
    def embedding(self) -> nn.Embedding:
        """The word embedding table, (V, E); E may be smaller than H (ALBERT, ELECTRA)."""
        table = self.encoder.get_input_embeddings()  # type: ignore[operator]
        assert isinstance(table, nn.Embedding)
        return table

    def encode(
        self, tokens: TokenBatch, visit: Visit | None = None, *, last: int | None = None, **instead: Tensor
    ) -> Tensor:
        """Token states (B, T, H) of the last layer.

        `visit(i, hidden)` is called with the output of each layer i = 0..L-1, or of the `last` layers only (counted
        from the first of these), and returns the input of the next layer or the final norm. `instead` are inputs that
        replace those made from `tokens`; rows may then be longer, (B, T', H).
        """
        inputs = self.inputs(tokens, **instead)
        handles: list[RemovableHandle] = []
        if visit is not None:
            handles += self._visits(visit, self.num_layers - (last or self.num_layers))
        if "position_ids" in inputs and self._bias is not None:
            handles += self._biased(inputs["position_ids"], inputs["attention_mask"])
        elif "position_ids" in inputs and self._disentangled is not None:
            handles += self._apart(inputs["position_ids"], inputs["attention_mask"])
            inputs["attention_mask"] = tokens.attention_mask.long()
        try:
            hidden: Tensor = self.encoder(**inputs).last_hidden_state
            return hidden
        finally:
            for handle in handles:
                handle.remove()

    def states_of(self, tokens: TokenBatch, layer: int) -> Tensor:
        """States (B, T, H) of a layer, counted from 1; the layers above it are not run."""

        def visit(number: int, hidden: Tensor) -> Tensor:
            if number < layer - 1:
                return hidden
            raise _Reached(hidden)

        try:
            return self.encode(tokens, visit)
        except _Reached as reached:
            return reached.states

    def inputs(self, tokens: TokenBatch, **instead: Tensor) -> dict[str, Tensor]:
        """The encoder's inputs for `tokens`, (B, T) each; segments only if it has them."""
        inputs: dict[str, Any] = {
            "input_ids": tokens.input_ids,
            "attention_mask": tokens.attention_mask.long(),
            "token_type_ids": tokens.token_type_ids,
        }
        if tokens.candidate_index is not None and tokens.position is not None:
            inputs["attention_mask"] = additive(visible(tokens.candidate_index, tokens.attention_mask))
            # a branch at the end of a full row stays on the last position
            inputs["position_ids"] = tokens.position.clamp(max=self.max_tokens - 1) + self.first_position
        inputs |= instead
        if self._window is not None and tokens.position is not None:
            near = (tokens.position.unsqueeze(1) - tokens.position.unsqueeze(2)).abs() <= self._window
            full = inputs["attention_mask"]
            inputs["attention_mask"] = {"full_attention": full, "sliding_attention": full + additive(near)}
        if not self._takes_segments:
            del inputs["token_type_ids"]
        return inputs

    def _visits(self, visit: Visit, skipped: int) -> list[RemovableHandle]:
        calls = iter(range(-skipped, self.num_layers))

        def look(hidden: Tensor) -> Tensor:
            if (layer := next(calls)) < 0:
                return hidden
            if not self._time_first:
                return visit(layer, hidden)
            return visit(layer, hidden.transpose(0, 1)).transpose(0, 1)

        def hook(_module: nn.Module, _inputs: Any, output: Any) -> Any:
            if isinstance(output, Tensor):
                return look(output)
            return type(output)((look(output[0]), *output[1:]))

        return [layer.register_forward_hook(hook) for layer in self.layers]

    @property
    def _bias(self) -> Any:
        """Hugging Face's layers of MPNet, which add a bias for relative positions to the attention scores; else
        None."""
        stack = None if isinstance(self.encoder, BertEncoder) else getattr(self.encoder, "encoder", None)
        return stack if hasattr(stack, "relative_attention_bias") else None

    @property
    def _disentangled(self) -> Any:
        """DeBERTa's layer stack, with disentangled attention to content and relative position; else None."""
        stack = getattr(self.encoder, "encoder", None)
        return stack if getattr(stack, "relative_attention", False) else None

    def _apart(self, positions: Tensor, mask: Tensor) -> list[RemovableHandle]:
        """Hooks with which DeBERTa's layers compute distances from `positions` (B, T), and use the additive `mask`
        (B, 1, T, T). Without them, it computes distances from the order of the tokens, and takes a 0/1 mask."""
        from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

        stack = self._disentangled
        config: Any = self.encoder.config
        distance = positions.unsqueeze(2) - positions.unsqueeze(1)  # (B, T, T)
        if (buckets := stack.position_buckets) > 0:
            distance = make_log_bucket_position(distance, buckets, stack.max_relative_positions)
        # (1, B * heads, T, T)
        heads = distance.long().repeat_interleave(config.num_attention_heads, 0).unsqueeze(0)
        seen = {"attention_mask": mask == 0, "relative_pos": heads}

        def changed(_module: nn.Module, given: Any, named: dict[str, Any]) -> Any:
            return (given[0],), {**named, **seen}

        return [layer.register_forward_pre_hook(changed, with_kwargs=True) for layer in self.layers]

    def _biased(self, positions: Tensor, mask: Tensor) -> list[RemovableHandle]:
        """Hooks with which MPNet's layers compute distances from `positions` (B, T) instead of the order of the tokens.

        The additive `mask` (B, 1, T, T) is added to the bias once, in the precision of the products, since operations
        on all pairs of tokens take a third of a layer's time.
        """
        distance = positions.unsqueeze(1) - positions.unsqueeze(2)  # (B, T, T)
        bias = self._bias.relative_attention_bias(self._bias.relative_position_bucket(distance))
        bias = (bias.permute(0, 3, 1, 2) + mask).contiguous()  # (B, heads, T, T)
        if torch.is_autocast_enabled(bias.device.type):
            bias = bias.to(torch.get_autocast_dtype(bias.device.type))
        return [
            layer.register_forward_pre_hook(lambda _m, given: (given[0], None, bias)) for layer in self.layers
        ]

    def summary(self, hidden: Tensor, tokens: TokenBatch) -> Tensor:
        """State (B, H) of the summary token, which has seen all others: the first, or the last for a causal encoder."""
        return hidden[torch.arange(len(hidden), device=hidden.device), self.summary_position(tokens)]

    def summary_position(self, tokens: TokenBatch) -> Tensor:
        """Position (B,) of the summary token."""
        if not self.causal:
            return torch.zeros(len(tokens.input_ids), dtype=torch.long, device=tokens.input_ids.device)
        return tokens.attention_mask.long().sum(1) - 1

    @property
    def layers(self) -> list[nn.Module]:
        """The modules that run as layers; a shared layer (ALBERT) is listed once and runs many times."""
        lists = [m for m in self.encoder.modules() if isinstance(m, nn.ModuleList)]
        for modules in lists:
            if len(modules) == self.num_layers and self.num_layers > 1:
                return list(modules)
        for modules in lists:  # ALBERT: groups of layers that are applied repeatedly
            inner = [m for m in modules.modules() if isinstance(m, nn.ModuleList) and m is not modules]
            if inner:
                return [layer for group in inner for layer in group]
        return list(lists[0])


# Label vectors represent concepts and relations, so there are no weights per concept.


class LabelEncoder(nn.Module):
    """Embeds labels with the encoder's own word embeddings, so that the concepts of any graph have vectors.

    A label is represented by the mean of its tokens and its last token (the head noun of "garden trowel", the object of
    "plant flowers"), followed by one hidden layer. KEPLER (Wang et al., 2021, section 3.2) embeds entity descriptions
    with the encoder for the same reason: new entities need no training.
    """

    def __init__(self, layerwise: LayerwiseEncoder, size: int) -> None:
        super().__init__()
        embedding_size = layerwise.embedding.embedding_dim
        self.norm = nn.LayerNorm(2 * embedding_size)
        self.hidden = nn.Linear(2 * embedding_size, 2 * size)
        self.out = nn.Linear(2 * size, size)

    def forward(self, layerwise: LayerwiseEncoder, graph: GraphBatch) -> Tensor:
        """Vectors (U, size) of the batch's distinct labels."""
        tokens = layerwise.embedding(graph.label_ids)  # (U, K, E)
        mask = graph.label_mask.unsqueeze(-1).to(tokens.dtype)
        mean = (tokens * mask).sum(1) / mask.sum(1).clamp(min=1)
        last = tokens[torch.arange(len(tokens), device=tokens.device), graph.label_mask.sum(1) - 1]
        hidden = self.hidden(self.norm(torch.cat([mean, last], dim=-1)))
        vectors: Tensor = self.out(functional.gelu(hidden))
        return vectors

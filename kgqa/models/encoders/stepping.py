"""Walk any Hugging Face encoder layer by layer, so that a reasoner can mix the graph in between two layers.

The walk uses forward hooks on the encoder's own layers instead of restating its forward pass: masks, rotary
or relative positions and final norms stay Hugging Face's, and a new architecture needs no code here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.hooks import RemovableHandle

from kgqa.batch import TokenBatch
from kgqa.models.collation.overlap_features import MARKS

CAUSAL_TYPES = frozenset({"gpt2", "openai-gpt"})
UNBOUNDED = 512
"""Tokens of a row where the encoder itself knows no bound."""
Visit = Callable[[int, Tensor], Tensor]


def longest_row(encoder: nn.Module) -> int:
    """Tokens that a row may have; `UNBOUNDED` where the encoder itself knows no bound."""
    config: Any = encoder.config
    declared = getattr(config, "max_position_embeddings", None)
    return int(declared) - first_position(encoder) if declared is not None and declared > 0 else UNBOUNDED


def first_position(encoder: nn.Module) -> int:
    """Position of a row's first token: RoBERTa's begin behind the padding id."""
    tables = (m for n, m in encoder.named_modules() if n.endswith("position_embeddings"))
    padding = next((table.padding_idx for table in tables if isinstance(table, nn.Embedding)), None)
    return 0 if padding is None else padding + 1


def takes_segments(encoder: nn.Module) -> bool:
    """Whether an encoder tells the segments of a row apart: RoBERTa has one kind, GPT reads the ids as words."""
    config: Any = encoder.config
    if "token_type_ids" not in inspect.signature(encoder.forward).parameters:
        return False
    return config.model_type == "xlnet" or getattr(config, "type_vocab_size", 0) > 1


def visible(branch: Tensor, attention_mask: Tensor) -> Tensor:
    """Who sees whom, (B, T, T): all see the trunk, a branch itself too (Liu et al., 2020, section 3.4)."""
    seen = (branch.unsqueeze(1) == 0) | (branch.unsqueeze(1) == branch.unsqueeze(2))
    return seen & attention_mask.bool().unsqueeze(1)


def additive(seen: Tensor) -> Tensor:
    """A mask (B, 1, T, T) to be added to attention scores: of a boolean one implementations differ."""
    return torch.zeros(seen.shape, device=seen.device).masked_fill(~seen, -1e4).unsqueeze(1)


class Stepper(nn.Module):
    """An encoder that can be walked: `walk`, `summary`, `embedding`, and its sizes.

    Args:
        encoder: a Hugging Face base model (`AutoModel`), bidirectional or causal.
        word_size: width of the word vectors that are added, with the marks of recurring words, to what the
            encoder's embedding says of a token; 0 adds nothing. What is added starts at zero.
    """

    def __init__(self, encoder: nn.Module, word_size: int = 0) -> None:
        super().__init__()
        self.encoder = encoder
        config: Any = encoder.config
        self.hidden_size = int(config.hidden_size)
        self.num_layers = int(config.num_hidden_layers)
        self.causal = config.model_type in CAUSAL_TYPES
        self.first_position = first_position(encoder)
        self.max_tokens = longest_row(encoder)
        self.word_size = word_size
        width = self.embedding.embedding_dim
        self.clues = nn.Linear(word_size + MARKS, width) if word_size else None
        if self.clues is not None:
            nn.init.zeros_(self.clues.weight)
            nn.init.zeros_(self.clues.bias)
        self._time_first = config.model_type == "xlnet"  # its layers read (T, B, H)
        self._takes_segments = takes_segments(encoder)

    @property
    def embedding(self) -> nn.Embedding:
        """The word embedding table, (V, E); E may be smaller than H (ALBERT, ELECTRA)."""
        table = self.encoder.get_input_embeddings()  # type: ignore[operator]
        assert isinstance(table, nn.Embedding)
        return table

    def walk(
        self, tokens: TokenBatch, visit: Visit | None = None, *, last: int | None = None, **instead: Tensor
    ) -> Tensor:
        """Token states (B, T, H) of the last layer.

        `visit(i, hidden)` is called with the output of layer i = 0..L-1, or of the `last` layers alone, counted from
        the first of these, and returns what the next layer (or the final norm) is to read. `instead` are inputs of the
        encoder that stand in for those of `tokens`; rows may be longer than theirs, (B, T', H), and nothing is told of
        the tokens behind.
        """
        inputs = self.inputs(tokens, **instead)
        handles = []
        if self.clues is not None and tokens.word_vector is not None:
            told = self._told(tokens)
            told = functional.pad(told, (0, 0, 0, inputs["input_ids"].shape[1] - told.shape[1]))
            told = told.transpose(0, 1) if self._time_first else told
            handles = [self.embedding.register_forward_hook(lambda _m, _i, output: output + told)]
        if visit is not None:
            handles += self._visits(visit, self.num_layers - (last or self.num_layers))
        if "position_ids" in inputs and self._bias is not None:
            handles += self._biased(inputs["position_ids"], inputs["attention_mask"])
        try:
            hidden: Tensor = self.encoder(**inputs).last_hidden_state
            return hidden
        finally:
            for handle in handles:
                handle.remove()

    def inputs(self, tokens: TokenBatch, **instead: Tensor) -> dict[str, Tensor]:
        """What the encoder is given for `tokens`, (B, T) each; segments only where it knows some."""
        inputs = {"input_ids": tokens.input_ids, "attention_mask": tokens.attention_mask.long()}
        inputs |= {"token_type_ids": tokens.token_type_ids}
        if tokens.branch is not None and tokens.position is not None:
            inputs["attention_mask"] = additive(visible(tokens.branch, tokens.attention_mask))
            inputs["position_ids"] = tokens.position + self.first_position
        inputs |= instead
        if not self._takes_segments:
            del inputs["token_type_ids"]
        return inputs

    def _told(self, tokens: TokenBatch) -> Tensor:
        """What is added to each token's embedding, (B, T, E)."""
        assert self.clues is not None and tokens.word_vector is not None and tokens.marks is not None
        direction = functional.normalize(tokens.word_vector, dim=-1) * self.word_size**0.5
        added: Tensor = self.clues(torch.cat([direction, tokens.marks], dim=-1))
        return added

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
        """MPNet's layer stack, which adds a bias for the distance of two tokens to what they attend with."""
        stack = getattr(self.encoder, "encoder", None)
        return stack if hasattr(stack, "relative_attention_bias") else None

    def _biased(self, positions: Tensor, mask: Tensor) -> list[RemovableHandle]:
        """Let the layers read distances off `positions` (B, T); by itself MPNet counts tokens as they stand.

        The additive `mask` (B, 1, T, T) is added to the bias once, in the precision of the products: what each layer
        does to all pairs of tokens takes a third of its time.
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
        """State (B, H) of the token that has seen all others: the first, or the last of a causal encoder."""
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
        for modules in lists:  # ALBERT: groups of layers, applied again and again
            inner = [m for m in modules.modules() if isinstance(m, nn.ModuleList) and m is not modules]
            if inner:
                return [layer for group in inner for layer in group]
        return list(lists[0])

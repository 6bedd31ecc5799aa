"""Embed questions of any language in the fact encoder's space: a map on top of a layer of a multilingual encoder.

One index of facts thus serves two encoders. The map is linear (Mikolov et al., 2013, Exploiting Similarities among
Languages for Machine Translation, section 4), on top of a transformer layer trained to give a text the vector of its
English translation (Reimers and Gurevych, 2020, Making Monolingual Sentence Embeddings Multilingual, section 2).
`training/fact_map.py` fits both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.batch import TextBatch, TokenBatch
from kgqa.models.dense_retrieval import FactEncoder
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.pretrained import unpacked
from kgqa.settings import find_encoder
from kgqa.types import InputError, report_damage

FILE = "fact_map.safetensors"
"""File in a multilingual reader's folder: the map from its mean vectors into the space of the fact encoder."""
TOP = "top."
"""Prefix of the weights of the transformer layer in that file."""
GLOSS = 0.5
"""Weight of the vector of a text's English gloss, added to the text's own; chosen on development questions in four
languages."""
PREFIX = "query: "
"""Prefix of each text, as in the encoder's pretraining (Wang et al., 2024, Multilingual E5 Text Embeddings)."""


class FactMap(NamedTuple):
    """A map between the vectors of two encoders."""

    weight: Tensor
    """(d + 1, e); the last row is the bias."""
    space: str
    """Fingerprint of the fact encoder whose space it maps into."""
    layer: int
    """Number of encoder layers used. Fine-tuning for question answering keeps a text and its translation close in the
    middle layers, but not in the last ones."""
    top: Mapping[str, Tensor] = {}
    """Weights of a transformer layer on top of these, before mean pooling; empty if the map is only linear."""

    def new_top(self, heads: int) -> nn.TransformerEncoderLayer | None:
        """The transformer layer with its weights, which has `heads` attention heads."""
        if not self.top:
            return None
        inner, size = self.top["linear1.weight"].shape
        layer = nn.TransformerEncoderLayer(size, heads, inner, 0.0, "gelu", batch_first=True)
        layer.load_state_dict(dict(self.top))
        return layer


class MappedEncoder(FactEncoder):
    """A multilingual encoder whose unit mean vectors, from one of its layers, are mapped into the space of a fact
    encoder."""

    weight: Tensor

    def __init__(
        self,
        layerwise: LayerwiseEncoder,
        tokenizer: Tokenizer,
        fact_map: FactMap,
        fingerprint: str = "",
        precision: str = "fp32",
        forward_pass: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """`forward_pass` opens a context in which the encoder runs, since a reader may share the encoder."""
        super().__init__(layerwise.encoder, tokenizer, fingerprint, precision)
        self.layerwise, self.layer = layerwise, fact_map.layer
        self.forward_pass = forward_pass
        self.register_buffer("weight", fact_map.weight.float())
        self.top = fact_map.new_top(layerwise.encoder.config.num_attention_heads)  # type: ignore[union-attr,arg-type]
        self.space = fact_map.space

    @classmethod
    def load_mapped(cls, name: str, fact_map: FactMap | None = None) -> MappedEncoder:
        """The encoder of a reader's or an encoder's folder, with `fact_map` or the map stored in the folder. Raises
        InputError if there is none."""
        folder = find_encoder(name)
        if (fact_map := fact_map or load_map(folder)) is None:
            raise InputError(f"{folder}: has no {FILE}; fit it with `python training/fact_map.py {folder}`")
        plain = FactEncoder.load(folder)
        layerwise = LayerwiseEncoder(plain.encoder)
        return cls(layerwise, plain.tokenizer, fact_map, plain.fingerprint, plain.precision).eval()

    @property
    def size(self) -> int:
        return self.weight.shape[1]

    def tokens(self, texts: Sequence[str]) -> TextBatch:
        return super().tokens([PREFIX + text for text in texts])

    def states(self, batch: TextBatch) -> Tensor:
        """States (n, T, d) of the map's layer, and of the layer on top of it."""
        assert batch.attention_mask is not None
        tokens = TokenBatch(batch.input_ids, batch.attention_mask, torch.zeros_like(batch.input_ids))
        states = self.layerwise.states_of(tokens, self.layer).float()
        if self.top is not None:
            states = self.top(states, src_key_padding_mask=~batch.attention_mask.bool())
        return states

    def pooled(self, batch: TextBatch) -> Tensor:
        """Unit vectors (n, e) of the fact encoder's space."""
        return F.normalize(apply_map(super().pooled(batch), self.weight), dim=-1)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self.forward_pass():
            return super().encode(texts)


class GlossedEncoder(FactEncoder):
    """A multilingual encoder whose unit vectors are moved towards the English fact encoder's vectors of the texts'
    glosses: a dictionary recovers part of what the map loses.

    Args:
        mapped: the multilingual encoder.
        english: the fact encoder, into whose space it maps.
        glosses: English words of each text; "" where none are known.
    """

    def __init__(
        self, mapped: MappedEncoder, english: FactEncoder, glosses: Callable[[Sequence[str]], Sequence[str]]
    ) -> None:
        nn.Module.__init__(self)
        self.mapped, self.english, self.glosses = mapped, english, glosses
        self.fingerprint, self.space = mapped.fingerprint, mapped.space

    @property
    def size(self) -> int:
        return self.mapped.size

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors, glosses = self.mapped.encode(texts), self.glosses(texts)
        known = [n for n, gloss in enumerate(glosses) if gloss]
        if known:
            vectors[known] += GLOSS * self.english.encode([glosses[n] for n in known])
        unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-9)
        return unit


def apply_map(vectors: Tensor, weight: Tensor) -> Tensor:
    """`vectors` (n, d) mapped to (n, e) by a map (d + 1, e)."""
    return vectors @ weight[:-1] + weight[-1]


def save_map(fact_map: FactMap, folder: Path) -> None:
    """Write a map into a reader's folder, in half precision unless the weights are already packed in 8 bits.

    The model card must be written again afterwards.
    """
    from safetensors.torch import save_file

    about = {"space": fact_map.space, "layer": str(fact_map.layer)}
    stored = {"weight": fact_map.weight} | {f"{TOP}{name}": value for name, value in fact_map.top.items()}
    half = {name: value.half() if value.is_floating_point() else value for name, value in stored.items()}
    save_file(half, folder / FILE, metadata=about)


def load_map(folder: Path) -> FactMap | None:
    """The map in a reader's folder; None if there is none. Raises InputError if it is damaged."""
    from safetensors import safe_open

    if not (folder / FILE).exists():
        return None
    with report_damage(f"{folder / FILE}: not a map of vectors", "copy the checkpoint again"):
        with safe_open(folder / FILE, framework="pt") as file:
            about, names = file.metadata() or {}, file.keys()
            stored = unpacked({name: file.get_tensor(name) for name in names})
        top = {name.removeprefix(TOP): stored[name] for name in stored if name.startswith(TOP)}
        return FactMap(stored["weight"], about["space"], int(about["layer"]), top)

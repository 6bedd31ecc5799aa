"""Base class of reasoners: text and graph in, states of tokens and nodes out; and the text-only baseline."""

from __future__ import annotations

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import nn

from kgqa.batch import QABatch, ReasonerOutput
from kgqa.models.encoders.layerwise import LabelEncoder, LayerwiseEncoder


class ReasonerSettings(BaseModel):
    """Settings shared by the reasoners; each uses what it needs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "fused"
    """A row of `REASONERS`, or `package.module:Class` of another package."""
    graph_size: int = Field(128, ge=8)
    """Dimension of node states in the graph network."""
    num_layers: int = Field(3, ge=1)
    """Number of fusion layers (k of GreaseLM), or of graph layers after the encoder."""
    inner_size: int = Field(0, ge=0)
    """Hidden size of heads and fusion; 0: the encoder's, which takes many weights if that is wide."""
    num_heads: int = Field(4, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)
    conv: str = "RGAT"
    """For the reasoner `pyg`: a convolution of torch_geometric.nn, such as RGCN, RGAT, GATv2, Transformer or HGT."""
    yes_no: bool = False
    """Whether the answer-type classifier has the classes yes and no."""
    none_per_window: float | None = None
    """For a passage in n windows, the answer-type classifier uses the window with the largest margin of
    passage over none, and adds this times log n to the score of none, since a maximum over more windows is
    larger by chance. None: the mean over windows."""
    prior: bool | None = None
    """Whether concept scores start from the retriever's ranking; None: if the reasoner uses the graph."""
    entity_size: int = Field(0, ge=0)
    """Dimension of entity vectors (`kgqa graph embed`), for reasoners that use them; 0: labels only."""

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> ReasonerSettings:
        if self.graph_size % self.num_heads:
            raise ValueError(f"graph_size={self.graph_size} is not a multiple of num_heads={self.num_heads}")
        return self


class Reasoner(nn.Module):
    """Base of all reasoners. A subclass implements `forward(layerwise, batch) -> ReasonerOutput`.

    The encoder is an argument, not a submodule: its parameters belong to the reader.
    """

    reads_graph = True
    """Whether it uses a concept's facts or relevance, not only its label."""
    reads_entities = False
    """Whether it uses entity vectors (`kgqa graph embed`)."""
    decodes_paths = False
    """Whether it decodes evidence paths itself, so that no attribution is needed."""

    def __init__(self, layerwise: LayerwiseEncoder, settings: ReasonerSettings) -> None:
        super().__init__()
        self.settings = settings
        self.hidden_size = layerwise.hidden_size

    def forward(self, layerwise: LayerwiseEncoder, batch: QABatch) -> ReasonerOutput:
        """States of tokens, summary and nodes."""
        raise NotImplementedError


class TextOnly(Reasoner):
    """The text-only baseline: the encoder alone; nodes are represented by their labels."""

    reads_graph = False

    def __init__(self, layerwise: LayerwiseEncoder, settings: ReasonerSettings) -> None:
        super().__init__(layerwise, settings)
        self.labels = LabelEncoder(layerwise, self.hidden_size)

    def forward(self, layerwise: LayerwiseEncoder, batch: QABatch) -> ReasonerOutput:
        """Token states of the encoder; node states are label vectors; nothing is pooled from the graph."""
        hidden = layerwise.encode(batch.tokens)  # (B, T, H)
        nodes = self.labels(layerwise, batch.graph)[batch.graph.node_label]  # (N, H)
        summary = layerwise.summary(hidden, batch.tokens)
        return ReasonerOutput(hidden, summary, nodes, torch.zeros_like(summary))


def zero_linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear layer initialized to zero: training starts from the reader without this layer."""
    layer = nn.Linear(inputs, outputs)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer

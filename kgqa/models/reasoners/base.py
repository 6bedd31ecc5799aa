"""What a reasoner is: text and graph in, states of tokens and nodes out. And the simplest one: no graph."""

from __future__ import annotations

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import nn

from kgqa.batch import Fused, QABatch
from kgqa.models.encoders.label_encoder import LabelEncoder
from kgqa.models.encoders.stepping import Stepper


class ReasonerSettings(BaseModel):
    """Sizes shared by the reasoners; each reads what it needs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "fused"
    """A row of `REASONERS`, or `package.module:Class` of another package."""
    graph_size: int = Field(128, ge=8)
    """Width of node states inside the graph network."""
    num_layers: int = Field(3, ge=1)
    """Layers in which text and graph are walked together (k of GreaseLM), or graph layers after the text."""
    inner_size: int = Field(0, ge=0)
    """Width of what heads and fusion compute in between; 0 is the encoder's, which of a wide one takes many weights."""
    num_heads: int = Field(4, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)
    word_size: int = Field(0, ge=0)
    """Width of the word vectors (`kgqa words`) that are read beside the encoder's own; 0 reads none."""
    conv: str = "RGAT"
    """Reasoner `pyg`: a convolution of torch_geometric.nn, such as RGCN, RGAT, GATv2, Transformer or HGT."""
    verdicts: bool = False
    """Whether the gate may answer yes or no from the passage."""
    operations: bool = False
    """Accepted for recipes and cards of before, and read by nothing: logical forms took its place."""
    prior: bool | None = None
    """Whether scores of concepts begin at the retriever's ranking; None: where the reasoner reads the graph."""
    entity_size: int = Field(0, ge=0)
    """Width of learnt entity vectors (`kgqa graph embed`), for reasoners that read them; 0 reads labels alone."""

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> ReasonerSettings:
        if self.graph_size % self.num_heads:
            raise ValueError(f"graph_size={self.graph_size} is no multiple of num_heads={self.num_heads}")
        return self


class Reasoner(nn.Module):
    """Base of all reasoners. A subclass implements `forward(stepper, batch) -> Fused`.

    The encoder comes in as an argument and is owned by the reader, so that its parameters have one home.
    """

    reads_graph = True
    """Whether a concept may be judged by more than its label: by the graph around it, by its relevance."""
    reads_entities = False
    """Whether learnt entity vectors (`kgqa graph embed`) are of use to it."""
    decodes_paths = False
    """Whether it names its own best path, so that evidence need not be sought by deletion."""

    def __init__(self, stepper: Stepper, settings: ReasonerSettings) -> None:
        super().__init__()
        self.settings = settings
        self.hidden_size = stepper.hidden_size

    def forward(self, stepper: Stepper, batch: QABatch) -> Fused:
        """States of tokens, summary and nodes."""
        raise NotImplementedError


class TextOnly(Reasoner):
    """The baseline that every claim is measured against: text decides, a node is no more than its label."""

    reads_graph = False

    def __init__(self, stepper: Stepper, settings: ReasonerSettings) -> None:
        super().__init__(stepper, settings)
        self.labels = LabelEncoder(stepper, self.hidden_size)

    def forward(self, stepper: Stepper, batch: QABatch) -> Fused:
        """Token states of the encoder; node states are label vectors; nothing is pooled from the graph."""
        hidden = stepper.walk(batch.tokens)  # (B, T, H)
        nodes = self.labels(stepper, batch.graph)[batch.graph.node_label]  # (N, H)
        summary = stepper.summary(hidden, batch.tokens)
        return Fused(hidden, summary, nodes, torch.zeros_like(summary))


def zero_linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear layer that starts at zero: training starts at the reader without this branch."""
    layer = nn.Linear(inputs, outputs)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer

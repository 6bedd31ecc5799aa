"""Denoising entities: which concept is meant, where its alignment was taken away or is wrong?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from kgqa.batch import GraphBatch, Loss, QABatch, Term
from kgqa.models.encoders.label_encoder import LabelEncoder
from kgqa.objectives.pretraining.joint import Joint

REPLACED, MASKED = 0.05, 0.15
"""Shares of the mentioned concepts whose alignment is wrong, or missing; the rest stay as they are."""


class EntityDenoising(Joint):
    """MLM + the denoising entity auto-encoder dEA (Zhang et al., 2019, section 3.4, equations 6 and 7).

    Of the mentioned concepts 5 % are replaced by another of the row, 15 % lose their alignment, 80 % stay.
    Each mention token then tells its concept among those mentioned in its row:
    p(e | w) = softmax(linear(w) . e). The fate falls on a concept with all its mentions, else a second
    mention would give it away. `e` are the paper's TransE vectors, frozen, where the reader is given some
    (`entity_size`, `kgqa graph embed`), label vectors for all other concepts. LinkPrediction is the sibling that
    learns of facts. The paper adds NSP; RoBERTa found it of no use.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        hidden = self.reader.stepper.hidden_size
        size = self.reader.settings.entity_size or hidden
        self.entities = LabelEncoder(self.reader.stepper, size)
        self.linear = nn.Linear(hidden, size)

    def forward(self, batch: QABatch) -> Loss:
        """Sum of both losses; `entity_accuracy` is the share of mention tokens whose concept is found."""
        graph = batch.graph
        fused, mlm = self.read(batch, corrupt(graph))
        labels = self.entities(self.reader.stepper, graph)[graph.node_label]  # (N, E)
        if graph.node_vector is not None and self.reader.settings.entity_size:
            known = graph.node_vector.abs().sum(-1, keepdim=True) > 0
            labels = torch.where(known, graph.node_vector.to(labels.dtype), labels)
        mentioned, gold = graph.mention_node.unique(return_inverse=True)  # type: ignore[no-untyped-call]  # (U), (M)
        states = self.linear(fused.tokens[graph.mention_row, graph.mention_token])  # (M, E)
        scores = (states @ labels[mentioned].to(states.dtype).T).float() / labels.shape[-1] ** 0.5  # (M, U)
        same_row, told = _candidates(graph, mentioned)
        scores = scores.masked_fill(~same_row, -1e4)
        dea = cross_entropy(scores, gold.masked_fill(~told, -100), ignore_index=-100, reduction="sum")
        count = told.sum().clamp(min=1)
        right = ((scores.argmax(1) == gold) & told).sum() / count if len(gold) else count * 0.0
        return Loss.summed({"mlm": mlm, "dea": Term(dea, told.sum())}, entity_accuracy=right)

    def counts(self, batch: QABatch) -> dict[str, Tensor | float]:
        """The hidden tokens, and the mention tokens that have a concept to choose."""
        mentioned = batch.graph.mention_node.unique()  # type: ignore[no-untyped-call]
        return {**super().counts(batch), "dea": _candidates(batch.graph, mentioned)[1].sum()}


def _candidates(graph: GraphBatch, mentioned: Tensor) -> tuple[Tensor, Tensor]:
    """Which of the concepts `mentioned` (U,) stand in each mention token's row, (M, U); where there are several."""
    same_row = graph.mention_row.unsqueeze(1) == graph.batch[mentioned]
    return same_row, same_row.sum(1) > 1  # one candidate is no question


def corrupt(graph: GraphBatch) -> GraphBatch:
    """The graph with some alignments wrong and some missing."""
    fate = torch.rand(len(graph.node_label), device=graph.node_label.device)[graph.mention_node]  # (M)
    node = torch.where(fate < REPLACED, others(graph, graph.mention_node), graph.mention_node)
    kept = (fate < REPLACED) | (fate >= REPLACED + MASKED)
    return replace(
        graph,
        mention_row=graph.mention_row[kept],
        mention_token=graph.mention_token[kept],
        mention_node=node[kept],
    )


def others(graph: GraphBatch, nodes: Tensor) -> Tensor:
    """For each of `nodes` (n,) another node of its row, drawn evenly, never the context; itself if it is alone."""
    sizes = torch.bincount(graph.batch)
    first = (sizes.cumsum(0) - sizes)[graph.batch[nodes]] + 1  # behind the row's context node
    room = sizes[graph.batch[nodes]] - 1
    draw = torch.rand(len(nodes), device=nodes.device)
    step = 1 + (draw * (room - 1).clamp(min=0)).long().clamp(max=(room - 2).clamp(min=0))
    return first + (nodes - first + step) % room.clamp(min=1)

"""Predicting facts that were taken out of a subgraph, from the text and from the facts that stayed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from kgqa.batch import GraphBatch, Loss, QABatch, Term
from kgqa.models.encoders.label_encoder import LabelEncoder
from kgqa.objectives.pretraining.entity_denoising import others
from kgqa.objectives.pretraining.joint import Joint


class LinkPrediction(Joint):
    """MLM + link prediction over held-out facts (DRAGON: Yasunaga et al., 2022, section 2.3, equation 7).

    A share `held_out` of the facts is taken out; each is scored against the same fact with another head or tail of its
    own subgraph, where that is no fact, by DistMult (Yang et al., 2015): sum(h * r * t), with a margin of 0. `h` and
    `t` are the node states that have met the text, `r` is read from the relation's words, so that a new graph's
    relations are known. EntityDenoising is the sibling that learns of mentions.
    """

    negatives = 16
    """Wrong facts for each that is taken out."""

    def __init__(self, *arguments: Any, held_out: float = 0.15, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.held_out = held_out
        size = self.reader.stepper.hidden_size
        self.relations = LabelEncoder(self.reader.stepper, size)

    def forward(self, batch: QABatch) -> Loss:
        """Sum of both losses; `link_accuracy` is the share of wrong facts that score below the right one."""
        graph = batch.graph
        held = self.draw(graph)
        fused, mlm = self.read(batch, without(graph, held))
        head, tail = graph.edge_index[:, held]  # (S)
        if not len(head):
            return Loss.summed({"mlm": mlm, "link": Term(fused.nodes.sum() * 0.0, 0.0)})
        relation = self.relations(self.reader.stepper, graph)[graph.edge_label[held]]  # (S, H)
        swap_head = torch.rand(len(head), self.negatives, device=head.device) < 0.5
        swapped = torch.where(swap_head, head.unsqueeze(1), tail.unsqueeze(1))
        other = others(graph, swapped.flatten()).view_as(swapped)
        wrong_head = torch.where(swap_head, other, head.unsqueeze(1))
        wrong_tail = torch.where(swap_head, tail.unsqueeze(1), other)
        right = self.score(fused.nodes[head], relation, fused.nodes[tail])  # (S)
        wrong = self.score(fused.nodes[wrong_head], relation.unsqueeze(1), fused.nodes[wrong_tail])  # (S, n)
        usable = ~is_fact(graph, wrong_head, graph.edge_label[held].unsqueeze(1), wrong_tail)
        usable &= wrong_head != wrong_tail  # a fact about itself is no fact: too easily told from a right one
        count = usable.sum(1).clamp(min=1)
        link = -(logsigmoid(right) + (logsigmoid(-wrong) * usable).sum(1) / count).sum()
        below = ((wrong < right.unsqueeze(1)) & usable).sum() / usable.sum().clamp(min=1)
        return Loss.summed({"mlm": mlm, "link": Term(link, float(len(head)))}, link_accuracy=below)

    def counts(self, batch: QABatch) -> dict[str, Tensor | float]:
        """The hidden tokens, and the facts taken out."""
        held = self.draw(batch.graph)  # the first draw of `forward`
        return {**super().counts(batch), "link": float(held.sum())}

    def draw(self, graph: GraphBatch) -> Tensor:
        """Which facts are taken out, (E,) bool: at least one where there is any."""
        chance = torch.rand(graph.edge_index.shape[1], device=graph.edge_index.device)
        held = chance < self.held_out
        if len(held):
            held[chance.argmin()] = True
        return held

    def score(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """DistMult's score sum_d h_d r_d t_d / sqrt(d) of facts, (...), from vectors (..., d)."""
        found: Tensor = (head.float() * relation.float() * tail.float()).sum(-1) / head.shape[-1] ** 0.5
        return found


def is_fact(graph: GraphBatch, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
    """Whether the graph has such a fact, for heads, relations and tails of one shape (or broadcast to one)."""
    size, kinds = len(graph.role), int(graph.edge_label.max()) + 1
    known = (graph.edge_index[0] * size + graph.edge_index[1]) * kinds + graph.edge_label
    return torch.isin((head * size + tail) * kinds + relation, known)


def without(graph: GraphBatch, held: Tensor) -> GraphBatch:
    """The graph without the facts that are `held` (E,) back."""
    return replace(
        graph,
        edge_index=graph.edge_index[:, ~held],
        edge_label=graph.edge_label[~held],
        edge_weight=graph.edge_weight[~held],
        edge_plausible=None if graph.edge_plausible is None else graph.edge_plausible[~held],
    )

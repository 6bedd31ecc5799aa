"""Pretraining on text and a knowledge graph: MLM with entity denoising or link prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, logsigmoid

from kgqa.batch import GraphBatch, Loss, QABatch, ReasonerOutput, Term
from kgqa.models.encoders.layerwise import LabelEncoder
from kgqa.models.reader import Reader, save_reader
from kgqa.objectives.base import LanguageModelling, guessed
from kgqa.objectives.pretraining.mlm import Masked, gather, hide


class Joint(LanguageModelling):
    """MLM with states that depend on the graph. Subclasses add a loss on the graph.

    The batch is a `QABatch` without gold: rows of text (the passage), each with a subgraph and mentions. The body of
    `model` is the encoder of `reader`, whose reasoner is trained with it; its heads are not trained until `kgqa train`.
    """

    def __init__(
        self,
        model: Any,
        predict: Callable[[Any, Tensor], Tensor],
        reader: Reader,
        *,
        share: float = 0.15,
        **options: Any,
    ) -> None:
        super().__init__(model, predict, **options)
        if reader.encoder is not model.base_model:
            raise ValueError("the reader must use the model's own encoder")
        self.reader, self.share = reader, share

    def read(self, batch: QABatch, graph: GraphBatch) -> tuple[ReasonerOutput, Term]:
        """States of text and `graph` with masked tokens, and the MLM loss."""
        masked = self._hide(batch)
        tokens = replace(batch.tokens, input_ids=masked.input_ids)
        fused = self.reader.reasoner(self.reader.layerwise, replace(batch, tokens=tokens, graph=graph))
        return fused, self.guess_loss(gather(fused.tokens, masked.positions), masked.labels)

    def counts(self, batch: QABatch) -> dict[str, Tensor | float]:
        """The number of masked tokens, which depends on the rows, not on the random choice."""
        return {"mlm": guessed(self._hide(batch).labels)}

    def _hide(self, batch: QABatch) -> Masked:
        return hide(batch.tokens.input_ids, self.model.config.vocab_size, self.share)

    def export(self, folder: Path) -> None:
        """Write a reader's folder: `AutoModel` loads its encoder, and `kgqa train` continues from encoder and
        reasoner."""
        self._save(folder)
        save_reader(self.reader, folder, folder, {"name": folder.parent.name, "max_nodes": 100})


# Entity denoising: predict the concept of a mention whose alignment is missing or wrong.

REPLACED, MASKED = 0.05, 0.15
"""Shares of mentioned concepts whose alignment is replaced by a wrong one, or removed."""


class EntityDenoising(Joint):
    """MLM + the denoising entity auto-encoder dEA (Zhang et al., 2019, section 3.4, equations 6 and 7).

    Of the mentioned concepts, 5 % are replaced by another of the row, 15 % lose their alignment, 80 % are unchanged.
    Each mention token predicts its concept among those mentioned in its row: p(e | w) = softmax(linear(w) . e). All
    mentions of a concept are treated alike, since an unchanged one would reveal the answer. `e` are frozen TransE
    vectors, as in the paper, if the reader has some (`entity_size`, `kgqa graph embed`), else label vectors.
    LinkPrediction trains on facts instead. The paper adds NSP, which RoBERTa found to be of no use.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        hidden = self.reader.layerwise.hidden_size
        size = self.reader.settings.entity_size or hidden
        self.entities = LabelEncoder(self.reader.layerwise, size)
        self.linear = nn.Linear(hidden, size)

    def forward(self, batch: QABatch) -> Loss:
        """Sum of both losses; `entity_accuracy` is the share of mention tokens with the correct concept ranked
        first."""
        graph = batch.graph
        fused, mlm = self.read(batch, corrupt(graph))
        labels = self.entities(self.reader.layerwise, graph)[graph.node_label]  # (N, E)
        if graph.node_vector is not None and self.reader.settings.entity_size:
            known = graph.node_vector.abs().sum(-1, keepdim=True) > 0
            labels = torch.where(known, graph.node_vector.to(labels.dtype), labels)
        mentioned, gold = graph.mention_node.unique(return_inverse=True)  # type: ignore[no-untyped-call]  # (U), (M)
        states = self.linear(fused.tokens[graph.mention_row, graph.mention_token])  # (M, E)
        scores = (states @ labels[mentioned].to(states.dtype).T).float() / labels.shape[-1] ** 0.5  # (M, U)
        same_row, has_choice = _candidates(graph, mentioned)
        scores = scores.masked_fill(~same_row, -1e4)
        dea = cross_entropy(scores, gold.masked_fill(~has_choice, -100), ignore_index=-100, reduction="sum")
        count = has_choice.sum().clamp(min=1)
        right = ((scores.argmax(1) == gold) & has_choice).sum() / count if len(gold) else count * 0.0
        return Loss.summed({"mlm": mlm, "dea": Term(dea, has_choice.sum())}, entity_accuracy=right)

    def counts(self, batch: QABatch) -> dict[str, Tensor | float]:
        """The number of masked tokens, and of mention tokens with several concepts to choose from."""
        mentioned = batch.graph.mention_node.unique()  # type: ignore[no-untyped-call]
        return {**super().counts(batch), "dea": _candidates(batch.graph, mentioned)[1].sum()}


def _candidates(graph: GraphBatch, mentioned: Tensor) -> tuple[Tensor, Tensor]:
    """(M, U): which of the concepts `mentioned` (U,) are in the row of each mention token; (M,): whether there are
    several."""
    same_row = graph.mention_row.unsqueeze(1) == graph.batch[mentioned]
    return same_row, same_row.sum(1) > 1  # a single candidate needs no prediction


def corrupt(graph: GraphBatch) -> GraphBatch:
    """The graph with some alignments replaced and some removed."""
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
    """For each of `nodes` (n,) another node of its row, sampled uniformly, never the context node; itself if it is
    the only one."""
    sizes = torch.bincount(graph.batch)
    first = (sizes.cumsum(0) - sizes)[graph.batch[nodes]] + 1  # after the row's context node
    room = sizes[graph.batch[nodes]] - 1
    draw = torch.rand(len(nodes), device=nodes.device)
    step = 1 + (draw * (room - 1).clamp(min=0)).long().clamp(max=(room - 2).clamp(min=0))
    return first + (nodes - first + step) % room.clamp(min=1)


class LinkPrediction(Joint):
    """MLM + link prediction over held-out facts (DRAGON: Yasunaga et al., 2022, section 2.3, equation 7).

    A share `held_out` of the facts is removed; each is scored against corrupted facts with another head or tail of the
    same subgraph by DistMult (Yang et al., 2015): sum(h * r * t), with a margin of 0. `h` and `t` are node states,
    which depend on the text; `r` is embedded from the relation's label, so that it works for the relations of a new
    graph. EntityDenoising trains on mentions instead.
    """

    negatives = 16
    """Number of corrupted facts per held-out fact."""

    def __init__(self, *arguments: Any, held_out: float = 0.15, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.held_out = held_out
        size = self.reader.layerwise.hidden_size
        self.relations = LabelEncoder(self.reader.layerwise, size)

    def forward(self, batch: QABatch) -> Loss:
        """Sum of both losses; `link_accuracy` is the share of corrupted facts that score below the true one."""
        graph = batch.graph
        held = self.draw(graph)
        fused, mlm = self.read(batch, without(graph, held))
        head, tail = graph.edge_index[:, held]  # (S)
        if not len(head):
            return Loss.summed({"mlm": mlm, "link": Term(fused.nodes.sum() * 0.0, 0.0)})
        relation = self.relations(self.reader.layerwise, graph)[graph.edge_label[held]]  # (S, H)
        swap_head = torch.rand(len(head), self.negatives, device=head.device) < 0.5
        swapped = torch.where(swap_head, head.unsqueeze(1), tail.unsqueeze(1))
        other = others(graph, swapped.flatten()).view_as(swapped)
        wrong_head = torch.where(swap_head, other, head.unsqueeze(1))
        wrong_tail = torch.where(swap_head, tail.unsqueeze(1), other)
        right = self.score(fused.nodes[head], relation, fused.nodes[tail])  # (S)
        wrong = self.score(fused.nodes[wrong_head], relation.unsqueeze(1), fused.nodes[wrong_tail])  # (S, n)
        usable = ~is_fact(graph, wrong_head, graph.edge_label[held].unsqueeze(1), wrong_tail)
        usable &= wrong_head != wrong_tail  # a loop would be too easy a negative
        count = usable.sum(1).clamp(min=1)
        link = -(logsigmoid(right) + (logsigmoid(-wrong) * usable).sum(1) / count).sum()
        below = ((wrong < right.unsqueeze(1)) & usable).sum() / usable.sum().clamp(min=1)
        return Loss.summed({"mlm": mlm, "link": Term(link, float(len(head)))}, link_accuracy=below)

    def counts(self, batch: QABatch) -> dict[str, Tensor | float]:
        """The number of masked tokens, and of held-out facts."""
        held = self.draw(batch.graph)  # the first draw of `forward`
        return {**super().counts(batch), "link": float(held.sum())}

    def draw(self, graph: GraphBatch) -> Tensor:
        """(E,) bool: which facts are held out, at least one if there are any."""
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
    """Whether the graph has each fact, for heads, relations and tails of the same (or a broadcastable) shape."""
    size, kinds = len(graph.role), int(graph.edge_label.max()) + 1
    known = (graph.edge_index[0] * size + graph.edge_index[1]) * kinds + graph.edge_label
    return torch.isin((head * size + tail) * kinds + relation, known)


def without(graph: GraphBatch, held: Tensor) -> GraphBatch:
    """The graph without the facts in `held` (E,)."""
    return replace(
        graph,
        edge_index=graph.edge_index[:, ~held],
        edge_label=graph.edge_label[~held],
        edge_weight=graph.edge_weight[~held],
        edge_plausible=None if graph.edge_plausible is None else graph.edge_plausible[~held],
    )

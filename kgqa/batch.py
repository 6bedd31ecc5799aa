"""Tensor types. `models/collation/collate.py` makes them from text; `decode` of the heads converts them to text.

Legend of dimensions, used in every shape comment:
  Q questions of the batch                 B rows: one per question, or per choice, or per window of a passage
  T tokens of a row                        H hidden size
  N nodes of all rows together (ragged)    E edges of all rows together
  U distinct labels in the batch           K tokens of a label
  M mention tokens aligned to nodes       C scored candidates (packed in rows, or rows of their own), or classes
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor


class Movable:
    """Mixin: `.to(device)` for dataclasses of tensors, which may be nested; other fields are kept."""

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Self:
        """The same batch with every tensor on `device`."""
        return self._each(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def float(self) -> Self:
        """The same with every floating-point tensor in float32."""
        return self._each(lambda tensor: tensor.float() if tensor.is_floating_point() else tensor)

    def _each(self, change: Callable[[Tensor], Tensor]) -> Self:
        changed: dict[str, Any] = {}
        for item in fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if isinstance(value, Movable):
                changed[item.name] = value._each(change)
            elif isinstance(value, Tensor):
                changed[item.name] = change(value)
        return replace(self, **changed)  # type: ignore[type-var]


@dataclass(frozen=True)
class TokenBatch(Movable):
    """Rows of tokens. `token_type_ids` is 0 for question and choice, 1 for the passage."""

    input_ids: Tensor  # (B, T) int64
    attention_mask: Tensor  # (B, T) bool
    token_type_ids: Tensor  # (B, T) int64
    candidate_index: Tensor | None = (
        None  # (B, T) int64: 0 in the shared prefix, k in the row's k-th packed candidate
    )
    position: Tensor | None = (
        None  # (B, T) int64: each packed candidate continues from the end of the shared prefix
    )


@dataclass(frozen=True)
class TextBatch(Movable):
    """Rows of text for pretraining. Packed rows are full and need no mask, which is faster."""

    input_ids: Tensor  # (B, T) int64
    attention_mask: Tensor | None = None  # (B, T) bool; None: every token counts
    token_type_ids: Tensor | None = None  # (B, T) int64, 1 for the second segment
    label: Tensor | None = None  # (B,) int64 for NSP or SOP: 1 if the second segment is not the next
    joined: Tensor | None = None  # (B, T) bool: the token belongs to the same concept as the one before it


@dataclass(frozen=True)
class GraphBatch(Movable):
    """The subgraphs of all rows as one disconnected graph, in PyG layout; nodes are represented by their labels.

    Every row has one CONTEXT node (its first), connected to no stored fact. Edges are stored in the direction of the
    fact; reasoners add the reverse direction.
    """

    label_ids: Tensor  # (U, K) int64 tokens of each distinct label (nodes and relations share the table)
    label_mask: Tensor  # (U, K) bool
    node_label: Tensor  # (N,) int64 row of label_ids
    role: Tensor  # (N,) int64 NodeRole
    score: Tensor  # (N,) float32 relevance, 0..1
    batch: Tensor  # (N,) int64 row 0..B-1, ascending
    edge_index: Tensor  # (2, E) int64 head node, tail node
    edge_label: Tensor  # (E,) int64 row of label_ids: the relation's label
    edge_weight: Tensor  # (E,) float32
    mention_row: Tensor  # (M,) int64 row 0..B-1
    mention_token: Tensor  # (M,) int64 token 0..T-1
    mention_node: Tensor  # (M,) int64 node 0..N-1
    node_vector: Tensor | None = None  # (N, d) float32 entity vectors (`kgqa graph embed`), zero if unknown
    edge_plausible: Tensor | None = (
        None  # (E,) float32 plausibility of each fact by the scoring function of those vectors, 0..1
    )


class EdgeBatch(NamedTuple):
    """The directed edges of message passing: E' edges, among them every stored fact in both directions.

    The first E are the facts from head to tail, the next E the same facts from tail to head.
    """

    edge_index: Tensor  # (2, E') int64 source node, target node
    kind: Tensor  # (E',) int64 edge type, a row of kinds
    kinds: Tensor  # (K', size) vector of each edge type: a relation and its direction
    log_weight: Tensor  # (E',) float32


@dataclass(frozen=True)
class Gold(Movable):
    """Gold answers as tensors; -1 where a question has none of that type."""

    source: Tensor  # (Q,) int64: 0 passage, 1 knowledge, 2 none, 3 yes, 4 no, -1 for multiple choice
    choice: Tensor  # (Q,) int64 index of the correct choice
    start: Tensor  # (B,) int64 first token of the gold span in this row, 0 (summary) if not in this window
    end: Tensor  # (B,) int64 last token, inclusive
    node: Tensor  # (N,) bool: node is an accepted answer concept
    # (Q,) int64 what a yes/no answer with a passage rests on: 0 passage, 1 knowledge, -1 otherwise
    ground: Tensor
    same: Tensor  # (Q,) int64 group of paraphrases that the question belongs to, -1 for none


@dataclass(frozen=True)
class PackedCandidates(Movable):
    """The packed candidates of all rows: each is a possible answer behind the row's shared prefix, under a tree
    attention mask (as K-BERT's visible matrix; Liu et al., 2020)."""

    row: Tensor  # (C,) int64 row 0..B-1, ascending
    number: Tensor  # (C,) int64 its index in `TokenBatch.candidate_index`, from 1
    choice: Tensor  # (C,) int64 index of the choice, -1 for a concept, yes or no
    node: Tensor  # (C,) int64 node of the concept, -1 for none


@dataclass(frozen=True)
class QABatch(Movable):
    """A batch of questions, ready for a reasoner.

    Choices have rows of their own or, if `packed` is set, are packed behind the shared prefix of one row.
    """

    tokens: TokenBatch
    graph: GraphBatch
    question: Tensor  # (B,) int64 question of each row, ascending
    choice: Tensor  # (B,) int64 choice of each row, -1 for rows without
    passage_mask: Tensor  # (B, T) bool: tokens an answer span may use
    num_questions: int
    gold: Gold | None = None
    packed: PackedCandidates | None = None

    @property
    def scored(self) -> tuple[Tensor, Tensor]:
        """Question and choice, (C,) each, of everything that the choice head scores."""
        if self.packed is None:
            return self.question, self.choice
        return self.question[self.packed.row], self.packed.choice

    @property
    def num_rows(self) -> int:
        """B."""
        return int(self.tokens.input_ids.shape[0])

    def part(self, first: int, end: int) -> QABatch:
        """Rows `first` to `end` - 1 as a batch of their own, with their part of the graph; without gold and packing."""
        graph, ends = self.graph, torch.tensor([first, end], device=self.question.device)

        def within(rows: Tensor) -> slice:
            return slice(*torch.searchsorted(rows.contiguous(), ends).tolist())

        node = within(graph.batch)
        edge, mention = within(graph.batch[graph.edge_index[0]]), within(graph.mention_row)
        used = torch.cat([graph.node_label[node], graph.edge_label[edge]])
        label, place = torch.unique(used, return_inverse=True)
        nodes = node.stop - node.start
        named = (item.name for item in fields(TokenBatch))
        tokens: dict[str, Any] = {name: _rows(getattr(self.tokens, name), first, end) for name in named}
        return QABatch(
            TokenBatch(**tokens),
            GraphBatch(
                label_ids=graph.label_ids[label],
                label_mask=graph.label_mask[label],
                node_label=place[:nodes],
                role=graph.role[node],
                score=graph.score[node],
                batch=graph.batch[node] - first,
                edge_index=graph.edge_index[:, edge] - node.start,
                edge_label=place[nodes:],
                edge_weight=graph.edge_weight[edge],
                mention_row=graph.mention_row[mention] - first,
                mention_token=graph.mention_token[mention],
                mention_node=graph.mention_node[mention] - node.start,
                node_vector=_rows(graph.node_vector, node.start, node.stop),
                edge_plausible=_rows(graph.edge_plausible, edge.start, edge.stop),
            ),
            self.question[first:end],
            self.choice[first:end],
            self.passage_mask[first:end],
            self.num_questions,
        )


@dataclass(frozen=True)
class ReasonerOutput(Movable):
    """Output of a reasoner, the input of the heads."""

    tokens: Tensor  # (B, T, H) token states
    summary: Tensor  # (B, H) state of the summary token
    nodes: Tensor  # (N, H) node states (context nodes included)
    pooled: Tensor  # (B, H) pooled graph representation of the row
    attention: Tensor | None = None  # (E,) weight of each fact in the message passing, for explanation
    paths: Tensor | None = None  # (N, hops) decoded path to each node: e forward, E + e backward, -1 none
    path_weight: Tensor | None = None  # (N,) share of the node's score on this path
    packed: Tensor | None = None  # (C, H) mean token state of each packed candidate

    @classmethod
    def joined(cls, parts: Sequence[ReasonerOutput]) -> ReasonerOutput:
        """Concatenate the outputs of parts of a batch; decoded paths are not supported, since they index facts."""
        every = {f.name: [getattr(part, f.name) for part in parts] for f in fields(cls)}
        joined: dict[str, Any] = {n: None if of[0] is None else torch.cat(of) for n, of in every.items()}
        return cls(**joined)


def _rows(values: Tensor | None, first: int, end: int) -> Tensor | None:
    return None if values is None else values[first:end]


WHOLE = "questions"
"""Name of a loss term that is the whole loss, so that it is not logged as a part."""


@dataclass(frozen=True)
class Term(Movable):
    """A term of a loss, as a sum and the count to normalize it by."""

    total: Tensor  # ()
    count: Tensor | float
    """Number of tokens, rows or questions in the sum."""
    weight: float | Tensor = 1.0
    """Weight of the term in the loss."""


@dataclass(frozen=True)
class Loss(Movable):
    """A loss with its parts for the log.

    With `terms`, gradient accumulation is exact: each term is summed over all micro-batches of a step, and divided by
    the total count. A loss without terms has weight one, whatever the size of its batch.
    """

    total: Tensor  # ()
    parts: dict[str, Tensor] = field(default_factory=dict)
    terms: dict[str, Term] = field(default_factory=dict)

    @classmethod
    def of(cls, total: Tensor, **parts: Tensor) -> Loss:
        """A loss with detached parts."""
        return cls(total, {name: value.detach() for name, value in parts.items()})

    @classmethod
    def summed(cls, terms: dict[str, Term], **parts: Tensor) -> Loss:
        """A loss of terms: the sum of their weighted means over this batch. `parts` are further metrics for the log."""
        found = cls(torch.zeros(()), terms=terms)
        total, means = found.over(found.counts), found.shares(found.counts)
        logged = {name: value for name, value in {**means, **parts}.items() if name != WHOLE}
        return cls(total, {name: value.detach() for name, value in logged.items()}, terms)

    @property
    def counts(self) -> dict[str, Tensor | float]:
        """The count of each term in this batch."""
        return {name: term.count for name, term in self.terms.items()} or {"loss": 1.0}

    def over(self, counts: Mapping[str, Tensor | float]) -> Tensor:
        """This batch's share () of the loss over several batches with the given total counts."""
        if not self.terms:
            return self.total / counts["loss"]
        shares = self.shares(counts)
        return torch.stack([term.weight * shares[name] for name, term in self.terms.items()]).sum()

    def shares(self, counts: Mapping[str, Tensor | float]) -> dict[str, Tensor]:
        """This batch's share () of each term's mean over several batches."""
        return {name: term.total / _some(counts[name]) for name, term in self.terms.items()}


def _some(count: Tensor | float) -> Tensor | float:
    """A count to divide by, at least 1: a term over nothing is 0."""
    return count.clamp(min=1) if isinstance(count, Tensor) else max(count, 1)

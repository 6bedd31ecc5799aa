"""The graph network that reasoners share: typed nodes, relations embedded by their labels, one message layer.

The shipped readers use the fused reasoner, which imports this module but not PyG, whose import takes seconds: the
softmax and sums that it needs are in `kgqa/models/segments.py`. `convolution.py` has the same message layer as a PyG
module, for the other reasoners.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from kgqa.batch import EdgeBatch, GraphBatch
from kgqa.models.encoders.layerwise import LabelEncoder, LayerwiseEncoder
from kgqa.models.reasoners.base import Reasoner, ReasonerSettings
from kgqa.models.segments import segment_softmax, segment_sum
from kgqa.types import LINKED, NodeRole

NUM_ROLES = len(NodeRole)


def context_nodes(graph: GraphBatch) -> Tensor:
    """The context node of each row, (B,)."""
    return torch.nonzero(graph.role == int(NodeRole.CONTEXT)).squeeze(-1)


def fact_attention(layers: Sequence[Tensor], graph: GraphBatch) -> Tensor:
    """Attention of each fact, (E,): the mean over layers, then the maximum of the two directions."""
    count = graph.edge_index.shape[1]
    mean = torch.stack(list(layers)).mean(0)
    return torch.maximum(mean[:count], mean[count : 2 * count])


def relevance_powers(graph: GraphBatch) -> Tensor:
    """Features of each node's relevance s: s, its square root and its square, (N, 3)."""
    score = graph.score.unsqueeze(-1)
    return torch.cat([score, score.sqrt(), score.square()], dim=-1)


class NodeInput(nn.Module):
    """Initial node states: label vector + role + relevance (QA-GNN, Yasunaga et al., 2021, section 3.2).

    h_i = LayerNorm(label_i + role_i + W [s_i, sqrt(s_i), s_i^2]), s_i the node's relevance.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.role = nn.Embedding(NUM_ROLES, size)
        self.score = nn.Linear(3, size)
        self.norm = nn.LayerNorm(size)

    def forward(self, labels: Tensor, graph: GraphBatch) -> Tensor:
        """(N, size) from label vectors (U, size)."""
        powers = relevance_powers(graph).to(labels.dtype)
        nodes: Tensor = self.norm(
            labels.index_select(0, graph.node_label) + self.role(graph.role) + self.score(powers)
        )
        return nodes


class Connections(nn.Module):
    """The directed edges of message passing, with a vector for each edge type.

    Every fact is an edge in both directions, and the context node of a row is connected in both directions to the
    concepts that question, passage and choice mention. There is one type for each relation label and direction, and two
    for each role. With `typed`, the vector also depends on the roles of source and target, r = f([e ; u_source ;
    u_target]), as in QA-GNN (Yasunaga et al., 2021, section 3.3).
    """

    def __init__(self, size: int, typed: bool = False) -> None:
        super().__init__()
        self.forward_kind = nn.Linear(size, size)
        self.backward_kind = nn.Linear(size, size)
        self.context_kind = nn.Embedding(2 * NUM_ROLES, size)
        self.typed = (
            nn.Sequential(nn.Linear(size + 2 * NUM_ROLES, size), nn.GELU(), nn.Linear(size, size))
            if typed
            else None
        )

    def forward(self, labels: Tensor, graph: GraphBatch) -> EdgeBatch:
        """Edges of the whole batch, from label vectors (U, size)."""
        relation, kind = torch.unique(graph.edge_label, return_inverse=True)
        vectors = labels[relation]
        linked = torch.stack([graph.role == int(role) for role in LINKED]).any(0)
        member = torch.nonzero(linked).squeeze(-1)
        hub = context_nodes(graph)[graph.batch[member]]
        base = 2 * len(relation)
        linked_role = graph.role[member]
        index = torch.cat(
            [
                graph.edge_index,
                graph.edge_index.flip(0),
                torch.stack([member, hub]),
                torch.stack([hub, member]),
            ],
            dim=1,
        )
        kinds = torch.cat([kind, kind + len(relation), base + linked_role, base + NUM_ROLES + linked_role])
        table = torch.cat([self.forward_kind(vectors), self.backward_kind(vectors), self.context_kind.weight])
        weight = torch.cat([graph.edge_weight, graph.edge_weight, graph.score.new_ones(2 * len(member))])
        if self.typed is not None:
            ends = graph.role[index]  # (2, E')
            met, kinds = torch.unique(
                (kinds * NUM_ROLES + ends[0]) * NUM_ROLES + ends[1], return_inverse=True
            )
            roles = [met // NUM_ROLES % NUM_ROLES, met % NUM_ROLES]
            types = [one_hot(role, NUM_ROLES).to(table.dtype) for role in roles]
            table = self.typed(torch.cat([table[met // NUM_ROLES**2], *types], dim=-1))
        return EdgeBatch(index, kinds, table, weight.clamp(min=1e-3).log())


class RelationalAttention(nn.Module):
    """One message layer: attention over the incoming edges of each node, conditioned on the question.

    For an edge of type r and weight w from node j to node i, in each head of size d:

        a_ij = softmax_j( (q_i . (k_j + k_r) + W u_i . k_r) / sqrt(d) + log w )
        h_i  = h_i + W_o sum_j a_ij (v_j + v_r), then h_i = h_i + FFN(LayerNorm(h_i))

    with q, k, v of LayerNorm(h), and u_i the instruction vector of the row's text (NSM, He et al., 2021, section 4.2).
    The softmax is over the incoming edges of the target, as in the paper of QA-GNN; its released code normalizes by
    source.
    """

    def __init__(self, size: int, num_heads: int, dropout: float, instructed: bool = True) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.head_size = size // num_heads
        self.norm = nn.LayerNorm(size)
        self.query = nn.Linear(size, size)
        self.key_value = nn.Linear(size, 2 * size)
        self.kind_key_value = nn.Linear(size, 2 * size)
        self.instruction = nn.Linear(size, size) if instructed else None
        self.out = nn.Linear(size, size)
        self.dropout = nn.Dropout(dropout)
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(size),
            nn.Linear(size, 2 * size),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(2 * size, size),
        )

    def forward(
        self, nodes: Tensor, edges: EdgeBatch, *, instruction: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """New node states (N, size) and the attention of each edge (E',), averaged over heads.

        `instruction` (N, size) is the instruction vector of each node's row; without it, attention does not depend on
        the text.
        """
        index, kinds, table, log_weight = edges
        shape = (-1, self.num_heads, self.head_size)
        normed = self.norm(nodes)
        query = self.query(normed).view(shape)
        key, value = self.key_value(normed).chunk(2, dim=-1)
        kind_key, kind_value = self.kind_key_value(table).chunk(2, dim=-1)
        source, target = index
        # index_select, since the backward pass of indexing by [] is several times slower
        kind_key = kind_key.view(shape).index_select(0, kinds)
        score = (query.index_select(0, target) * (key.view(shape).index_select(0, source) + kind_key)).sum(-1)
        if self.instruction is not None and instruction is not None:
            score = score + (
                self.instruction(instruction).view(shape).index_select(0, target) * kind_key
            ).sum(-1)
        score = score / math.sqrt(self.head_size) + log_weight.unsqueeze(-1).to(score.dtype)
        alpha = segment_softmax(score.float(), target, len(nodes)).to(value.dtype)  # (E', heads)
        message = value.view(shape).index_select(0, source) + kind_value.view(shape).index_select(0, kinds)
        message = (message * alpha.unsqueeze(-1)).flatten(1)  # (E', size)
        nodes = nodes + self.dropout(self.out(segment_sum(message, target, len(nodes))))
        return nodes + self.dropout(self.feed_forward(nodes)), alpha.float().mean(-1)


class AttentionPooling(nn.Module):
    """Attention pooling: the mean of a row's nodes, weighted by attention from the row's text, (B, size).

    p = sum_i softmax_i(W_q s . W_k h_i / sqrt(d)) h_i over the row's nodes, s the text's summary.
    """

    def __init__(self, text_size: int, size: int) -> None:
        super().__init__()
        self.query = nn.Linear(text_size, size)
        self.key = nn.Linear(size, size)

    def forward(self, summary: Tensor, graph: GraphBatch, *, nodes: Tensor) -> Tensor:
        """Pooled node states (B, size) of summaries (B, H) and nodes (N, size).

        Context nodes are included, so that a row without concepts has a vector.
        """
        score = (self.query(summary)[graph.batch] * self.key(nodes)).sum(-1) / math.sqrt(nodes.shape[-1])
        weight = segment_softmax(score.float(), graph.batch, len(summary)).to(nodes.dtype)
        return segment_sum(nodes * weight.unsqueeze(-1), graph.batch, len(summary))


class GraphReasoner(Reasoner):
    """Base of the reasoners over this network: label vectors, initial node states and edges.

    With `typed`, edges depend on the roles of source and target, see `Connections`.
    """

    def __init__(
        self, layerwise: LayerwiseEncoder, settings: ReasonerSettings, *, typed: bool = False
    ) -> None:
        super().__init__(layerwise, settings)
        size = settings.graph_size
        self.labels = LabelEncoder(layerwise, size)
        self.node_input = NodeInput(size)
        self.connections = Connections(size, typed)

    def start(self, layerwise: LayerwiseEncoder, graph: GraphBatch) -> tuple[Tensor, EdgeBatch]:
        """Initial node states (N, size), and the edges of message passing."""
        labels = self.labels(layerwise, graph)  # (U, size)
        return self.node_input(labels, graph), self.connections(labels, graph)

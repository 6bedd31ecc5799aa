"""The message layer of QA-GNN and GreaseLM as a PyG convolution, and their common base class."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import softmax

from kgqa.batch import EdgeBatch, GraphBatch, ReasonerOutput
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.reasoners.base import ReasonerSettings
from kgqa.models.reasoners.gnn import (
    AttentionPooling,
    GraphReasoner,
    RelationalAttention,
    context_nodes,
    fact_attention,
)


class RelationalConv(MessagePassing):  # type: ignore[misc]
    """Attention over the incoming edges of each node: QA-GNN's GATConvE in the paper's form (Yasunaga et al., 2021,
    section 3.3).

    For an edge of kind r and weight w from node j to node i, in each head of size d:

        a_ij = softmax_j( q_i . (k_j + k_r) / sqrt(d) + log w )
        h_i  = h_i + W_o sum_j a_ij (v_j + v_r), then h_i = h_i + FFN(LayerNorm(h_i))

    with q, k, v of LayerNorm(h). It equals `RelationalAttention` without an instruction, including the names of
    weights, which is tested. The softmax is over the incoming edges of the target, while the released code of QA-GNN
    normalizes by source.
    """

    def __init__(self, size: int, num_heads: int, dropout: float) -> None:
        super().__init__(aggr="add", node_dim=0)
        self.num_heads, self.head_size = num_heads, size // num_heads
        layer = RelationalAttention(size, num_heads, dropout, instructed=False)
        for name, module in layer.named_children():
            self.add_module(name, module)

    def forward(
        self, nodes: Tensor, edges: EdgeBatch, *, node_features: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """New node states (N, size) and the attention of each edge (E',), averaged over heads.

        `node_features` (N, size) are additional inputs of queries and keys, not of values.
        """
        shape = (-1, self.num_heads, self.head_size)
        normed = self.norm(nodes)
        query = self.query(normed if node_features is None else normed + node_features)
        key, value = self.key_value(normed).chunk(2, dim=-1)
        if node_features is not None:
            key = key + linear(node_features, self.key_value.weight[: key.shape[-1]])
        kind_key, kind_value = (
            part.view(shape) for part in self.kind_key_value(edges.kinds).chunk(2, dim=-1)
        )
        key, kind_key = key.view(shape), kind_key.index_select(0, edges.kind)  # (N, heads, d), (E', heads, d)
        alpha = self.edge_updater(
            edges.edge_index, query=query.view(shape), key=key, kind_key=kind_key, log_weight=edges.log_weight
        )
        read = self.propagate(
            edges.edge_index,
            value=value.view(shape),
            kind_value=kind_value.index_select(0, edges.kind),
            alpha=alpha.to(value.dtype),
            size=(len(nodes), len(nodes)),
        )
        nodes = nodes + self.dropout(self.out(read.flatten(1)))
        return nodes + self.dropout(self.feed_forward(nodes)), alpha.mean(-1)

    def edge_update(
        self,
        query_i: Tensor,
        key_j: Tensor,
        kind_key: Tensor,
        log_weight: Tensor,
        index: Tensor,
        size_i: int | None,
    ) -> Tensor:
        """The attention of each edge, (E', heads)."""
        score = (query_i * (key_j + kind_key)).sum(-1) / math.sqrt(self.head_size)
        score = score + log_weight.unsqueeze(-1).to(score.dtype)
        attention: Tensor = softmax(score.float(), index, num_nodes=size_i)
        return attention

    def message(self, value_j: Tensor, kind_value: Tensor, alpha: Tensor) -> Tensor:
        """The message of each edge, (E', heads, d)."""
        return (value_j + kind_value) * alpha.unsqueeze(-1)


class ContextReasoner(GraphReasoner):
    """Base of QA-GNN (Yasunaga et al., 2021, section 3.4) and GreaseLM, in which the question is the context node.

    The graph vector of a row is [pooled nodes ; context node]; messages depend on the roles of source and target.
    """

    def __init__(self, layerwise: LayerwiseEncoder, settings: ReasonerSettings, num_layers: int) -> None:
        super().__init__(layerwise, settings, typed=True)
        size = settings.graph_size
        self.layers = nn.ModuleList(
            RelationalConv(size, settings.num_heads, settings.dropout) for _ in range(num_layers)
        )
        self.pool = AttentionPooling(self.hidden_size, size)
        self.pool_out = nn.Linear(2 * size, self.hidden_size)
        self.node_out = nn.Linear(size, self.hidden_size)

    def handed_on(
        self, hidden: Tensor, summary: Tensor, graph: GraphBatch, nodes: Tensor, weights: Sequence[Tensor]
    ) -> ReasonerOutput:
        """Inputs of the heads from token states (B, T, H), summaries (B, H) and nodes (N, size)."""
        pooled = torch.cat([self.pool(summary, graph, nodes=nodes), nodes[context_nodes(graph)]], dim=-1)
        attention = fact_attention(weights, graph)
        return ReasonerOutput(hidden, summary, self.node_out(nodes), self.pool_out(pooled), attention)

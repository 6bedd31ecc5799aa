"""The fused reasoner: text and graph exchange states in the last k encoder layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.batch import EdgeBatch, GraphBatch, QABatch, ReasonerOutput
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.reasoners.base import ReasonerSettings, zero_linear
from kgqa.models.reasoners.gnn import (
    AttentionPooling,
    GraphReasoner,
    RelationalAttention,
    context_nodes,
    fact_attention,
)
from kgqa.models.segments import segment_mean


class FusionLayer(nn.Module):
    """After one encoder layer: a message layer on the graph, then text and graph exchange their states.

    1. Summary token and context node exchange through one MLP (GreaseLM, Zhang et al., 2022, section 3.2),
       in DRAGON's residual form (Yasunaga et al., 2022, section 2.2).
    2. Mention tokens and their concept nodes are mixed as in ERNIE's aggregator (Zhang et al., 2019,
       equation 4). All tokens of a mention take part; a node receives their mean.

    With t a token of a mention and n its node, s the summary token and c the context node of their row:

        z = GELU(W LayerNorm([s ; c]))       s += W_s z        c += W_c z
        m = GELU(W_t t + W_n n)              t += W_m m        n += mean over its tokens of W_k m

    The terms added to the text are initialized to zero, so that training starts from the text-only reader.
    """

    def __init__(self, hidden_size: int, settings: ReasonerSettings) -> None:
        super().__init__()
        size, inner = settings.graph_size, settings.inner_size or hidden_size
        both = settings.inner_size or hidden_size + size
        self.messages = RelationalAttention(size, settings.num_heads, settings.dropout)
        self.exchange_norm = nn.LayerNorm(hidden_size + size)
        self.exchange = nn.Linear(hidden_size + size, both)
        self.exchange_text = zero_linear(both, hidden_size)
        self.exchange_node = nn.Linear(both, size)
        self.from_token = nn.Linear(hidden_size, inner)
        self.from_node = nn.Linear(size, inner)
        self.to_token = zero_linear(inner, hidden_size)
        self.to_node = nn.Linear(inner, size)
        self.instruct = nn.Linear(hidden_size, size)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(
        self,
        hidden: Tensor,
        edges: EdgeBatch,
        graph: GraphBatch,
        *,
        nodes: Tensor,
        summary_at: Tensor,
        context: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """New token states (B, T, H), node states (N, size), attention (E',).

        `summary_at` (B,) is the position of each row's summary token, `context` (B,) its context node.
        """
        rows = torch.arange(len(hidden), device=hidden.device)
        instruction = self.instruct(hidden[rows, summary_at]).index_select(0, graph.batch)
        nodes, attention = self.messages(nodes, edges, instruction=instruction)

        mention_tokens = hidden[graph.mention_row, graph.mention_token]  # (M, H)
        mixed = F.gelu(
            self.from_token(mention_tokens) + self.from_node(nodes.index_select(0, graph.mention_node))
        )
        flat = graph.mention_row * hidden.shape[1] + graph.mention_token
        update = segment_mean(self.dropout(self.to_token(mixed)), flat, hidden.shape[0] * hidden.shape[1])
        both = torch.cat([hidden[rows, summary_at], nodes[context]], dim=-1)
        both = F.gelu(self.exchange(self.exchange_norm(both)))
        summary_update = torch.zeros_like(hidden)
        summary_update[rows, summary_at] = self.dropout(self.exchange_text(both)).to(hidden.dtype)
        hidden = hidden + update.view_as(hidden).to(hidden.dtype) + summary_update

        node_update = segment_mean(self.dropout(self.to_node(mixed)), graph.mention_node, len(nodes))
        nodes = nodes + node_update.to(nodes.dtype)
        nodes = nodes.index_add(0, context, self.dropout(self.exchange_node(both)).to(nodes.dtype))
        return hidden, nodes, attention


class FusedReasoner(GraphReasoner):
    """Runs the encoder layer by layer, with a `FusionLayer` after each of its last k layers."""

    def __init__(self, layerwise: LayerwiseEncoder, settings: ReasonerSettings) -> None:
        super().__init__(layerwise, settings)
        size = settings.graph_size
        fused = min(settings.num_layers, layerwise.num_layers)
        self.start_context = nn.Linear(self.hidden_size, size)
        self.layers = nn.ModuleList(FusionLayer(self.hidden_size, settings) for _ in range(fused))
        self.pool = AttentionPooling(self.hidden_size, size)
        self.node_out = nn.Linear(size, self.hidden_size)
        self.pool_out = nn.Linear(size, self.hidden_size)

    def forward(self, layerwise: LayerwiseEncoder, batch: QABatch) -> ReasonerOutput:
        graph = batch.graph
        nodes, edges = self.start(layerwise, graph)
        context = context_nodes(graph)
        summary_at = layerwise.summary_position(batch.tokens)
        rows = torch.arange(batch.num_rows, device=nodes.device)
        weights: list[Tensor] = []

        def visit(turn: int, hidden: Tensor) -> Tensor:
            nonlocal nodes
            if not turn:
                nodes = nodes.index_add(
                    0, context, self.start_context(hidden[rows, summary_at]).to(nodes.dtype)
                )
            hidden, nodes, attention = self.layers[turn](
                hidden, edges, graph, nodes=nodes, summary_at=summary_at, context=context
            )
            weights.append(attention)
            return hidden

        hidden = layerwise.encode(batch.tokens, visit, last=len(self.layers))
        summary = layerwise.summary(hidden, batch.tokens)
        pooled = self.pool(summary, graph, nodes=nodes)
        attention = fact_attention(weights, graph)
        return ReasonerOutput(hidden, summary, self.node_out(nodes), self.pool_out(pooled), attention)

"""ERNIE: entities are fused with the tokens that mention them (Zhang et al., 2019)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.utils import scatter

from kgqa.batch import GraphBatch, QABatch, ReasonerOutput
from kgqa.models.encoders.layerwise import LabelEncoder, LayerwiseEncoder
from kgqa.models.reasoners.base import Reasoner, ReasonerSettings, zero_linear


class Aggregator(nn.Module):
    """One K-encoder layer: entities attend to entities, then tokens and entities are mixed (equations 3-5).

        e = LayerNorm(e + MultiHead(e, e, e))      m_t = GELU(W_t t + W_e e_t)
        t = t + W'_t m_t                           e = LayerNorm(e + W'_e m_t)

    On the token side, the encoder's own feed-forward layer is kept, and the entity term is initialized to zero, since
    the encoder was pretrained without it.
    """

    def __init__(self, hidden_size: int, settings: ReasonerSettings) -> None:
        super().__init__()
        size = settings.graph_size
        self.attention = nn.MultiheadAttention(size, settings.num_heads, settings.dropout, batch_first=True)
        self.attention_norm = nn.LayerNorm(size)
        self.from_token = nn.Linear(hidden_size, 2 * hidden_size)
        self.from_entity = nn.Linear(size, 2 * hidden_size, bias=False)
        self.to_token = zero_linear(2 * hidden_size, hidden_size)
        self.to_entity = nn.Linear(2 * hidden_size, size)
        self.entity_norm = nn.LayerNorm(size)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, tokens: Tensor, *, entities: Tensor, named: Tensor) -> tuple[Tensor, Tensor]:
        """New tokens (B, T, H) and entities (B, T, size); `named` (B, T) marks tokens that have an entity."""
        hidden_from = ~named
        # a row with everything masked would give NaN
        hidden_from = hidden_from & ~hidden_from.all(1, keepdim=True)
        attended, _ = self.attention(
            entities, entities, entities, key_padding_mask=hidden_from, need_weights=False
        )
        mask = named.unsqueeze(-1).to(entities.dtype)
        entities = self.attention_norm(entities + self.dropout(attended)) * mask
        mixed = F.gelu(self.from_token(tokens) + self.from_entity(entities))
        tokens = tokens + self.dropout(self.to_token(mixed)).to(tokens.dtype)
        entities = self.entity_norm(entities + self.dropout(self.to_entity(mixed))) * mask
        return tokens, entities


class Ernie(Reasoner):
    """T-encoder below, K-encoder (the last k layers) above. Facts are not used, only vectors of entities.

    As in the paper, entities have frozen TransE vectors, if `kgqa graph embed` has trained some; all others have label
    vectors, so that a new graph needs no training. An entity is aligned to the first token of its mention, as in the
    paper.
    """

    reads_entities = True

    def __init__(self, layerwise: LayerwiseEncoder, settings: ReasonerSettings) -> None:
        super().__init__(layerwise, settings)
        size = settings.graph_size
        fused = min(settings.num_layers, layerwise.num_layers)
        self.labels = LabelEncoder(layerwise, size)
        self.entity = nn.Linear(settings.entity_size, size) if settings.entity_size else None
        self.layers = nn.ModuleList(Aggregator(self.hidden_size, settings) for _ in range(fused))
        self.node_out = nn.Linear(size, self.hidden_size)
        self.pool_out = nn.Linear(size, self.hidden_size)

    def forward(self, layerwise: LayerwiseEncoder, batch: QABatch) -> ReasonerOutput:
        """Token states fused with entities; node states of mentioned concepts are updated, those of others are
        labels."""
        graph = batch.graph
        nodes = self.labels(layerwise, graph)[graph.node_label]  # (N, size)
        if self.entity is not None and graph.node_vector is not None:
            known = graph.node_vector.abs().sum(-1, keepdim=True) > 0
            nodes = torch.where(known, self.entity(graph.node_vector).to(nodes.dtype), nodes)
        row, token, node = first_tokens(graph, batch.tokens.input_ids.shape[1])
        shape = (*batch.tokens.input_ids.shape, nodes.shape[-1])
        entities = nodes.new_zeros(shape).index_put((row, token), nodes[node])
        named = torch.zeros(shape[:2], dtype=torch.bool, device=nodes.device)
        named[row, token] = True

        def visit(turn: int, hidden: Tensor) -> Tensor:
            nonlocal entities
            hidden, entities = self.layers[turn](hidden, entities=entities, named=named)
            return hidden

        hidden = layerwise.encode(batch.tokens, visit, last=len(self.layers))
        read = entities[row, token]
        nodes = nodes + scatter(read, node, dim_size=len(nodes), reduce="mean").to(nodes.dtype)
        pooled = scatter(read, row, dim_size=batch.num_rows, reduce="mean")
        summary = layerwise.summary(hidden, batch.tokens)
        return ReasonerOutput(hidden, summary, self.node_out(nodes), self.pool_out(pooled))


def first_tokens(graph: GraphBatch, num_tokens: int) -> tuple[Tensor, Tensor, Tensor]:
    """Row, token and node of each mention's first token, (m,) each with m <= M; at most one entity per token."""
    key = graph.mention_node * (num_tokens + 1) + graph.mention_token
    first = ~torch.isin(key - 1, key)
    row, token, node = graph.mention_row[first], graph.mention_token[first], graph.mention_node[first]
    place = row * num_tokens + token
    _, inverse = torch.unique(place, return_inverse=True)
    order = torch.arange(len(place), device=place.device)
    chosen = torch.full((int(inverse.max()) + 1 if len(place) else 0,), len(place), device=place.device)
    chosen = chosen.scatter_reduce(0, inverse, order, "amin")
    return row[chosen], token[chosen], node[chosen]

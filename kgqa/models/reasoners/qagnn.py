"""QA-GNN: the question is a node of the graph (Yasunaga et al., 2021)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from kgqa.batch import QABatch, ReasonerOutput
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.reasoners.base import ReasonerSettings
from kgqa.models.reasoners.convolution import ContextReasoner
from kgqa.models.reasoners.gnn import NUM_ROLES, context_nodes, relevance_powers


class QAGNN(ContextReasoner):
    """The text encoder, followed by message passing in which the question is the context node.

    Messages depend on the roles of source and target; queries and keys of each layer also depend on the role and the
    relevance of their node (section 3.3). The relevance is the ranker's, combined with a language model's if
    `input.relevance` is set (section 3.1).

    With z the context node, z_0 = W s; the layers are `RelationalConv`.

    Differences from the released code: attention is normalized over the incoming edges of the target, as in the paper
    (section 3.3), and layer norm replaces batch norm, which would mix the nodes of different questions. The graph does
    not change the states of tokens.
    """

    def __init__(self, layerwise: LayerwiseEncoder, settings: ReasonerSettings) -> None:
        super().__init__(layerwise, settings, settings.num_layers)
        size = settings.graph_size
        self.start_context = nn.Linear(self.hidden_size, size)
        self.node_features = nn.Linear(NUM_ROLES + 3, size)

    def forward(self, layerwise: LayerwiseEncoder, batch: QABatch) -> ReasonerOutput:
        """Node states see the question through the context node; pooled holds nodes and context node."""
        graph = batch.graph
        hidden = layerwise.encode(batch.tokens)
        summary = layerwise.summary(hidden, batch.tokens)
        nodes, edges = self.start(layerwise, graph)
        nodes = nodes.index_add(0, context_nodes(graph), self.start_context(summary).to(nodes.dtype))
        roles = one_hot(graph.role, NUM_ROLES)
        node_features = self.node_features(
            torch.cat([roles, relevance_powers(graph)], dim=-1).to(nodes.dtype)
        )
        weights: list[Tensor] = []
        for layer in self.layers:
            nodes, attention = layer(nodes, edges, node_features=node_features)
            weights.append(attention)
        return self.handed_on(hidden, summary, graph, nodes, weights)

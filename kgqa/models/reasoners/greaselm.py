"""GreaseLM (Zhang et al., 2022) and DRAGON's residual form of it (Yasunaga et al., 2022)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from kgqa.batch import QABatch, ReasonerOutput
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.reasoners.base import ReasonerSettings
from kgqa.models.reasoners.convolution import ContextReasoner
from kgqa.models.reasoners.gnn import context_nodes


class GreaseLM(ContextReasoner):
    """After each of the last k encoder layers: one message layer, then interaction token and node exchange states.

    Text and graph are connected only there (section 3.2): one MLP, shared by the k layers, maps their joint state to
    two new ones. The interaction token is the summary token; the interaction node is initialized by its type alone.

        [h_int ; e_int] = MLP([h_int ; e_int]), in DRAGON LayerNorm(x + MLP(x))
    """

    residual = False

    def __init__(self, layerwise: LayerwiseEncoder, settings: ReasonerSettings) -> None:
        super().__init__(layerwise, settings, min(settings.num_layers, layerwise.num_layers))
        joint = self.hidden_size + settings.graph_size
        self.exchange = nn.Sequential(
            nn.Linear(joint, joint), nn.GELU(), nn.Dropout(settings.dropout), nn.Linear(joint, joint)
        )
        self.exchange_norm = nn.LayerNorm(joint)

    def forward(self, layerwise: LayerwiseEncoder, batch: QABatch) -> ReasonerOutput:
        """Token states, which depend on the graph through the summary token, and node states, which depend on the
        text."""
        graph = batch.graph
        nodes, edges = self.start(layerwise, graph)
        context = context_nodes(graph)
        at = layerwise.summary_position(batch.tokens)
        rows = torch.arange(batch.num_rows, device=nodes.device)
        weights: list[Tensor] = []

        def visit(turn: int, hidden: Tensor) -> Tensor:
            nonlocal nodes
            nodes, attention = self.layers[turn](nodes, edges)
            weights.append(attention)
            joint = torch.cat([hidden[rows, at], nodes[context].to(hidden.dtype)], dim=-1)
            changed = self.exchange(joint)
            if self.residual:
                changed = self.exchange_norm(joint + changed)
            text, node = changed.split([self.hidden_size, nodes.shape[-1]], dim=-1)
            hidden = hidden.clone()
            hidden[rows, at] = text.to(hidden.dtype)
            nodes = nodes.index_copy(0, context, node.to(nodes.dtype))
            return hidden

        hidden = layerwise.encode(batch.tokens, visit, last=len(self.layers))
        return self.handed_on(hidden, layerwise.summary(hidden, batch.tokens), graph, nodes, weights)


class Dragon(GreaseLM):
    """GreaseLM with a residual and layer norm around the exchange (section 2.2).

    Its joint pretraining (MLM and link prediction) is in the objectives, not in this network.
    """

    residual = True

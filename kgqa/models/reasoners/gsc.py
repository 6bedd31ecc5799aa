"""GSC, a graph counter (Wang et al., 2022): the smallest reasoner over the graph, and a strong baseline."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn import SimpleConv
from torch_geometric.utils import scatter

from kgqa.batch import QABatch, ReasonerOutput
from kgqa.models.encoders.layerwise import LabelEncoder, LayerwiseEncoder
from kgqa.models.reasoners.base import Reasoner, ReasonerSettings
from kgqa.models.reasoners.gnn import NUM_ROLES
from kgqa.types import NodeRole


class GSC(Reasoner):
    """Each node and edge has a single number; two rounds of summation (section 4.1).

        e_ij = sigmoid(MLP([relation ; role_i ; role_j ; direction]))
        n_j  = n_j + sum_i n_i e_ij, with n = 1 at first for the concepts that the text mentions, else 0

    The number of an edge is computed from its relation and the roles of head and tail; relations are embedded by their
    labels in a few dimensions, so that it works for any graph. Nodes have no vectors: a node's state is its label
    vector (as in the text-only reasoner) plus its count times a learned direction.
    """

    relation_size = 8
    rounds = 2

    def __init__(self, layerwise: LayerwiseEncoder, settings: ReasonerSettings) -> None:
        super().__init__(layerwise, settings)
        self.labels = LabelEncoder(layerwise, self.hidden_size)
        self.relation = nn.Linear(self.hidden_size, self.relation_size)
        self.edge = nn.Sequential(
            nn.Linear(self.relation_size + 2 * NUM_ROLES + 1, 32), nn.GELU(), nn.Linear(32, 1), nn.Sigmoid()
        )
        self.add_up = SimpleConv(aggr="add")
        self.direction = nn.Parameter(torch.randn(self.hidden_size) * 0.02)
        self.row_direction = nn.Parameter(torch.randn(self.hidden_size) * 0.02)

    def forward(self, layerwise: LayerwiseEncoder, batch: QABatch) -> ReasonerOutput:
        """Node states with their counts; the pooled vector is the context node's count; attention is the edges'
        numbers."""
        graph = batch.graph
        hidden = layerwise.encode(batch.tokens)
        summary = layerwise.summary(hidden, batch.tokens)
        labels = self.labels(layerwise, graph)
        roles = nn.functional.one_hot(graph.role, NUM_ROLES).to(labels.dtype)
        head, tail = graph.edge_index
        relation = self.relation(labels)[graph.edge_label]
        ones = torch.ones_like(relation[:, :1])
        ahead, back = (
            self.edge(torch.cat([relation, roles[begin], roles[end], direction], dim=-1))
            for begin, end, direction in ((head, tail, ones), (tail, head, torch.zeros_like(ones)))
        )
        count = (graph.role < int(NodeRole.OTHER)).to(labels.dtype)  # those that the text mentions
        count = count.unsqueeze(-1)
        both = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1)
        numbers = torch.cat([ahead, back]).squeeze(-1)
        for _ in range(self.rounds):
            count = count + self.add_up(count, both, numbers)
        level = torch.log1p(count)
        total = self._row_total(level, batch)
        nodes = labels[graph.node_label] + level * self.direction
        return ReasonerOutput(
            hidden, summary, nodes, total * self.row_direction, torch.maximum(ahead, back).squeeze(-1)
        )

    @staticmethod
    def _row_total(level: Tensor, batch: QABatch) -> Tensor:
        """Mean count (B, 1) of the concepts of a row's choice, or of all concepts without a choice."""
        graph = batch.graph
        chosen = (graph.role == int(NodeRole.CHOICE)).to(level.dtype).unsqueeze(-1)
        total, number = (scatter(v, graph.batch, dim_size=batch.num_rows) for v in (level * chosen, chosen))
        mean: Tensor = total / number.clamp(min=1)
        return mean

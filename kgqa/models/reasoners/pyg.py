"""Any convolution of PyG as a reasoner: `reasoner.conv="RGCN"`, "RGAT", "GATv2", "Transformer", "HGT"."""

from __future__ import annotations

import difflib
import inspect
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import HGTConv, MessagePassing, conv

from kgqa.batch import EdgeBatch, GraphBatch, QABatch, ReasonerOutput
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.reasoners.base import ReasonerSettings
from kgqa.models.reasoners.gnn import NUM_ROLES, AttentionPooling, GraphReasoner, context_nodes
from kgqa.types import InputError

BUCKETS = 32
"""Number of types into which relations are hashed by their labels, for convolutions with weights per type."""
EDGE_TYPES = 2 * BUCKETS + 2 * NUM_ROLES
"""Relations in both directions, and the edges between the context node and each role."""
ROLES = [str(role) for role in range(NUM_ROLES)]
DIRECTIONS = ("ahead", "back", "context")


def find_convolution(name: str) -> type[MessagePassing]:
    """The convolution of `torch_geometric.nn` with that name, with or without "Conv" at the end."""
    for candidate in (name, f"{name}Conv"):
        found = getattr(conv, candidate, None)
        if isinstance(found, type) and issubclass(found, MessagePassing) and found is not MessagePassing:
            return found
    near = difflib.get_close_matches(name, [n for n in conv.__all__ if n.endswith("Conv")], n=1, cutoff=0.0)
    raise InputError(
        f"reasoner.conv={name!r} is not a convolution of torch_geometric.nn; did you mean {near[0]!r}?"
    )


class Convolution(nn.Module):
    """One layer: h = h + dropout(GELU(conv(LayerNorm(h)))).

    A convolution gets the inputs in its signature: label vectors of relations (`edge_attr`), their hashed types
    (`edge_type`), weights of facts. HGT gets node types, which are the roles, and edge types, which are the direction
    and the roles of source and target.
    """

    def __init__(self, name: str, size: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        kind = find_convolution(name)
        wants = inspect.signature(kind.__init__).parameters
        self._takes = set(inspect.signature(kind.forward).parameters)
        self._typed = "num_relations" in wants
        self.norm, self.dropout = nn.LayerNorm(size), nn.Dropout(dropout)
        network = nn.Sequential(nn.Linear(size, size), nn.GELU(), nn.Linear(size, size))
        edges = [(a, direction, b) for a in ROLES for direction in DIRECTIONS for b in ROLES]
        every: dict[str, Any] = {
            "in_channels": size,
            "out_channels": size if "concat" not in wants else size // num_heads,
            "channels": size,
            "heads": num_heads,
            "edge_dim": size,
            "dim": size,
            "num_relations": EDGE_TYPES,
            "nn": network,
            "metadata": (ROLES, edges),
        }
        if "edge_dim" in wants or "num_relations" in wants:
            del every["dim"]  # it has another meaning in RGAT
        if "nn" in wants and wants["nn"].default is not inspect.Parameter.empty:
            del every["nn"]  # FiLM's default is better
        try:
            self.conv = kind(**{key: value for key, value in every.items() if key in wants})
        except (TypeError, ValueError, AssertionError) as error:
            raise InputError(
                f"reasoner.conv={name!r} needs more than sizes and relations ({error}); use RGCN, RGAT, "
                "GATv2, Transformer or HGT"
            ) from None

    def forward(self, nodes: Tensor, edges: EdgeBatch, graph: GraphBatch, *, types: Tensor) -> Tensor:
        """New node states (N, size); `types` (E',) are the hashed types of the edges."""
        normed = self.norm(nodes)
        if isinstance(self.conv, HGTConv):
            read = _by_role(self.conv, normed, edges, graph)
        else:
            given = {
                "edge_attr": edges.kinds.index_select(0, edges.kind),
                "edge_weight": edges.log_weight.exp().to(normed.dtype),
            }
            if self._typed:
                given["edge_type"] = types
            read = self.conv(
                normed, edges.edge_index, **{key: value for key, value in given.items() if key in self._takes}
            )
        changed: Tensor = nodes + self.dropout(F.gelu(read)).to(nodes.dtype)
        return changed


def _by_role(convolution: HGTConv, nodes: Tensor, edges: EdgeBatch, graph: GraphBatch) -> Tensor:
    """Output (N, size) of HGT, which takes nodes and edges grouped by type."""
    place = torch.zeros_like(graph.role)  # index of each node among those of its role
    members = {role: (graph.role == number).nonzero().squeeze(-1) for number, role in enumerate(ROLES)}
    for found in members.values():
        place[found] = torch.arange(len(found), device=place.device)
    source, target = edges.edge_index
    count = graph.edge_index.shape[1]
    direction = torch.full_like(source, DIRECTIONS.index("context"))
    direction[:count], direction[count : 2 * count] = 0, 1
    code = (graph.role[source] * len(DIRECTIONS) + direction) * NUM_ROLES + graph.role[target]
    index = {}
    for number in sorted(set(code.tolist())):
        rest, end = divmod(number, NUM_ROLES)
        begin, turn = divmod(rest, len(DIRECTIONS))
        chosen = code == number
        index[ROLES[begin], DIRECTIONS[turn], ROLES[end]] = place[edges.edge_index[:, chosen]]
    there = {role: nodes[found] for role, found in members.items() if len(found)}
    read = convolution(there, index)
    out = torch.zeros_like(nodes)
    for role, found in members.items():
        if read.get(role) is not None:
            out = out.index_copy(0, found, read[role].to(out.dtype))
    return out


class PyG(GraphReasoner):
    """The text encoder, followed by layers of a PyG convolution over the graph: `reasoner.conv` names it.

    The context node is initialized by the text's summary and connected to the mentioned concepts, as in QA-GNN
    (Yasunaga et al., 2021, section 3.2). Tested with RGCN (Schlichtkrull et al., 2018), RGAT (Busbridge et al.,
    2019), GATv2 (Brody et al., 2022), Transformer (Shi et al., 2021), HGT (Hu et al., 2020).
    """

    def __init__(self, layerwise: LayerwiseEncoder, settings: ReasonerSettings) -> None:
        super().__init__(layerwise, settings)
        size = settings.graph_size
        self.start_context = nn.Linear(self.hidden_size, size)
        self.layers = nn.ModuleList(
            Convolution(settings.conv, size, settings.num_heads, settings.dropout)
            for _ in range(settings.num_layers)
        )
        self.pool = AttentionPooling(self.hidden_size, size)
        self.pool_out = nn.Linear(2 * size, self.hidden_size)
        self.node_out = nn.Linear(size, self.hidden_size)

    def forward(self, layerwise: LayerwiseEncoder, batch: QABatch) -> ReasonerOutput:
        """Node states after all layers; the pooled vector is made of nodes and context node."""
        graph = batch.graph
        hidden = layerwise.encode(batch.tokens)
        summary = layerwise.summary(hidden, batch.tokens)
        nodes, edges = self.start(layerwise, graph)
        context = context_nodes(graph)
        nodes = nodes.index_add(0, context, self.start_context(summary).to(nodes.dtype))
        types = edge_types(graph)[edges.kind]
        for layer in self.layers:
            nodes = layer(nodes, edges, graph, types=types)
        pooled = torch.cat([self.pool(summary, graph, nodes=nodes), nodes[context]], dim=-1)
        return ReasonerOutput(hidden, summary, self.node_out(nodes), self.pool_out(pooled))


def edge_types(graph: GraphBatch) -> Tensor:
    """The hashed type of each edge type of `Connections`, (K',)."""
    relation = graph.edge_label.unique()  # type: ignore[no-untyped-call]
    tokens = graph.label_ids[relation] * graph.label_mask[relation]  # padding does not contribute to the hash
    factors = torch.arange(1, tokens.shape[1] + 1, device=tokens.device) * 7919
    bucket = (tokens * factors).sum(1) % BUCKETS
    others = torch.arange(2 * BUCKETS, EDGE_TYPES, device=tokens.device)
    return torch.cat([bucket, bucket + BUCKETS, others])

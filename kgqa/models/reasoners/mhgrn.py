"""MHGRN: attention over all multi-hop relational paths, by dynamic programming (Feng et al., 2020)."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.utils import scatter

from kgqa.batch import GraphBatch, QABatch, ReasonerOutput
from kgqa.models.encoders.layerwise import LabelEncoder, LayerwiseEncoder
from kgqa.models.reasoners.base import Reasoner, ReasonerSettings
from kgqa.models.reasoners.gnn import NUM_ROLES, AttentionPooling
from kgqa.types import NodeRole


class MHGRN(Reasoner):
    """A node aggregates all paths of up to k hops that end in it, weighted by a factorized score (section 4.2).

    The weight of a path (j, r1 .. rK, i) is

        alpha = f(role j) * prod_k d(r_k) * prod_k t(r_k, r_k+1) * g(role i)

    where d, f and g depend on the text. A node aggregates z_K = sum alpha W_K(r_K) .. W_1(r_1) x_j / sum alpha for each
    length K, and the lengths by attention to the text.

    The paper's t is a table of relation pairs. Here relations are embedded by their labels, so t has low rank:
    t(r, r') = u(r) . v(r'), both positive; the recurrence remains exact and costs O(edges) per hop. Transforms are
    diagonal (the paper's `diag_decompose`).
    """

    decodes_paths = True

    ranks = 4

    def __init__(self, layerwise: LayerwiseEncoder, settings: ReasonerSettings) -> None:
        super().__init__(layerwise, settings)
        size = settings.graph_size
        self.hops = settings.num_layers
        self.labels = LabelEncoder(layerwise, size)
        self.typed = nn.ModuleList(nn.Linear(size, size) for _ in range(NUM_ROLES))
        self.role_factors = nn.Sequential(
            nn.Linear(self.hidden_size, size), nn.Tanh(), nn.Linear(size, 2 * NUM_ROLES)
        )
        self.relation_query = nn.Linear(self.hidden_size, size)
        self.relation_key = nn.ModuleList(nn.Linear(size, size) for _ in range(2))  # ahead, back
        self.transform = nn.ModuleList(nn.Linear(size, size) for _ in range(2 * self.hops))
        self.leave = nn.ModuleList(nn.Linear(size, self.ranks) for _ in range(2))
        self.enter = nn.ModuleList(nn.Linear(size, self.ranks) for _ in range(2))
        self.hop_query = nn.Linear(self.hidden_size, size)
        self.own = nn.Linear(size, size)
        self.read = nn.Linear(size, size)
        self.pool = AttentionPooling(self.hidden_size, size)
        self.node_out = nn.Linear(size, self.hidden_size)
        self.pool_out = nn.Linear(size, self.hidden_size)

    def forward(self, layerwise: LayerwiseEncoder, batch: QABatch) -> ReasonerOutput:
        """Node states after one layer of k hops; the attention of a fact is its relation factor d(r).

        Outside training, the best path to each node is decoded as in section 3.4.
        """
        graph = batch.graph
        hidden = layerwise.encode(batch.tokens)
        summary = layerwise.summary(hidden, batch.tokens)
        labels = self.labels(layerwise, graph)
        own = labels[graph.node_label]
        x = torch.stack([typed(own) for typed in self.typed], 1)
        x = x[torch.arange(len(own), device=own.device), graph.role]
        factors = self.role_factors(summary)[graph.batch].view(-1, 2, NUM_ROLES).clamp(-5, 5).exp()
        begin, finish = factors.gather(2, graph.role.view(-1, 1, 1).expand(-1, 2, 1)).squeeze(-1).unbind(1)

        source, target, vectors, unary = self._edges(labels, batch, summary)
        leave, enter = self._transitions(labels[graph.edge_label])
        ones = torch.ones_like(begin).unsqueeze(-1)
        value = torch.cat([x, ones], -1) * begin.unsqueeze(-1)  # the last column carries the normaliser
        per_rank = value.unsqueeze(1).expand(-1, self.ranks, -1)
        count = graph.edge_index.shape[1]
        reads, norms = [], []
        for hop in range(self.hops):
            arriving = value[source] if hop == 0 else (per_rank[source] * enter.unsqueeze(-1)).sum(1)
            diagonal = torch.cat(
                [self.transform[2 * hop](vectors[:count]), self.transform[2 * hop + 1](vectors[count:])]
            )
            scale = torch.cat([1 + torch.tanh(diagonal), torch.ones_like(diagonal[:, :1])], -1)
            message = arriving * scale * unary.unsqueeze(-1)
            total = scatter(message.to(value.dtype), target, dim_size=len(value))
            stepped = message.unsqueeze(1) * leave.unsqueeze(-1)  # (E', ranks, size + 1)
            per_rank = scatter(stepped.to(value.dtype), target, dim_size=len(value))
            norms.append(total[:, -1])
            total = total * finish.unsqueeze(-1)
            reads.append(total[:, :-1] / (total[:, -1:] + 1e-6))
        z = torch.stack(reads, 1)  # (N, hops, size)
        query = self.hop_query(summary)[graph.batch].unsqueeze(1)
        weight = ((query * z).sum(-1) / z.shape[-1] ** 0.5).softmax(1)
        nodes = F.gelu(self.own(own) + self.read((weight.unsqueeze(-1) * z).sum(1)))
        pooled = self.pool(summary, graph, nodes=nodes)
        share = torch.maximum(unary[:count], unary[count:])
        fused = ReasonerOutput(
            hidden, summary, self.node_out(nodes), self.pool_out(pooled), share / (1 + share)
        )
        if self.training:
            return fused
        carried = weight.log() - (torch.stack(norms, 1) + 1e-6).log()
        paths, path_weight = self._decode(labels, graph, (source, target), begin, unary, carried)
        return replace(fused, paths=paths, path_weight=path_weight)

    @torch.no_grad()
    def _decode(
        self,
        labels: Tensor,
        graph: GraphBatch,
        ends: tuple[Tensor, Tensor],
        begin: Tensor,
        unary: Tensor,
        carried: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """The path with the largest share for each node, (N, hops), and the share, (N,): hop attention x path weight.

        Differences from the paper: a path starts at a concept of question or passage, and walks that visit a node twice
        are skipped.
        """
        relation, kind = torch.unique(graph.edge_label, return_inverse=True)
        leave, enter = (factor.float() for factor in self._transitions(labels[relation]))
        asked = (graph.role == int(NodeRole.QUESTION)) | (graph.role == int(NodeRole.PASSAGE))
        scores, walks = best_walks(
            begin=begin.float().log().masked_fill(~asked, -torch.inf),
            edges=(*ends, torch.cat([kind, kind + len(relation)])),
            unary=unary.float().clamp(min=1e-9).log(),
            transition=(leave @ enter.T).log(),
            hops=self.hops,
        )
        source, target = (torch.cat([end, end.new_full((1,), -1)]) for end in ends)
        at = torch.cat([source[walks[..., :1]], target[walks]], -1)  # (N, hops, hops + 1), -1 past the end
        same = (at.unsqueeze(-1) == at.unsqueeze(-2)) & (at.unsqueeze(-1) >= 0)
        circles = same.sum((-1, -2)) > (at >= 0).sum(-1)
        share, best = (scores + carried.float()).masked_fill(circles, -torch.inf).max(1)
        chosen = walks[torch.arange(len(walks), device=walks.device), best]
        return chosen.masked_fill(share.isneginf().unsqueeze(-1), -1), share.exp()

    def _edges(
        self, labels: Tensor, batch: QABatch, summary: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Source, target, relation vector and factor d(r) of every fact, first in its direction, then reversed."""
        graph = batch.graph
        head, tail = graph.edge_index
        vectors = labels[graph.edge_label]
        query = self.relation_query(summary)[graph.batch[head]]
        logits = (
            torch.cat([(query * key(vectors)).sum(-1) for key in self.relation_key])
            / vectors.shape[-1] ** 0.5
        )
        unary = logits.clamp(-5, 5).exp() * torch.cat([graph.edge_weight] * 2)
        return torch.cat([head, tail]), torch.cat([tail, head]), torch.cat([vectors, vectors]), unary

    def _transitions(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """u(r) and v(r') of relations (R, size), first in their direction, then reversed; (2 R, ranks) each,
        positive."""
        leave = torch.cat([F.softplus(layer(vectors)) for layer in self.leave])
        enter = torch.cat([F.softplus(layer(vectors)) for layer in self.enter])
        return leave, enter


def best_walks(
    *, begin: Tensor, edges: tuple[Tensor, Tensor, Tensor], unary: Tensor, transition: Tensor, hops: int
) -> tuple[Tensor, Tensor]:
    """The heaviest walk of each length 1..hops into each node, exactly (Feng et al., 2020, section 3.4).

    With s a walk's last edge's kind, of the edges e = (j, i) of kind r into a node i:

        w_1(i, r) = max_e begin(j) + unary(e)
        w_k(i, r) = max_e max_s w_k-1(j, s) + transition(s, r) + unary(e)

    A walk's log weight is that of its first node, plus its edges' own, plus the transitions between the kinds of
    neighbouring edges. The state of the recurrence is (node, kind of the edge into it): O(edges x kinds) a hop.

    Args:
        begin: log weight of starting at a node, (N,), -inf where no walk may start.
        edges: source, target and kind of each directed edge, (E,) each.
        unary: log weight of each edge, (E,).
        transition: log weight of an edge of one kind after one of another, (kinds, kinds), [before, after].

    Returns:
        Log weights (N, hops), -inf where there is no such walk, and its edges (N, hops, hops), walk of length
        k in [:, k - 1, :k], -1 elsewhere.
    """
    source, target, kind = edges
    number, kinds, count = len(begin), len(transition), len(source)
    slot = target * kinds + kind
    every = torch.arange(count, device=begin.device)
    state = holder = begin.new_zeros(0)
    came: list[Tensor] = []
    scores = begin.new_full((number, hops), -torch.inf)
    walks = torch.full((number, hops, hops), -1, dtype=torch.long, device=begin.device)
    if not count:
        return scores, walks
    for hop in range(hops):
        if hop == 0:
            arriving = begin[source]
            came.append(torch.full_like(every, -1))
        else:
            options = state.view(number, kinds)[source] + transition.T[kind]  # (E, kinds)
            arriving, before = options.max(1)
            came.append(holder.view(number, kinds)[source, before])
        reach = arriving + unary
        state = begin.new_full((number * kinds,), -torch.inf).scatter_reduce(0, slot, reach, "amax")
        winner = (reach == state[slot]) & reach.isfinite()
        holder = torch.full((number * kinds,), -1, dtype=torch.long, device=begin.device)
        holder = holder.scatter_reduce(0, slot[winner], every[winner], "amax")
        scores[:, hop], last = state.view(number, kinds).max(1)
        edge = holder.view(number, kinds).gather(1, last.unsqueeze(1)).squeeze(1)
        for back in range(hop, -1, -1):
            walks[:, hop, back] = edge
            edge = torch.where(edge >= 0, came[back][edge.clamp(min=0)], edge)
    return scores, walks

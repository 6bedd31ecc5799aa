"""KagNet: encodes the paths between the concepts of question and answer (Lin et al., 2019)."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence
from torch_geometric.nn import SimpleConv
from torch_geometric.utils import scatter, softmax

from kgqa.batch import GraphBatch, QABatch, ReasonerOutput
from kgqa.graph.retrieval.paths import best_paths
from kgqa.models.encoders.layerwise import LabelEncoder, LayerwiseEncoder
from kgqa.models.reasoners.base import Reasoner, ReasonerSettings
from kgqa.types import NodeRole

MAX_ANSWERS = 12
MAX_SOURCES = 6
PATHS_PER_PAIR = 4
MAX_HOPS = 3
PRUNED = 0.15
"""Minimum plausibility of a path (section 4.4), if there are entity vectors."""


RelationalPath = tuple[int, tuple[int, ...], tuple[bool, ...], int]
"""A path: index of its pair, its edges, whether each is followed from head to tail, its first node."""


class KagNet(Reasoner):
    """GCN on the schema graph, LSTM over each path, and attention over paths and pairs (sections 4.1-4.3).

    With T a pair's context vector, R_k the vector of its k-th path, and s the text's summary:

        alpha_k = softmax_k(T W_1 R_k)      P = sum_k alpha_k R_k
        beta    = softmax over pairs of s W_2 [T ; P]      g = sum over pairs of beta [T ; P]

    A pair is (concept of question or passage, concept of the choice); without choices, the best-ranked other concepts
    are the possible answers. With entity vectors (`kgqa graph embed`), paths are pruned by the product of their
    facts' plausibilities under the method that trained the vectors (TransE in the paper). Differences: sequences are
    packed, so that the LSTM's state is that of the last real step (the released code takes that of the last padded
    one); only the cheapest few paths are used, not all simple ones.
    """

    decodes_paths = True
    reads_entities = True

    def __init__(self, layerwise: LayerwiseEncoder, settings: ReasonerSettings) -> None:
        super().__init__(layerwise, settings)
        size = settings.graph_size
        self.labels = LabelEncoder(layerwise, size)
        self.gcn = nn.ModuleList(nn.Linear(size, size) for _ in range(2))
        self.neighbours = SimpleConv(aggr="mean")
        self.direction = nn.Embedding(2, size)
        self.lstm = nn.LSTM(3 * size, size, batch_first=True)
        self.pair = nn.Sequential(
            nn.Linear(self.hidden_size + 2 * size, size), nn.ReLU(), nn.Linear(size, size)
        )
        self.path_query = nn.Linear(size, size)
        self.pair_query = nn.Linear(self.hidden_size, 2 * size)
        self.node_out = nn.Linear(3 * size, self.hidden_size)
        self.pool_out = nn.Linear(2 * size, self.hidden_size)

    def forward(self, layerwise: LayerwiseEncoder, batch: QABatch) -> ReasonerOutput:
        """The pooled vector is the mean of pairs, weighted by beta; an answer node gets the plain mean of its
        pairs; a fact's attention is its largest beta * alpha."""
        graph = batch.graph
        hidden = layerwise.encode(batch.tokens)
        summary = layerwise.summary(hidden, batch.tokens)
        labels = self.labels(layerwise, graph)
        own = labels[graph.node_label]
        nodes = own
        both = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1)
        for layer in self.gcn:
            nodes = F.relu(layer(nodes + self.neighbours(nodes, both).to(nodes.dtype)))

        pairs, paths = find_pairs(graph)
        if graph.edge_plausible is not None:
            paths = pruned(paths, graph.edge_plausible.tolist())
        attention = own.new_zeros(graph.edge_index.shape[1])
        if not paths:
            nothing = torch.zeros_like(torch.cat([own, own], -1))
            pooled = self.pool_out(own.new_zeros(batch.num_rows, 2 * own.shape[-1]))
            return ReasonerOutput(
                hidden, summary, self.node_out(torch.cat([own, nothing], -1)), pooled, attention
            )
        row, asked, answer = torch.tensor(pairs, device=own.device).T
        context = self.pair(torch.cat([summary[row], nodes[asked], nodes[answer]], -1))  # (P, size)
        owner = torch.tensor([number for number, *_ in paths], device=own.device)
        read = self._read_paths(paths, nodes, own, labels, graph)  # (paths, size)
        alpha = softmax((self.path_query(context)[owner] * read).sum(-1).float(), owner, num_nodes=len(pairs))
        weighed = scatter((read * alpha.unsqueeze(-1)).to(context.dtype), owner, dim_size=len(pairs))
        joint = torch.cat([context, weighed], -1)  # [T ; P]
        logit = (self.pair_query(summary)[row] * joint).sum(-1).float() / joint.shape[-1] ** 0.5
        beta = softmax(logit, row, num_nodes=batch.num_rows)
        pooled = scatter((joint * beta.unsqueeze(-1)).to(joint.dtype), row, dim_size=batch.num_rows)
        carried = scatter(joint, answer, dim_size=len(own), reduce="mean")
        weight = (alpha * beta[owner]).detach()
        edges = torch.tensor([e for _, steps, _, _ in paths for e in steps], device=own.device)
        lengths = torch.tensor([len(steps) for _, steps, _, _ in paths], device=own.device)
        attention = attention.scatter_reduce(
            0, edges, weight.repeat_interleave(lengths).to(attention.dtype), "amax"
        )
        states = self.node_out(torch.cat([own, carried.to(own.dtype)], -1))
        fused = ReasonerOutput(hidden, summary, states, self.pool_out(pooled), attention)
        return fused if self.training else replace(fused, **best_of(pairs, paths, weight, graph))

    def _read_paths(
        self, paths: list[RelationalPath], nodes: Tensor, own: Tensor, labels: Tensor, graph: GraphBatch
    ) -> Tensor:
        """Last LSTM state of each path, (paths, size); a step is a node, its label, and the relation that leads to it.

        All paths are gathered at once, since the gradient of each gather has the size of all node states.
        """
        device, longest = own.device, max(len(steps) for _, steps, _, _ in paths)
        filled = [(*steps, *[-1] * (longest - len(steps))) for _, steps, _, _ in paths]
        turns = [(*forward, *[True] * (longest - len(forward))) for _, _, forward, _ in paths]
        edges = torch.tensor(filled, device=device)  # (paths, longest), -1 past the end
        ahead = torch.tensor(turns, device=device)
        start = torch.tensor([first for *_, first in paths], device=device)
        lengths = (edges >= 0).sum(1) + 1
        edges = edges.clamp(min=0)
        into = torch.where(ahead, graph.edge_index[1, edges], graph.edge_index[0, edges])
        at = torch.cat([start.unsqueeze(1), into], 1)
        relation = labels[graph.edge_label[edges]] + self.direction(ahead.long())
        relation = torch.cat([torch.zeros_like(relation[:, :1]), relation], 1)
        steps = torch.cat([nodes[at], own[at], relation], -1).float()
        packed = pack_padded_sequence(steps, lengths.cpu(), batch_first=True, enforce_sorted=False)
        _, (last, _) = self.lstm(packed)
        read: Tensor = last[-1].to(own.dtype)
        return read


def pruned(paths: list[RelationalPath], plausible: list[float]) -> list[RelationalPath]:
    """The paths whose product of plausibilities is at least `PRUNED`; the best of each pair is always kept."""
    worth = [prod(plausible[edge] for edge in steps) for _, steps, _, _ in paths]
    best: dict[int, float] = {}
    for (pair, *_), value in zip(paths, worth, strict=True):
        best[pair] = max(value, best.get(pair, 0.0))
    return [p for p, value in zip(paths, worth, strict=True) if value >= min(PRUNED, best[p[0]])]


def best_of(
    pairs: list[tuple[int, int, int]], paths: list[RelationalPath], weight: Tensor, graph: GraphBatch
) -> dict[str, Tensor]:
    """`paths` (N, hops) and `path_weight` (N,) of `ReasonerOutput`: the path to each answer node with the largest
    alpha x beta."""
    number, count = len(graph.role), graph.edge_index.shape[1]
    best: dict[int, int] = {}
    weights = weight.tolist()
    for place, (pair, *_) in enumerate(paths):
        answer = pairs[pair][2]
        if answer not in best or weights[place] > weights[best[answer]]:
            best[answer] = place
    walks = torch.full((number, MAX_HOPS), -1)
    share = torch.zeros(number)
    for node, place in best.items():
        _, steps, forward, _ = paths[place]
        walks[node, : len(steps)] = torch.tensor(
            [e if ahead else e + count for e, ahead in zip(steps, forward, strict=True)]
        )
        share[node] = weights[place]
    return {"paths": walks.to(weight.device), "path_weight": share.to(weight.device)}


def find_pairs(graph: GraphBatch) -> tuple[list[tuple[int, int, int]], list[RelationalPath]]:
    """Pairs (row, question node, answer node) that are connected by a path, and paths (pair, edges, directions, start).

    Node and edge indices are those of the batch. It runs on the CPU, over the small graph of each row.
    """
    role, row = graph.role.cpu(), graph.batch.cpu()
    edge_index, score = graph.edge_index.cpu(), graph.score.cpu()
    pairs: list[tuple[int, int, int]] = []
    paths: list[RelationalPath] = []
    edge_row = row[edge_index[0]]
    for number in range(int(row[-1]) + 1):
        members = (row == number).nonzero().squeeze(-1)
        edges = (edge_row == number).nonzero().squeeze(-1)
        if not len(edges):
            continue
        first, roles = int(members[0]), role[members]
        local = torch.stack([edge_index[0, edges], torch.zeros_like(edges), edge_index[1, edges]], 1)
        local[:, [0, 2]] -= first
        asked = [i for i, r in enumerate(roles.tolist()) if r in (NodeRole.QUESTION, NodeRole.PASSAGE)]
        answers = (roles == int(NodeRole.CHOICE)).nonzero().squeeze(-1)
        if not len(answers):
            others = (roles == int(NodeRole.OTHER)).nonzero().squeeze(-1)
            answers = others[score[members][others].argsort(descending=True, stable=True)]
        for answer in answers[:MAX_ANSWERS].tolist():
            for start in [a for a in asked if a != answer][:MAX_SOURCES]:
                found = best_paths(
                    local.numpy(), len(members), [start], answer, k=PATHS_PER_PAIR, max_hops=MAX_HOPS
                )
                if found:
                    pairs.append((number, first + start, first + answer))
                for path in found:
                    steps = tuple(int(edges[e]) for e in path.steps)
                    paths.append((len(pairs) - 1, steps, path.forward, first + start))
    return pairs, paths

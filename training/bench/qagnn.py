"""Questions per second of a QA-GNN training step beside the padded, dense-batch way, same encoder and sizes.

    python training/bench/qagnn.py [--nodes 50] [--padded 200] [--questions 4] [--choices 5] [--turns 3]

The peer is a plain restatement of what MHGRN, QA-GNN and their successors share: every choice's subgraph is
padded to one size (their `max_node_num` is 200) and its facts stand in a dense adjacency [B, C, N, N], here of
relation types; attention and messages run over all pairs of nodes and the adjacency masks them. Nodes are read
from their labels on both sides. The two take turns; the time is the processor's, so other load does not count.
Prints one JSON line a turn and the ratio of the medians.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.utils import to_dense_batch

from kgqa.batch import QABatch
from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.layerwise import LabelEncoder, LayerwiseEncoder
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.reasoners.gnn import NUM_ROLES
from kgqa.trainer.finetuning.reader import PretrainedEncoderSettings, load_encoder
from kgqa.types import Example, NodeRole, Question, Relation, Subgraph

SAID = ("used for", "has step", "part of", "at", "is a")
RELATIONS = tuple(Relation(f"r:{number}", words) for number, words in enumerate(SAID))


class DenseLayer(nn.Module):
    """`RelationalAttention` over all pairs of a padded graph; `kind` is 0 where two nodes share no fact."""

    def __init__(self, size: int, heads: int, kinds: int) -> None:
        super().__init__()
        self.heads, self.norm = heads, nn.LayerNorm(size)
        self.query, self.key_value = nn.Linear(size, size), nn.Linear(size, 2 * size)
        self.kind = nn.Embedding(kinds, 2 * size)
        self.out = nn.Linear(size, size)
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(size), nn.Linear(size, 2 * size), nn.GELU(), nn.Linear(2 * size, size)
        )

    def forward(self, nodes: Tensor, kind: Tensor) -> Tensor:
        """New nodes (R, N, d); `kind` (R, N, N), [target, source]."""
        normed = self.norm(nodes)
        query = self.query(normed).unflatten(-1, (self.heads, -1))
        key, value = (part.unflatten(-1, (self.heads, -1)) for part in self.key_value(normed).chunk(2, -1))
        # (R, N, N, heads, d / heads)
        kind_key, kind_value = (part.unflatten(-1, (self.heads, -1)) for part in self.kind(kind).chunk(2, -1))
        score = torch.einsum("rthd,rshd->rths", query, key)
        score = score + torch.einsum("rthd,rtshd->rths", query, kind_key)
        score = score / math.sqrt(query.shape[-1])
        alpha = score.masked_fill((kind == 0).unsqueeze(2), -1e4).softmax(-1)
        update = torch.einsum("rths,rshd->rthd", alpha, value)
        update = update + torch.einsum("rths,rtshd->rthd", alpha, kind_value)
        nodes = nodes + self.out(update.flatten(2))
        return nodes + self.feed_forward(nodes)


class DenseQAGNN(nn.Module):
    """Encoder, padded graph network and score of a choice."""

    def __init__(self, encoder: nn.Module, size: int, layers: int, padded: int) -> None:
        super().__init__()
        self.encoder, self.padded = encoder, padded
        hidden = encoder.config.hidden_size  # type: ignore[union-attr]
        self.layerwise = LayerwiseEncoder(encoder)
        self.labels = LabelEncoder(self.layerwise, size)
        self.role, self.score = nn.Embedding(NUM_ROLES, size), nn.Linear(1, size)
        self.context = nn.Linear(hidden, size)
        kinds = 2 + 2 * len(RELATIONS) + 2 * NUM_ROLES
        self.layers = nn.ModuleList(DenseLayer(size, 4, kinds) for _ in range(layers))
        self.query = nn.Linear(hidden, size)
        self.out = nn.Sequential(nn.Linear(hidden + 2 * size, hidden), nn.GELU(), nn.Linear(hidden, 1))

    def forward(self, batch: QABatch, kind: Tensor) -> Tensor:
        """Loss over the choices; `kind` (R, N, N)."""
        graph, tokens = batch.graph, batch.tokens
        hidden = self.encoder(input_ids=tokens.input_ids, attention_mask=tokens.attention_mask.long())
        summary = hidden.last_hidden_state[:, 0]
        labels = self.labels(self.layerwise, graph)[graph.node_label]
        states = labels + self.role(graph.role) + self.score(graph.score.unsqueeze(-1))
        nodes, real = to_dense_batch(states, graph.batch, max_num_nodes=self.padded)
        nodes = nodes.index_add(1, torch.tensor([0]), self.context(summary).unsqueeze(1).to(nodes.dtype))
        for layer in self.layers:
            nodes = layer(nodes, kind)
        score = (self.query(summary).unsqueeze(1) * nodes).sum(-1) / math.sqrt(nodes.shape[-1])
        pooled = (score.masked_fill(~real, -1e4).softmax(-1).unsqueeze(-1) * nodes).sum(1)
        logit = self.out(torch.cat([summary, pooled, nodes[:, 0]], -1)).view(batch.num_questions, -1)
        assert batch.gold is not None
        return F.cross_entropy(logit, batch.gold.choice)


def adjacency(batch: QABatch, padded: int) -> Tensor:
    """Kinds [target, source] of all pairs, (R, N, N): facts both ways, context links, a loop at each node."""
    graph = batch.graph
    first = torch.nonzero(graph.role == int(NodeRole.CONTEXT)).squeeze(-1)
    local = torch.arange(len(graph.role)) - first[graph.batch]
    dense = torch.zeros(batch.num_rows, padded, padded, dtype=torch.long)
    head, tail = graph.edge_index
    row, (h, t) = graph.batch[head], (local[head], local[tail])
    number = torch.unique(graph.edge_label, return_inverse=True)[1]
    dense[row, t, h], dense[row, h, t] = number + 2, number + 2 + len(RELATIONS)
    linked = torch.nonzero(graph.role < int(NodeRole.OTHER)).squeeze(-1)
    base = 2 + 2 * len(RELATIONS)
    dense[graph.batch[linked], 0, local[linked]] = base + graph.role[linked]
    dense[graph.batch[linked], local[linked], 0] = base + NUM_ROLES + graph.role[linked]
    dense[:, range(padded), range(padded)] = 1
    return dense


def subgraph(draw: np.random.Generator, nodes: int) -> Subgraph:
    """Concepts with 3.5 facts each, as retrieval finds them over ConceptNet."""
    words = draw.integers(0, 4000, nodes)
    edges = np.stack([draw.integers(0, nodes, int(3.5 * nodes)) for _ in range(3)], 1).astype(np.int32)
    edges[:, 1] %= len(RELATIONS)
    roles = np.full(nodes, int(NodeRole.OTHER), dtype=np.int32)
    roles[:4], roles[4:6] = int(NodeRole.QUESTION), int(NodeRole.CHOICE)
    return Subgraph(
        nodes=tuple(f"n{i}" for i in words),
        labels=tuple(f"thing {i}" for i in words),
        roles=roles,
        scores=draw.random(nodes).astype(np.float32),
        edges=edges,
        weights=np.ones(len(edges), dtype=np.float32),
        relations=RELATIONS,
    )


def rate(step: Callable[[], Tensor], questions: int, steps: int) -> float:
    """Questions per processor second of forward and backward pass and update."""
    begin = time.process_time()
    for _ in range(steps):
        step()
    return questions * steps / (time.process_time() - begin)


def main() -> None:
    """Print the turns and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name, value in (("nodes", 50), ("padded", 200), ("questions", 4), ("choices", 5), ("turns", 3)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--steps", type=int, default=2, help="timed in a turn")
    parser.add_argument("--encoder", default="kgqa-mini")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    draw = np.random.default_rng(0)
    count = options.questions * options.choices
    asked = "what do people use when they want to plant some flowers in the garden behind the house"
    examples = [
        Example(
            Question(asked, tuple(f"thing {i}" for i in range(options.choices))), choice=i % options.choices
        )
        for i in range(options.questions)
    ]
    graphs = [[subgraph(draw, options.nodes) for _ in range(options.choices)] for _ in examples]
    settings = ReasonerSettings(name="qagnn", graph_size=128, num_layers=3, num_heads=4)
    encoder, folder = load_encoder(PretrainedEncoderSettings(folder=options.encoder))
    batch = Collator(Tokenizer.from_file(str(Path(folder) / "tokenizer.json")))(examples, graphs, True).batch
    reader = Reader(encoder, settings).train()
    padded = max(options.padded, options.nodes + 1)
    dense = DenseQAGNN(
        load_encoder(PretrainedEncoderSettings(folder=options.encoder))[0], 128, 3, padded
    ).train()
    kind = adjacency(batch, padded)

    def run(parameters: list[nn.Parameter], loss: Callable[[], Tensor]) -> Callable[[], Tensor]:
        optimizer = torch.optim.AdamW(parameters, lr=1e-4)

        def step() -> Tensor:
            value = loss()
            value.backward()
            optimizer.step()
            optimizer.zero_grad()
            return value

        return step

    sides = {
        "ragged": run(list(reader.parameters()), lambda: reader.loss(batch).total),
        "padded": run(list(dense.parameters()), lambda: dense(batch, kind)),
    }
    seen: dict[str, list[float]] = {name: [] for name in sides}
    for step in sides.values():
        step()
    for turn in range(options.turns):
        for name, step in sides.items():
            seen[name].append(rate(step, options.questions, options.steps))
        print(json.dumps({"turn": turn, **{n: round(v[-1], 2) for n, v in seen.items()}}), flush=True)
    medians = {name: statistics.median(values) for name, values in seen.items()}
    ratio = round(medians["ragged"] / medians["padded"], 1)
    print(json.dumps({"rows": count, "nodes": options.nodes, "padded": padded, "ratio": ratio}))


if __name__ == "__main__":
    main()

"""K-BERT: facts are inserted into the sentence, visible only to their mentions (Liu et al., 2020)."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor

from kgqa.batch import QABatch, ReasonerOutput
from kgqa.models.encoders.layerwise import LabelEncoder, LayerwiseEncoder, visible
from kgqa.models.reasoners.base import Reasoner, ReasonerSettings
from kgqa.models.reasoners.ernie import first_tokens
from kgqa.types import InputError

BRANCHES_PER_MENTION = 2
BRANCH_TOKENS = 8
MAX_BRANCHES = 8


class KBert(Reasoner):
    """Sentence tree, soft positions and visible matrix (sections 3.3-3.4); the encoder is unchanged.

    Attention is softmax((Q K' + M) / sqrt(d)) V with M_ij = 0 where i and j share a branch, else -inf.

    A branch "relation, tail" is attached to the first token of its mention: its positions continue from there; it and
    its mention see each other, the other words do not see it. Branches are placed at the end of the row, so they
    displace no text. It needs a bidirectional encoder that takes position ids and a mask for each pair of tokens.
    """

    def __init__(self, layerwise: LayerwiseEncoder, settings: ReasonerSettings) -> None:
        super().__init__(layerwise, settings)
        takes = inspect.signature(layerwise.encoder.forward).parameters
        config: Any = layerwise.encoder.config
        relative = any(hasattr(config, f"relative_attention{kind}") for kind in ("", "_num_buckets"))
        if layerwise.causal or relative or "position_ids" not in takes:
            raise InputError("k-bert needs a bidirectional encoder with absolute positions, such as electra")
        # flash attention does not support a mask for each pair
        if config._attn_implementation not in ("eager", "sdpa"):
            layerwise.encoder.set_attn_implementation("sdpa")  # type: ignore[operator]
        self.labels = LabelEncoder(layerwise, self.hidden_size)

    def forward(self, layerwise: LayerwiseEncoder, batch: QABatch) -> ReasonerOutput:
        """Token states of the row without its branches; nodes are label vectors, as in the text-only reasoner."""
        tokens = batch.tokens
        width = tokens.input_ids.shape[1]
        ids, positions, seen = self._sentence_tree(batch)
        last = layerwise.max_tokens - 1  # a branch at the end of a full row stays on the last position
        segments = torch.zeros_like(ids)
        segments[:, :width] = tokens.token_type_ids
        kind: torch.dtype = layerwise.encoder.dtype  # type: ignore[assignment]
        # additive, since eager attention would add a Boolean mask as 0 and 1
        mask = torch.zeros_like(seen, dtype=kind).masked_fill(~seen, torch.finfo(kind).min)
        hidden = layerwise.encode(
            tokens,
            input_ids=ids,
            token_type_ids=segments,
            position_ids=positions.clamp(max=last) + layerwise.first_position,
            attention_mask=mask.unsqueeze(1),
        )[:, :width]
        nodes = self.labels(layerwise, batch.graph)[batch.graph.node_label]
        summary = layerwise.summary(hidden, tokens)
        return ReasonerOutput(hidden, summary, nodes, torch.zeros_like(summary))

    def _sentence_tree(self, batch: QABatch) -> tuple[Tensor, Tensor, Tensor]:
        """Ids and soft positions (B, T'), and the visible matrix (B, T', T')."""
        tokens = batch.tokens
        rows, width = tokens.input_ids.shape
        branches = self._branches(batch)
        longest = max((sum(len(words) for _, words in row) for row in branches), default=0)
        device = tokens.input_ids.device
        ids = torch.zeros(rows, width + longest, dtype=torch.long, device=device)
        ids[:, :width] = tokens.input_ids
        positions = torch.zeros_like(ids)
        positions[:, :width] = (
            torch.arange(width, device=device) if tokens.position is None else tokens.position
        )
        seen = torch.zeros(rows, width + longest, width + longest, dtype=torch.bool, device=device)
        seen[:, :width, :width] = (
            tokens.attention_mask.unsqueeze(1)
            if tokens.candidate_index is None
            else visible(tokens.candidate_index, tokens.attention_mask)
        )
        for row, hung in enumerate(branches):
            at = width
            for mention, words in hung:
                end = at + len(words)
                ids[row, at:end] = torch.tensor(words, device=device)
                steps = torch.arange(1, len(words) + 1, device=device)
                positions[row, at:end] = positions[row, mention] + steps
                seen[row, at:end, at:end] = True
                seen[row, at:end, mention] = True
                seen[row, mention, at:end] = True
                at = end
        unused = ~seen.any(-1)
        seen |= torch.diag_embed(unused)  # padding sees itself, or softmax would be over nothing
        return ids, positions, seen

    def _branches(self, batch: QABatch) -> list[list[tuple[int, list[int]]]]:
        """For each row (token of the mention, token ids of the branch), heaviest facts of each mention first."""
        graph = batch.graph
        row, token, node = (part.tolist() for part in first_tokens(graph, batch.tokens.input_ids.shape[1]))
        words = [
            ids[: int(count)]
            for ids, count in zip(graph.label_ids.tolist(), graph.label_mask.sum(1), strict=True)
        ]
        hung: list[list[tuple[int, list[int]]]] = [[] for _ in range(batch.num_rows)]
        for number, at, named in zip(row, token, node, strict=True):
            facts = (graph.edge_index[0] == named).nonzero().squeeze(-1)
            best = facts[graph.edge_weight[facts].argsort(descending=True, stable=True)]
            for edge in best[:BRANCHES_PER_MENTION].tolist():
                if len(hung[number]) < MAX_BRANCHES:
                    tail = int(graph.node_label[graph.edge_index[1, edge]])
                    branch = [*words[int(graph.edge_label[edge])], *words[tail]]
                    hung[number].append((at, branch[:BRANCH_TOKENS]))
        return hung

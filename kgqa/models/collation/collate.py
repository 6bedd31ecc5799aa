"""Collate questions with their subgraphs into a `QABatch`; the only place where text becomes tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from tokenizers import Tokenizer
from torch import Tensor

from kgqa.batch import Gold, GraphBatch, PackedCandidates, QABatch, TokenBatch
from kgqa.limits.cancellation import report_panics
from kgqa.metrics import surface_key
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.collation.rows import (
    MAX_MENTION_TOKENS,
    BatchRow,
    PackedCandidate,
    Pieces,
    RowBuilder,
    Similarity,
    choice_with_facts,
    gold_tokens,
    mention_places,
    mentions_of_row,
    nearest_facts_text,
    nearest_windows,
    pack_candidates,
    padded,
    windows_with,
    without_blanks,
)
from kgqa.models.collation.sentence_batch import special_tokens_of
from kgqa.models.entity_vectors import EntityVectors
from kgqa.types import Example, InputError, NodeRole, Question, Source, Subgraph

ANSWER_TYPES = (Source.PASSAGE, Source.KNOWLEDGE, Source.NONE)
"""Order of the first classes of the answer-type classifier."""
YES_NO_CLASSES = {True: len(ANSWER_TYPES), False: len(ANSWER_TYPES) + 1}
"""Classes of yes and no in the answer-type classifier."""

MAX_ROWS = 600
"""Maximum number of rows of one question: windows of the passage times choices, each with its own copy of the
subgraph."""
TRAINED_WINDOWS = 16
"""Number of windows of a long passage that training reads: the nearest to the question, and as many with answers."""
LABEL_TOKENS = 8
"""Maximum number of tokens of a node or relation label."""
ROUND = 8
"""Row lengths are rounded up to a multiple of this, so that kernels, which are cached by shape, are reused."""


@dataclass(frozen=True, slots=True)
class Collated:
    """A batch and the texts it was made from."""

    batch: QABatch
    rows: tuple[BatchRow, ...]
    examples: tuple[Example, ...]


class _Texts(NamedTuple):
    """The texts of a row."""

    asked: Pieces
    chosen: Pieces | None
    passage: Pieces

    def by_role(self) -> dict[NodeRole, Pieces]:
        chosen = {} if self.chosen is None else {NodeRole.CHOICE: self.chosen}
        return {NodeRole.QUESTION: self.asked, NodeRole.PASSAGE: self.passage, **chosen}


class Collator:
    """Turns examples and their subgraphs into one batch.

    Args:
        tokenizer: a tokenizer with tokens like [CLS] and [SEP]; its character offsets are used for spans.
        config: the input configuration of the reader.
        entities: vectors of the graph's entities, for a reasoner that uses them.
    """

    def __init__(
        self, tokenizer: Tokenizer, config: InputConfig = InputConfig(), entities: EntityVectors | None = None
    ) -> None:
        self.tokenizer = tokenizer
        self.config, self.facts, self.packed = config, config.facts, config.packed
        self.max_tokens = config.max_tokens
        self._room = config.max_tokens // 2  # maximum tokens of a question; a choice gets half of it
        self.entities = entities
        special = special_tokens_of(tokenizer)
        self.start, self.separator, self.pad = special.start, special.end, special.pad
        self._labels: dict[str, list[int]] = {}

    def __call__(
        self,
        examples: Sequence[Example],
        subgraphs: Sequence[Sequence[Subgraph]],
        with_gold: bool = False,
        similarity: Similarity | None = None,
    ) -> Collated:
        """Collate questions; `subgraphs[i]` holds one subgraph per choice of question i, or one.

        With `with_gold`, the gold answers become targets; accepted concepts are compared with node labels as
        `kgqa.metrics.accepts` does. Without it, only the `config.windows` windows of a long passage that are
        nearest to the question are read (`nearest_windows`, with `similarity`); with it, see `TRAINED_WINDOWS`.
        """
        parts = RowBuilder()
        for index, example in enumerate(examples):
            self._add(parts, index, example, subgraphs[index], with_gold, similarity)
        return self._pack(parts, examples, with_gold)

    def _add(
        self,
        parts: RowBuilder,
        index: int,
        example: Example,
        graphs: Sequence[Subgraph],
        with_gold: bool,
        similarity: Similarity | None,
    ) -> None:
        question = example.question
        asked, passage = self.pieces(question.text), self.pieces(question.passage_text)
        if self.packed:
            graph, packed = pack_candidates(example, graphs, self.config, with_gold)
            texts = _Texts(asked, None, passage)
            return self._add_rows(
                parts, (index, -1), example, graph, texts, with_gold, packed=packed, similarity=similarity
            )
        choices: Sequence[str | None] = question.choices or (None,)
        for number, choice in enumerate(choices):
            graph = graphs[number] if len(graphs) > 1 else graphs[0]
            chosen = None if choice is None else self.pieces(choice_with_facts(choice, graph, self.facts))
            texts = _Texts(asked, chosen, passage)
            place = index, -1 if choice is None else number
            self._add_rows(parts, place, example, graph, texts, with_gold, similarity=similarity)

    def _add_rows(
        self,
        parts: RowBuilder,
        place: tuple[int, int],
        example: Example,
        graph: Subgraph,
        texts: _Texts,
        with_gold: bool,
        *,
        packed: Sequence[PackedCandidate] = (),
        similarity: Similarity | None = None,
    ) -> None:
        """Add a row for each window of the passage, with its packed candidates; `place` is (question, choice)."""
        longest = self.max_tokens // 4  # tokens of a packed candidate, and of the facts
        passage = texts.passage
        candidate_ids = [self.pieces(candidate.text).ids[:longest] for candidate in packed]
        facts = (
            self.pieces(nearest_facts_text(graph, self.config.context_facts)).ids[:longest]
            if self.packed
            else []
        )
        facts = [*facts, self.separator] if facts else []
        places = mention_places(graph, texts.by_role())
        windows = self._windows(texts, len(facts))
        if most := TRAINED_WINDOWS if with_gold else self.config.windows:
            question = example.question
            asked, read = (question.text, texts.asked), (question.passage_text, passage)
            near = nearest_windows(windows, most, asked, read, similarity)
            gold = windows_with(example.spans, passage, windows)[:most] if with_gold else []
            windows = sorted({*near, *gold})
        many = len(packed or example.question.choices or (None,))
        if not with_gold and len(windows) * many > MAX_ROWS:
            raise InputError(
                f"the passage has {len(passage.ids):,} tokens, with {many} choices too many to read; "
                "pass the part that matters"
            )
        for left, right in windows:
            ids, segments, choice_at, passage_at = self._row(texts, left, right)
            row = parts.add_row(*place, ids, segments, passage, passage_at, left, graph)
            seen = {
                NodeRole.QUESTION: (1, 0, self._room),
                NodeRole.CHOICE: (choice_at, 0, self._room // 2),
                NodeRole.PASSAGE: (passage_at - left, left, right),
            }
            parts.mentions += mentions_of_row(places, seen, row, parts.rows[row].first_node + 1)
            if with_gold:
                parts.spans.append(gold_tokens(example.spans, passage, left, right, passage_at))
            if self.packed:
                self._hang(parts, row, facts, list(zip(packed, candidate_ids, strict=True)))

    def _hang(
        self,
        parts: RowBuilder,
        row: int,
        facts: list[int],
        packed: Sequence[tuple[PackedCandidate, list[int]]],
    ) -> None:
        """Append to a row the verbalized facts, with which its shared prefix ends, and the packed candidates.
        The positions of each candidate continue from the end of the prefix, as if it were the only one."""
        ids, first_node = parts.ids[row], parts.rows[row].first_node + 1
        ids += facts
        prefix = len(ids)
        belongs, position = [0] * prefix, list(range(prefix))
        for number, (candidate, text) in enumerate(packed, start=1):
            node = candidate.node + first_node if candidate.node >= 0 else -1
            parts.packed.append((row, number, candidate.choice, node))
            if node >= 0:
                named = range(len(ids), len(ids) + min(len(text), MAX_MENTION_TOKENS))
                parts.mentions += [(row, token, node) for token in named]
            ids += [*text, self.separator]
            belongs += [number] * (len(text) + 1)
            position += range(prefix, prefix + len(text) + 1)
        parts.candidate_index.append(belongs)
        parts.position.append(position)

    def _row(self, texts: _Texts, left: int, right: int) -> tuple[list[int], list[int], int, int]:
        """Ids and segments of a row, and where its choice and its passage begin."""
        ids = [self.start, *texts.asked.ids[: self._room], self.separator]
        choice_at = len(ids)
        if texts.chosen is not None:
            ids += [*texts.chosen.ids[: self._room // 2], self.separator]
        passage_at = len(ids)
        segments = [0] * passage_at
        if right > left:
            ids += [*texts.passage.ids[left:right], self.separator]
            segments += [1] * (len(ids) - passage_at)
        return ids, segments, choice_at, passage_at

    def length(self, question: Question, graph: Subgraph) -> int:
        """Characters of question, passage and choices with their verbalized facts."""
        choices = sum(len(choice_with_facts(choice, graph, self.facts)) for choice in question.choices)
        return len(question.text) + len(question.passage_text) + choices

    def _windows(self, texts: _Texts, beside: int) -> list[tuple[int, int]]:
        """Windows of the passage, as half-open token ranges; `beside` is the number of tokens of facts."""
        used = min(len(texts.asked.ids), self._room) + 3 + beside  # 3 special tokens
        if texts.chosen is not None:
            used += min(len(texts.chosen.ids), self._room // 2) + 1
        space = max(self.max_tokens - used, 16)
        total = len(texts.passage.ids)
        step = space - min(self.config.stride, space // 2)
        windows = [(0, min(space, total))]
        while windows[-1][1] < total:
            left = windows[-1][0] + step
            windows.append((left, min(left + space, total)))
        return windows

    def pieces(self, text: str) -> Pieces:
        """A text's tokens. Raises InputError if the tokenizer fails."""
        with report_panics("a text", "leave it out, or take another reader"):
            encoding = self.tokenizer.encode(text, add_special_tokens=False)
        return Pieces(encoding.ids, without_blanks(text, encoding.offsets))

    def label_tokens(self, label: str) -> list[int]:
        """Token ids of a label, at least one and at most `LABEL_TOKENS`. Raises InputError if the tokenizer fails."""
        found = self._labels.get(label)
        if found is None:
            found = self.pieces(label).ids[:LABEL_TOKENS] or [self.separator]
            if len(self._labels) < 500_000:
                self._labels[label] = found
        return found

    def _pack(self, parts: RowBuilder, examples: Sequence[Example], with_gold: bool) -> Collated:
        longest = max(len(ids) for ids in parts.ids)
        width = -(-longest // ROUND) * ROUND
        # packed rows may exceed max_tokens: the positions of each candidate begin at the shared prefix
        width = width if self.packed else max(longest, min(width, self.max_tokens))
        tokens = TokenBatch(
            padded(parts.ids, width, self.pad),
            padded([[1] * len(ids) for ids in parts.ids], width, 0).bool(),
            padded(parts.segments, width, 0),
            candidate_index=padded(parts.candidate_index, width, 0) if self.packed else None,
            position=padded(parts.position, width, 0) if self.packed else None,
        )
        packed = torch.tensor(parts.packed, dtype=torch.long).reshape(-1, 4).unbind(1)
        passage_mask = padded([[int(e > s) for s, e in row.offsets] for row in parts.rows], width, 0).bool()
        graph, accepted = self._pack_graphs(parts, examples, with_gold)
        gold = None
        if with_gold:
            spans = torch.tensor(parts.spans, dtype=torch.long)
            gold = Gold(
                source=torch.tensor([gold_source(e) for e in examples]),
                choice=torch.tensor([-1 if e.choice is None else e.choice for e in examples]),
                start=spans[:, 0],
                end=spans[:, 1],
                node=accepted,
                ground=torch.tensor([gold_ground(e) for e in examples]),
                same=torch.tensor(paraphrase_groups(examples)),
            )
        batch = QABatch(
            tokens,
            graph,
            torch.tensor([row.question for row in parts.rows]),
            torch.tensor([row.choice for row in parts.rows]),
            passage_mask,
            len(examples),
            gold,
            PackedCandidates(*packed) if self.packed else None,
        )
        return Collated(batch, tuple(parts.rows), tuple(examples))

    def _pack_graphs(
        self, parts: RowBuilder, examples: Sequence[Example], with_gold: bool
    ) -> tuple[GraphBatch, Tensor]:
        table: dict[str, int] = {"": 0}  # label to row of label_ids; 0 is that of context nodes
        node_label: list[int] = []
        accepted: list[bool] = []
        edge_label: list[int] = []
        edges: list[np.ndarray] = []
        graphs = [row.subgraph for row in parts.rows]
        for row, graph in zip(parts.rows, graphs, strict=True):
            golds = {surface_key(c) for c in examples[row.question].concepts} if with_gold else set()
            node_label.append(0)
            accepted.append(False)
            for label in graph.labels:
                node_label.append(table.setdefault(label, len(table)))
                accepted.append(bool(golds) and surface_key(label) in golds)
            relation = np.array(
                [table.setdefault(r.words or r.label, len(table)) for r in graph.relations] or [0]
            )
            if len(graph.edges):
                edge_label.extend(relation[graph.edges[:, 1]].tolist())
                edges.append(graph.edges[:, [0, 2]].T.astype(np.int64) + row.first_node + 1)
        label_ids = [self.label_tokens(label) if label else [self.start] for label in table]
        width = max(len(ids) for ids in label_ids)
        sizes = torch.tensor([len(g.nodes) + 1 for g in graphs])
        context = int(NodeRole.CONTEXT)
        mentions = torch.tensor(parts.mentions, dtype=torch.long).reshape(-1, 3)
        graph_batch = GraphBatch(
            label_ids=padded(label_ids, width, self.pad),
            label_mask=padded([[1] * len(ids) for ids in label_ids], width, 0).bool(),
            node_label=torch.tensor(node_label),
            role=_joined([part for g in graphs for part in ([context], g.roles)], np.int64),
            score=_joined([part for g in graphs for part in ([1.0], g.scores)], np.float32),
            batch=torch.repeat_interleave(torch.arange(len(graphs)), sizes),
            edge_index=torch.from_numpy(np.concatenate([np.zeros((2, 0), np.int64), *edges], axis=1)),
            edge_label=torch.tensor(edge_label, dtype=torch.long),
            edge_weight=_joined([g.weights for g in graphs], np.float32),
            mention_row=mentions[:, 0],
            mention_token=mentions[:, 1],
            mention_node=mentions[:, 2],
            node_vector=None if self.entities is None else self._vectors(self.entities, graphs),
            edge_plausible=None
            if self.entities is None or not self.entities.relations
            else torch.cat([self.entities.plausibility(graph) for graph in graphs]),
        )
        return graph_batch, torch.tensor(accepted)

    @staticmethod
    def _vectors(entities: EntityVectors, graphs: Sequence[Subgraph]) -> Tensor:
        context = torch.zeros(1, entities.size)
        return torch.cat([part for g in graphs for part in (context, entities.look_up(g.nodes))])


def _joined(parts: Sequence[ArrayLike], kind: type[np.generic]) -> Tensor:
    return torch.from_numpy(np.concatenate(parts).astype(kind))


def gold_source(example: Example) -> int:
    """Gold class of the answer-type classifier (`Gold.source`); -1 for multiple-choice questions."""
    if example.yes_no_label is not None:
        return YES_NO_CLASSES[example.yes_no_label]
    return -1 if example.source is Source.CHOICE else ANSWER_TYPES.index(example.source)


def gold_ground(example: Example) -> int:
    """Source that a yes/no answer with a passage rests on (`Gold.ground`); -1 for all other answers."""
    beside = example.yes_no_label is not None and example.question.passage
    return ANSWER_TYPES.index(example.source) if beside else -1


def paraphrase_groups(examples: Sequence[Example]) -> list[int]:
    """Group number of each question (`Gold.same`): equal for paraphrases of one question about one passage,
    -1 for questions without a group."""
    seen: dict[tuple[str, str], int] = {}
    keys = [(example.same, example.question.passage_text) for example in examples]
    return [seen.setdefault(key, len(seen)) if key[0] else -1 for key in keys]

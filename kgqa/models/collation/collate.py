"""Words to tensors: questions with their subgraphs become a `QABatch`. The only place where that happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from kgqa.batch import BranchBatch, Gold, GraphBatch, QABatch, TokenBatch
from kgqa.graph.linking.person_names import people
from kgqa.limits.panics import panics_told
from kgqa.metrics import surface_key
from kgqa.models.collation.branching import Branch, branches_of
from kgqa.models.collation.facts_in_words import near_facts, with_facts
from kgqa.models.collation.overlap_features import MARKS, Features, TextWords, overlap_features, read_words
from kgqa.models.collation.person_masking import Anybody, Pieces, without_blanks
from kgqa.models.collation.reading import ReadingSettings
from kgqa.models.collation.rows import (
    MOST_TOKENS,
    Parts,
    Row,
    gold_tokens,
    mention_places,
    mentions_of_row,
    padded,
)
from kgqa.models.collation.sentences import marks_of
from kgqa.models.vectors.entities import EntityVectors
from kgqa.models.vectors.word_vectors import WordVectors
from kgqa.types import Example, InputError, NodeRole, Question, Source, Subgraph

GATED = (Source.PASSAGE, Source.KNOWLEDGE, Source.NONE)
"""Order of the gate's first classes."""
VERDICTS = {True: len(GATED), False: len(GATED) + 1}
"""The gate's classes of a question that the passage answers with yes or no."""

MAX_ROWS = 600
"""Windows of one question, over all its choices; each is a row of the batch with its own copy of the subgraph."""
LABEL_TOKENS = 8
"""Of a node or relation; the rest is cut."""
ROUND = 8
"""Rows are as long as the next multiple of this: the kernels' caches grow with every new shape."""


@dataclass(frozen=True, slots=True)
class Collated:
    """A batch and the words it was made from."""

    batch: QABatch
    rows: tuple[Row, ...]
    examples: tuple[Example, ...]


class _Texts(NamedTuple):
    """What a row is made of."""

    asked: Pieces
    chosen: Pieces | None
    passage: Pieces

    def by_role(self) -> dict[NodeRole, Pieces]:
        chosen = {} if self.chosen is None else {NodeRole.CHOICE: self.chosen}
        return {NodeRole.QUESTION: self.asked, NodeRole.PASSAGE: self.passage, **chosen}


class Collator:
    """Turns examples and their subgraphs into one batch.

    Args:
        tokenizer: with [CLS]-like and [SEP]-like tokens; its character offsets are used for spans.
        reading: tokens of a row and of its overlap with the next, paths told beside a choice.
        entities: vectors of the graph's entities, for a reasoner that reads them.
        words: word vectors, for a reader that reads them with the marks of recurring words; people
            are then read as anybody.

    Raises:
        InputError: the tokenizer marks neither start nor end.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        reading: ReadingSettings = ReadingSettings(),
        entities: EntityVectors | None = None,
        words: WordVectors | None = None,
    ) -> None:
        self.tokenizer = tokenizer
        self.reading, self.facts, self.branches = reading, reading.facts, reading.branches
        self.max_tokens = reading.max_tokens
        self._room = reading.max_tokens // 2  # tokens of a question; a choice has half of it
        self.entities, self.words = entities, words
        marks = marks_of(tokenizer)
        self.start, self.separator, self.pad = marks.start, marks.end, marks.pad
        self.anybody = Anybody(tokenizer)
        self._labels: dict[str, list[int]] = {}

    def __call__(
        self, examples: Sequence[Example], subgraphs: Sequence[Sequence[Subgraph]], with_gold: bool = False
    ) -> Collated:
        """Collate questions; `subgraphs[i]` holds one subgraph per choice of question i, or one.

        With `with_gold`, the gold answers become targets; accepted concepts are compared with node labels as
        `kgqa.metrics.accepts` does.

        Raises:
            InputError: without gold, a question whose passage and choices make too many rows to read at once.
        """
        parts = Parts()
        for index, example in enumerate(examples):
            self._add(parts, index, example, subgraphs[index], with_gold)
        return self._pack(parts, examples, with_gold)

    def _add(
        self, parts: Parts, index: int, example: Example, graphs: Sequence[Subgraph], with_gold: bool
    ) -> None:
        question = example.question
        asked, asked_words = self._read(question.text)
        passage, passage_words = self._read(question.passage_text)
        if self.branches:
            graph, branches = branches_of(example, graphs, self.reading, with_gold)
            texts = _Texts(asked, None, passage)
            return self._add_rows(parts, (index, -1), example, graph, texts, with_gold, branches=branches)
        choices: Sequence[str | None] = question.choices or (None,)
        for number, choice in enumerate(choices):
            graph = graphs[number] if len(graphs) > 1 else graphs[0]
            chosen, chosen_words = None, None
            if choice is not None:
                chosen, chosen_words = self._read(with_facts(choice, graph, self.facts), told_apart=True)
            texts = _Texts(asked, chosen, passage)
            features = overlap_features(asked_words, chosen_words, passage_words)
            place = index, -1 if choice is None else number
            self._add_rows(parts, place, example, graph, texts, with_gold, features=features)

    def _add_rows(
        self,
        parts: Parts,
        place: tuple[int, int],
        example: Example,
        graph: Subgraph,
        texts: _Texts,
        with_gold: bool,
        *,
        features: Features | None = None,
        branches: Sequence[Branch] = (),
    ) -> None:
        """A row for each window of the passage, with its branches; `place` are the numbers of question and choice."""
        most, passage = self.max_tokens // 4, texts.passage
        told = [self._encode(branch.text).ids[:most] for branch in branches]
        facts = self._encode(near_facts(graph, self.reading.context)).ids[:most] if self.branches else []
        facts = [*facts, self.separator] if facts else []
        places = mention_places(graph, texts.by_role())
        windows = self._windows(texts, len(facts))
        many = len(branches or example.question.choices or (None,))
        if not with_gold and len(windows) * many > MAX_ROWS:
            raise InputError(
                f"the passage has {len(passage.ids):,} tokens, with {many} choices too many to read; "
                "pass the part that matters"
            )
        for left, right in windows:
            ids, segments, choice_at, passage_at = self._row(texts, left, right)
            row = parts.add_row(*place, ids, segments, passage, passage_at, left, graph)
            if features:
                parts.features.append(self._laid_out(features, left, right))
            seen = {
                NodeRole.QUESTION: (1, 0, self._room),
                NodeRole.CHOICE: (choice_at, 0, self._room // 2),
                NodeRole.PASSAGE: (passage_at - left, left, right),
            }
            parts.mentions += mentions_of_row(places, seen, row, parts.rows[row].first_node + 1)
            if with_gold:
                parts.spans.append(gold_tokens(example.spans, passage, left, right, passage_at))
            if self.branches:
                self._hang(parts, row, facts, list(zip(branches, told, strict=True)))

    def _hang(
        self, parts: Parts, row: int, facts: list[int], branches: Sequence[tuple[Branch, list[int]]]
    ) -> None:
        """Facts behind a row's passage, then its branches with their tokens; each goes on from the trunk's end."""
        ids, first_node = parts.ids[row], parts.rows[row].first_node + 1
        ids += facts
        trunk = len(ids)
        belongs, position = [0] * trunk, list(range(trunk))
        for number, (branch, text) in enumerate(branches, start=1):
            node = branch.node + first_node if branch.node >= 0 else -1
            parts.branches.append((row, number, branch.choice, node))
            if node >= 0:
                named = range(len(ids), len(ids) + min(len(text), MOST_TOKENS))
                parts.mentions += [(row, token, node) for token in named]
            ids += [*text, self.separator]
            belongs += [number] * (len(text) + 1)
            position += range(trunk, trunk + len(text) + 1)
        parts.segments[row] += [0] * (len(ids) - len(parts.segments[row]))
        offsets = parts.rows[row].offsets
        offsets += ((0, 0),) * (len(ids) - len(offsets))
        parts.rows[row] = replace(parts.rows[row], offsets=offsets)
        parts.branch.append(belongs)
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

    def _read(self, text: str, told_apart: bool = False) -> tuple[Pieces, TextWords | None]:
        """Tokens of a text; with word vectors its words too, and its people, unless told apart, as anybody."""
        pieces = self._encode(text)
        if self.words is None:
            return pieces, None
        names = [] if told_apart else people(text)
        pieces = pieces if told_apart else self.anybody(pieces, names)
        return pieces, read_words(text, pieces, self.words, names)

    def length(self, question: Question, graph: Subgraph) -> int:
        """Characters that are read beside the only choice of a question, and it with what is told of it."""
        told = sum(len(with_facts(choice, graph, self.facts)) for choice in question.choices)
        return len(question.text) + len(question.passage_text) + told

    def _laid_out(self, features: Features, left: int, right: int) -> list[NDArray[np.float32]]:
        """Word row, part and marks of each token of a row, laid out as `_row` lays out its ids."""
        pause = np.zeros((1, 2 + MARKS), dtype=np.float32)
        laid = [pause, features.asked[: self._room], pause]
        if features.chosen is not None:
            laid += [features.chosen[: self._room // 2], pause]
        if right > left:
            laid += [features.passage[left:right], pause]
        return laid

    def _windows(self, texts: _Texts, beside: int) -> list[tuple[int, int]]:
        used = min(len(texts.asked.ids), self._room) + 3 + beside
        if texts.chosen is not None:
            used += min(len(texts.chosen.ids), self._room // 2) + 1
        space = max(self.max_tokens - used, 16)
        total = len(texts.passage.ids)
        step = space - min(self.reading.stride, space // 2)
        windows = [(0, min(space, total))]
        while windows[-1][1] < total:
            left = windows[-1][0] + step
            windows.append((left, min(left + space, total)))
        return windows

    def _encode(self, text: str) -> Pieces:
        with panics_told("a text", "leave it out, or take another reader"):
            encoding = self.tokenizer.encode(text, add_special_tokens=False)
        return Pieces(encoding.ids, without_blanks(text, encoding.offsets))

    def label_tokens(self, label: str) -> list[int]:
        """Token ids of a label, at least one, at most `LABEL_TOKENS`. Raises InputError where the tokenizer fails."""
        found = self._labels.get(label)
        if found is None:
            found = self._encode(label).ids[:LABEL_TOKENS] or [self.separator]
            if len(self._labels) < 500_000:
                self._labels[label] = found
        return found

    def _pack(self, parts: Parts, examples: Sequence[Example], with_gold: bool) -> Collated:
        longest = max(len(ids) for ids in parts.ids)
        width = -(-longest // ROUND) * ROUND
        width = width if self.branches else max(longest, min(width, self.max_tokens))
        tokens = TokenBatch(
            padded(parts.ids, width, self.pad),
            padded([[1] * len(ids) for ids in parts.ids], width, 0).bool(),
            padded(parts.segments, width, 0),
            **self._pack_features(parts.features, width),
            branch=padded(parts.branch, width, 0) if self.branches else None,
            position=padded(parts.position, width, 0) if self.branches else None,
        )
        branches = torch.tensor(parts.branches, dtype=torch.long).reshape(-1, 4).unbind(1)
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
            )
        batch = QABatch(
            tokens,
            graph,
            torch.tensor([row.question for row in parts.rows]),
            torch.tensor([row.choice for row in parts.rows]),
            passage_mask,
            len(examples),
            gold,
            BranchBatch(*branches) if self.branches else None,
        )
        return Collated(batch, tuple(parts.rows), tuple(examples))

    def _pack_graphs(
        self, parts: Parts, examples: Sequence[Example], with_gold: bool
    ) -> tuple[GraphBatch, Tensor]:
        table: dict[str, int] = {"": 0}
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
        context = [np.array([int(NodeRole.CONTEXT)])]
        mentions = torch.tensor(parts.mentions, dtype=torch.long).reshape(-1, 3)
        graph_batch = GraphBatch(
            label_ids=padded(label_ids, width, self.pad),
            label_mask=padded([[1] * len(ids) for ids in label_ids], width, 0).bool(),
            node_label=torch.tensor(node_label),
            role=torch.from_numpy(
                np.concatenate([p for g in graphs for p in (*context, g.roles)]).astype(np.int64)
            ),
            score=torch.from_numpy(
                np.concatenate([p for g in graphs for p in (np.ones(1), g.scores)]).astype(np.float32)
            ),
            batch=torch.repeat_interleave(torch.arange(len(graphs)), sizes),
            edge_index=torch.from_numpy(np.concatenate([np.zeros((2, 0), np.int64), *edges], axis=1)),
            edge_label=torch.tensor(edge_label, dtype=torch.long),
            edge_weight=torch.from_numpy(
                np.concatenate([np.zeros(0), *(g.weights for g in graphs)]).astype(np.float32)
            ),
            mention_row=mentions[:, 0],
            mention_token=mentions[:, 1],
            mention_node=mentions[:, 2],
            label_vector=None
            if self.words is None
            else torch.from_numpy(np.stack([self.words.of_label(label) for label in table])),
            node_vector=None if self.entities is None else self._vectors(self.entities, graphs),
            edge_plausible=None
            if self.entities is None or not self.entities.relations
            else torch.cat([self.entities.plausibility(graph) for graph in graphs]),
        )
        return graph_batch, torch.tensor(accepted)

    def _pack_features(
        self, features: Sequence[Sequence[NDArray[np.float32]]], width: int
    ) -> dict[str, Tensor]:
        if self.words is None:
            return {}
        table = np.zeros((len(features), width, 2 + MARKS), dtype=np.float32)
        for row, pieces in enumerate(features):
            laid = np.concatenate(pieces)
            table[row, : len(laid)] = laid
        vectors = self.words.vectors[table[..., 0].astype(np.int64)]
        return {
            "word_vector": torch.from_numpy(vectors.astype(np.float32)),
            "marks": torch.from_numpy(table[..., 2:].copy()),
            "part": torch.from_numpy(table[..., 1].astype(np.int64)),
        }

    @staticmethod
    def _vectors(entities: EntityVectors, graphs: Sequence[Subgraph]) -> Tensor:
        context = torch.zeros(1, entities.size)
        return torch.cat([part for g in graphs for part in (context, entities.look_up(g.nodes))])


def gold_source(example: Example) -> int:
    """The gate's class of a gold answer, `Gold.source`; -1 where choices were given, which need no gate."""
    if example.verdict is not None:
        return VERDICTS[example.verdict]
    return -1 if example.source is Source.CHOICE else GATED.index(example.source)

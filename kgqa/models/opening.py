"""`open_reader`: the one place where a checkpoint folder becomes a reader that scores questions."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor

from kgqa.assets import find_encoder, find_model
from kgqa.batch import QABatch
from kgqa.limits.stopping import go_on
from kgqa.models.adapter import load_adapter
from kgqa.models.collation.candidates import CandidateRow, row_key
from kgqa.models.collation.collate import Collated, Collator
from kgqa.models.collation.reading import ReadingSettings, settings_of
from kgqa.models.devices import find_device, find_precision, lighten, multiplying
from kgqa.models.heads.choice import of_choices
from kgqa.models.pretrained import check_sums
from kgqa.models.reader import Reader, Scores, load_reader
from kgqa.models.vectors.entities import FILE as ENTITIES
from kgqa.models.vectors.entities import EntityVectors, load_entities
from kgqa.models.vectors.word_vectors import WordVectors, load_words
from kgqa.text.corpus.tokenizer import load_tokenizer
from kgqa.types import Example, InputError, Passage, Question, Subgraph

ROWS_TOGETHER = (16, 512)
"""Rows of candidates read in one batch, on a CPU, whose caches hold no more, and elsewhere."""
PROBE = Question("What did I dig with?", passage=Passage("I want to plant flowers, so I dug the ground."))
LEAST = 1e-7
"""Probability of a concept below which it counts as that."""


class LoadedReader:
    """A trained network with all that it reads with; it scores what it is given and knows no graph.

    Args:
        tokenizer, settings, entities, words: those that the network was trained with.
        card: what else its folder says of it.
        precision: in which matrices are multiplied: bf16, int8 or fp32; all else stays in float32.

    Raises:
        InputError: the tokenizer marks neither start nor end.
    """

    def __init__(
        self,
        reader: Reader,
        tokenizer: Tokenizer,
        *,
        name: str = "",
        settings: ReadingSettings = ReadingSettings(),
        card: Mapping[str, Any] | None = None,
        entities: EntityVectors | None = None,
        words: WordVectors | None = None,
        precision: str = "fp32",
    ) -> None:
        self.network, self.name, self.card, self.precision = reader.eval(), name, card or {}, precision
        self.forms: LoadedReader | None = None
        """The same with the adapter that ranks logical forms, where its folder holds one."""
        longest = min(settings.max_tokens, reader.stepper.max_tokens)
        self.settings = settings.model_copy(update={"max_tokens": longest})
        self.collator = Collator(tokenizer, self.settings, entities=entities, words=words)
        # a reader that walks its encoder hangs hooks on shared layers: two at a time would mix their questions
        self._walking = threading.Lock()
        for layer in reader.stepper.layers:
            layer.register_forward_pre_hook(lambda *_: go_on())
        # what reasons over the graph is small, and stays as it is where numbers are rounded to eight bits
        lighter = reader.stepper.encoder if precision == "int8" else reader
        lighten(lighter, precision, lambda: self.heads(self.collate([PROBE], [[Subgraph()]]).batch))

    def collate(self, questions: Sequence[Question], subgraphs: Sequence[Sequence[Subgraph]]) -> Collated:
        """Questions with their subgraphs, one a choice or one, as a batch.

        Raises:
            InputError: a passage and its choices make too many rows to read at once.
        """
        return self.collator([Example(question) for question in questions], subgraphs)

    def heads(self, batch: QABatch) -> Scores:
        """What the heads say about a batch: computed on the reader's device, given on the CPU.

        Raises:
            InputError: what they say is no number, as where weights are damaged.
        """
        device = self.network.device
        with self._walking, torch.inference_mode(), multiplying(device, self.precision):
            computed: Scores = self.network(batch.to(device))
            scores = computed.to("cpu").float()
        if any(said.isnan().any() for said in (scores.span, scores.choice, scores.concept, scores.gate)):
            raise InputError(f"{self.name}: its weights give no numbers; copy the checkpoint again")
        return scores

    def score(self, rows: Sequence[CandidateRow]) -> Tensor:
        """Scores (R,) of rows with one candidate each: of a choice, or of a concept its log-odds among all of its row.

        A row is scored without a look at the others, so rows of many questions are read together by their length: what
        they are padded with is read too. Rows that are equal, as those of a question asked again without a fact that
        has nothing to do with the choice, are read once.

        Raises:
            InputError: as `collate`.
        """
        first: dict[tuple[object, ...], int] = {}
        stands_for = [first.setdefault(row_key(row), r) for r, row in enumerate(rows)]
        together = ROWS_TOGETHER[str(self.network.device) != "cpu"]
        trunks = self._trunks(rows, first.values(), together)
        trunks.sort(
            key=lambda trunk: sum(self.collator.length(rows[r].question, rows[r].subgraph) for r in trunk)
        )
        scores = torch.full((len(rows),), -torch.inf)
        while trunks:
            part = [trunks.pop(0)]
            while trunks and sum(map(len, part)) + len(trunks[0]) <= together:
                part.append(trunks.pop(0))
            questions = [
                replace(
                    rows[trunk[0]].question, choices=tuple(c for r in trunk for c in rows[r].question.choices)
                )
                for trunk in part
            ]
            collated = self.collate(questions, [[rows[r].subgraph for r in trunk] for trunk in part])
            heads = self.heads(collated.batch)
            for question, choice, score in zip(*collated.batch.scored, heads.choice, strict=True):
                if choice >= 0:  # of several windows the best counts
                    r = part[question][choice]
                    scores[r] = torch.maximum(scores[r], score)
            for row in collated.rows:
                nodes = heads.concept[row.first_node + 1 : row.first_node + 1 + len(row.subgraph.nodes)]
                for r in [r for r, other in enumerate(stands_for) if other == part[row.question][0]]:
                    if rows[r].concept:
                        odds = _log_odds(nodes, row.subgraph.nodes, rows[r].concept)
                        scores[r] = torch.maximum(scores[r], odds)
        return scores[[r if row.concept else stands_for[r] for r, row in enumerate(rows)]]

    def _trunks(self, rows: Sequence[CandidateRow], chosen: Iterable[int], most: int) -> list[list[int]]:
        """Rows by what is read together: where choices have branches, up to `most` with one question and passage."""
        if not self.settings.branches:
            return [[r] for r in chosen]
        open_trunks: dict[tuple[str, str], list[int]] = {}
        trunks: list[list[int]] = []
        for r in chosen:
            question = rows[r].question
            key = question.text, question.passage_text
            trunk = open_trunks.get(key, [])
            # one choice twice stands beside other facts: where some are struck out, the rest is read by itself
            known = {rows[other].question.choices for other in trunk}
            if rows[r].concept or not trunk or len(trunk) == most or question.choices in known:
                trunk = []
                trunks.append(trunk)
            if not rows[r].concept:
                open_trunks[key] = trunk
            trunk.append(r)
        return trunks

    def choose(self, questions: Sequence[Question]) -> list[Tensor]:
        """For each question scores (C,) of its choices.

        A choice has the same score whatever others are read beside it.

        Raises:
            InputError: as `collate`.
        """
        batch = self.collate(questions, [[Subgraph()]] * len(questions)).batch
        scores = of_choices(self.heads(batch).choice, batch)
        return [each[: len(q.choices)] for each, q in zip(scores, questions, strict=True)]


def _log_odds(scores: Tensor, nodes: Sequence[str], concept: str) -> Tensor:
    """Log-odds of a concept among the nodes of a row, their scores (N,) given."""
    share = scores.softmax(0)[nodes.index(concept)] if concept in nodes else torch.zeros(())
    return share.clamp(LEAST, 1 - LEAST).logit()


def open_reader(model: str | Path, device: str | None = "auto") -> LoadedReader:
    """The reader of a checkpoint folder or shipped name, on `device`: "auto" takes cuda, else mps, else cpu.

    With no device it stays as it was loaded, in full precision, for whoever trains with it.

    Raises:
        InputError: there is none, it is damaged, or the device is not here.
    """
    folder = find_model(model)
    place = None if device is None else find_device(device)
    reader, card = load_reader(folder)
    adapter = None if place is None else load_adapter(reader, folder)
    opened = partial(
        LoadedReader,
        tokenizer=load_tokenizer(folder),
        name=card.get("name") or folder.name,
        settings=settings_of(card),
        card=card,
        entities=load_entities(folder) if (folder / ENTITIES).exists() else None,
        words=_words(folder, card) if reader.settings.word_size else None,
        precision="fp32" if place is None else find_precision(place, reader.stepper.hidden_size),
    )
    loaded = opened(reader if place is None else reader.to(place))
    if adapter is not None:
        loaded.forms = opened(adapter.to(place))
    return loaded


def _words(folder: Path, card: dict[str, Any]) -> WordVectors:
    """A reader's word vectors: in its folder, or beside the encoder that its card names with their checksum."""
    if (shared := card.get("words")) is not None:
        try:
            folder = find_encoder(shared["folder"])
        except (TypeError, KeyError):
            raise InputError(f"{folder}: its card names no word vectors; copy the checkpoint again") from None
        check_sums(folder, shared)
    return load_words(folder)

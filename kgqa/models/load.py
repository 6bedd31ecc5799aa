"""Load a reader for inference from a checkpoint folder."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor

from kgqa.batch import QABatch
from kgqa.data.corpus.tokenizer import load_tokenizer
from kgqa.limits.cancellation import check_cancelled
from kgqa.models.adapters import CHOICES, FORMS, load_adapter, load_merged
from kgqa.models.arithmetic_head import ArithmeticHead, load_arithmetic_head
from kgqa.models.collation.collate import Collated, Collator
from kgqa.models.collation.input_config import InputConfig, input_config_of
from kgqa.models.collation.rows import CandidateRow, Similarity, row_key
from kgqa.models.collation.sentence_batch import pad_rows
from kgqa.models.devices import cast_linear_layers, find_device, find_precision, matmul_precision
from kgqa.models.entity_vectors import FILE as ENTITIES
from kgqa.models.entity_vectors import EntityVectors, load_entities
from kgqa.models.fact_map import FactMap, MappedEncoder, load_map
from kgqa.models.heads import of_choices
from kgqa.models.reader import Reader, Scores
from kgqa.settings import find_model
from kgqa.types import Example, InputError, Passage, Question, Subgraph

ROWS_TOGETHER = (16, 512)
"""Batch size of candidate rows on a CPU (limited by its caches), and on other devices."""
PROBE = Question("What did I dig with?", passage=Passage("I want to plant flowers, so I dug the ground."))
"""Question with which int8 quantization is calibrated."""
LEAST = 1e-7
"""Probabilities of concepts are clamped to at least this."""


class LoadedReader:
    """A trained network with tokenizer, input configuration and entity vectors. It scores questions with their
    subgraphs, and is independent of any graph.

    Args:
        tokenizer, settings, entities: those that the network was trained with.
        card: the model card.
        fact_map: map from the encoder's vectors into the fact encoder's space.
        precision: precision of matrix products (bf16, int8 or fp32); everything else is float32.

    Raises:
        InputError: the tokenizer has no start or end token.
    """

    def __init__(
        self,
        reader: Reader,
        tokenizer: Tokenizer,
        *,
        name: str = "",
        settings: InputConfig = InputConfig(),
        card: Mapping[str, Any] | None = None,
        entities: EntityVectors | None = None,
        precision: str = "fp32",
        fact_map: FactMap | None = None,
    ) -> None:
        self.network, self.name, self.card, self.precision = reader.eval(), name, card or {}, precision
        self.forms: LoadedReader | None = None
        """The same reader with the adapter that ranks logical forms, if the folder has one."""
        self.amounts: tuple[LoadedReader, ArithmeticHead] | None = None
        """The same reader with the adapter that does arithmetic, and its head, if the folder has one."""
        longest = min(settings.max_tokens, reader.layerwise.max_tokens)
        self.settings = settings.model_copy(update={"max_tokens": longest})
        self.collator = Collator(tokenizer, self.settings, entities=entities)
        self._lock = threading.Lock()
        self.question_encoder: MappedEncoder | None = None
        """Encodes questions in languages other than English for fact retrieval, if the folder has a map."""
        # int8 quantizes only the encoder: the reasoner is small, so there would be little to gain
        lighter = reader.layerwise.encoder if precision == "int8" else reader
        cast_linear_layers(
            lighter, precision, lambda: self.heads(self.collate([PROBE], [[Subgraph()]]).batch)
        )
        if fact_map is not None:
            made_of = blake2b(repr(self.card.get("checksums")).encode(), digest_size=8).hexdigest()
            self.question_encoder = MappedEncoder(
                reader.layerwise, tokenizer, fact_map, made_of, precision, self._forward_pass
            )

    @contextmanager
    def _forward_pass(self) -> Iterator[None]:
        """Context of a forward pass, which ends before the next layer once the request is cancelled. One pass runs at a
        time: it registers hooks on the layers, as layer-wise reasoners do, and concurrent passes would be mixed up."""
        with self._lock, ExitStack() as hooks:
            for layer in self.network.layerwise.layers:
                hooks.enter_context(layer.register_forward_pre_hook(lambda *_: check_cancelled()))
            yield

    def collate(
        self,
        questions: Sequence[Question],
        subgraphs: Sequence[Sequence[Subgraph]],
        similarity: Similarity | None = None,
    ) -> Collated:
        """Collate questions with their subgraphs (one per choice, or one); `similarity` as in `Collator`. Raises
        InputError if a passage and its choices need too many rows."""
        examples = [Example(question) for question in questions]
        return self.collator(examples, subgraphs, similarity=similarity)

    def heads(self, batch: QABatch) -> Scores:
        """Scores of all heads for a batch, computed on the reader's device, returned on the CPU. Raises InputError if
        any are NaN, as with damaged weights."""
        device = self.network.device
        with self._forward_pass(), torch.inference_mode(), matmul_precision(device, self.precision):
            computed: Scores = self.network(batch.to(device))
            scores = computed.to("cpu").float()
        if any(
            head_scores.isnan().any()
            for head_scores in (scores.span, scores.choice, scores.concept, scores.answer_type)
        ):
            raise InputError(
                f"{self.name}: scores are NaN, so its weights are damaged; copy the checkpoint again"
            )
        return scores

    def token_states(self, rows: Sequence[tuple[list[int], int]], layer: int) -> list[Tensor]:
        """States (T, H) of an encoder layer (counted from 1) for each row: its token ids, and the index at which its
        passage begins. The layers above are not run."""
        tokens = pad_rows(rows, self.collator.pad).to(self.network.device)
        precision = matmul_precision(self.network.device, self.precision)
        with self._forward_pass(), torch.inference_mode(), precision:
            states = self.network.layerwise.states_of(tokens, layer).float().to("cpu")
        return [own[: len(ids)] for own, (ids, _) in zip(states, rows, strict=True)]

    def score(self, rows: Sequence[CandidateRow]) -> Tensor:
        """Scores (R,) of rows with one candidate each: the score of a choice, or the log-odds of a concept in its row.

        Rows are independent, so rows of several questions are batched by length. Equal rows, such as those of a
        question asked again without an unrelated fact, are scored once.
        """
        first: dict[tuple[object, ...], int] = {}
        stands_for = [first.setdefault(row_key(row), r) for r, row in enumerate(rows)]
        together = ROWS_TOGETHER[str(self.network.device) != "cpu"]
        groups = self._by_prefix(rows, first.values(), together)
        groups.sort(
            key=lambda prefix: sum(self.collator.length(rows[r].question, rows[r].subgraph) for r in prefix)
        )
        scores = torch.full((len(rows),), -torch.inf)
        while groups:
            part = [groups.pop(0)]
            while groups and sum(map(len, part)) + len(groups[0]) <= together:
                part.append(groups.pop(0))
            questions = [
                replace(
                    rows[prefix[0]].question,
                    choices=tuple(c for r in prefix for c in rows[r].question.choices),
                )
                for prefix in part
            ]
            collated = self.collate(questions, [[rows[r].subgraph for r in prefix] for prefix in part])
            heads = self.heads(collated.batch)
            for question, choice, score in zip(*collated.batch.scored, heads.choice, strict=True):
                if choice >= 0:  # the maximum over windows
                    r = part[question][choice]
                    scores[r] = torch.maximum(scores[r], score)
            for row in collated.rows:
                nodes = heads.concept[row.first_node + 1 : row.first_node + 1 + len(row.subgraph.nodes)]
                for r in [r for r, other in enumerate(stands_for) if other == part[row.question][0]]:
                    if rows[r].concept:
                        odds = concept_log_odds(nodes, row.subgraph.nodes, rows[r].concept)
                        scores[r] = torch.maximum(scores[r], odds)
        # equal rows share a forward pass, but may ask for different concepts
        return scores[[r if row.concept else stands_for[r] for r, row in enumerate(rows)]]

    def _by_prefix(self, rows: Sequence[CandidateRow], chosen: Iterable[int], most: int) -> list[list[int]]:
        """Group rows for packing: up to `most` choices of one question and passage."""
        if not self.settings.packed:
            return [[r] for r in chosen]
        open_groups: dict[tuple[str, str], list[int]] = {}
        groups: list[list[int]] = []
        for r in chosen:
            question = rows[r].question
            key = question.text, question.passage_text
            prefix = open_groups.get(key, [])
            # the same choice with other facts (some left out) cannot be packed into the same row
            known = {rows[other].question.choices for other in prefix}
            if rows[r].concept or not prefix or len(prefix) == most or question.choices in known:
                prefix = []
                groups.append(prefix)
            if not rows[r].concept:
                open_groups[key] = prefix
            prefix.append(r)
        return groups

    def choose(self, questions: Sequence[Question]) -> list[Tensor]:
        """Scores (C,) of each question's choices, without the graph; independent of the other choices."""
        batch = self.collate(questions, [[Subgraph()]] * len(questions)).batch
        scores = of_choices(self.heads(batch).choice, batch)
        return [each[: len(q.choices)] for each, q in zip(scores, questions, strict=True)]


def concept_log_odds(scores: Tensor, nodes: Sequence[str], concept: str) -> Tensor:
    """Log-odds of a concept among the nodes of a row, from their scores (N,)."""
    share = scores.softmax(0)[nodes.index(concept)] if concept in nodes else torch.zeros(())
    return share.clamp(LEAST, 1 - LEAST).logit()


def open_reader(model: str | Path, device: str | None = "auto", once: bool = False) -> LoadedReader:
    """Load a reader from a checkpoint folder or shipped name, on `device`: "auto" takes cuda, else mps, else cpu.

    With device None, it stays on the CPU in full precision, for training. With `once`, it loads faster and answers more
    slowly, which pays for a single question.

    Raises:
        InputError: the reader does not exist or is damaged, or the device is not available.
    """
    folder = find_model(model)
    place = None if device is None else find_device(device)
    reader, card = load_merged(folder)
    opened = partial(
        LoadedReader,
        tokenizer=load_tokenizer(folder),
        name=card.get("name") or folder.name,
        settings=input_config_of(card),
        card=card,
        fact_map=load_map(folder),
        entities=load_entities(folder) if (folder / ENTITIES).exists() else None,
        precision="fp32" if place is None else find_precision(place, reader.layerwise.hidden_size, once),
    )
    loaded = opened(reader if place is None else reader.to(place))
    if place is not None:
        # after the reader, so that the adapters share layers that are quantized already
        if (forms := load_adapter(reader, folder / FORMS, (CHOICES,), over_merged=True)) is not None:
            loaded.forms = opened(forms.to(place))
        if (amounts := load_arithmetic_head(reader, folder, over_merged=True)) is not None:
            loaded.amounts = opened(amounts[0].to(place)), amounts[1]
    return loaded

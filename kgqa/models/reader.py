"""The reader: encoder, reasoner and heads in one module, and its checkpoint folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from kgqa.batch import Loss, Movable, PackedCandidates, QABatch, ReasonerOutput, Term
from kgqa.models.encoders.bert import new_encoder
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.heads import AnswerTypeHead, ChoiceHead, ConceptHead, SpanHead
from kgqa.models.pretrained import (
    CARD,
    WEIGHTS,
    Undrawn,
    check_regular,
    check_sums,
    copy_tokenizer,
    load_into,
    load_weights,
    save_half,
    write_card,
)
from kgqa.models.reasoners import ReasonerSettings, find_reasoner
from kgqa.models.segments import segment_mean
from kgqa.renamed import current_keys, current_weights
from kgqa.types import InputError, report_damage

FORMAT = 1
"""Version of the checkpoint format, raised on incompatible changes.

A number and no fingerprint of code: a checkpoint is kept and published, cannot be rebuilt from its sources like a
cached file, and must be readable by later code.
"""
ENCODER = "layerwise.encoder."
"""Name prefix of the encoder's weights, which are saved in a file of their own."""
OWN = "reader.safetensors"
"""File with the weights of the reasoner and the heads."""
RETIRED = "operation."
"""Name prefix of the weights of a removed head, which older checkpoints still hold."""
MAX_TOKENS_PER_PASS = 1 << 14
"""Maximum number of tokens (padding included) per forward pass at inference."""
LOSS_WEIGHTS = {"span": 1.0, "choice": 1.0, "concept": 1.0, "answer_type": 0.5}
"""Weight of each head's loss in the sum."""


@dataclass(frozen=True)
class Scores(Movable):
    """Scores of all heads for a batch."""

    fused: ReasonerOutput
    span: Tensor  # (B, T, 2)
    choice: Tensor  # (B,)
    concept: Tensor  # (N,)
    answer_type: Tensor  # (Q, C)


class Reader(nn.Module):
    """Scores every type of answer for a `QABatch`."""

    def __init__(self, encoder: nn.Module, settings: ReasonerSettings) -> None:
        super().__init__()
        reasoner = find_reasoner(settings.name)
        self.settings = settings
        self.layerwise = LayerwiseEncoder(encoder)
        size = self.layerwise.hidden_size
        self.reasoner = reasoner(self.layerwise, settings)
        self.span = SpanHead(size)
        inner = settings.inner_size
        self.choice = ChoiceHead(size, settings.dropout, inner)
        prior = self.reasoner.reads_graph if settings.prior is None else settings.prior
        self.concept = ConceptHead(size, settings.dropout, prior, inner)
        self.answer_type = AnswerTypeHead(
            size, settings.dropout, settings.yes_no, inner, settings.none_per_window
        )

    @property
    def device(self) -> torch.device:
        """Device of the weights, and of the batches it takes."""
        return self.layerwise.embedding.weight.device

    @property
    def encoder(self) -> nn.Module:
        return self.layerwise.encoder

    def forward(self, batch: QABatch) -> Scores:
        fused = self._read(batch)
        if batch.packed is not None and batch.tokens.candidate_index is not None:
            means = candidate_means(fused.tokens, batch.tokens.candidate_index, batch.packed)
            fused = replace(fused, packed=means)
        span = self.span(fused, batch)
        candidate_scores = (
            None if fused.packed is None else self.choice.text(fused.packed).squeeze(-1).float()
        )
        concept = self.concept(fused, batch, candidate_scores)
        choice = self.choice(fused, batch, concept)
        answer_type = self.answer_type(
            fused,
            batch,
            span_margin=self.span.margin(span, batch),
            best_concept=self.concept.best(concept, batch),
            yes_no=None if candidate_scores is None else yes_no_scores(candidate_scores, batch),
        )
        return Scores(fused, span, choice, concept, self.answer_type.calibrated(answer_type))

    def _read(self, batch: QABatch) -> ReasonerOutput:
        """Output of the reasoner. At inference a few rows are read at a time, which bounds the memory that
        long passages need and allows cancellation in between."""
        rows = max(1, MAX_TOKENS_PER_PASS // batch.tokens.input_ids.shape[1])
        if torch.is_grad_enabled() or self.reasoner.decodes_paths or batch.num_rows <= rows:
            return self._reasoned(batch)
        starts = range(0, batch.num_rows, rows)
        return ReasonerOutput.joined(
            [self._reasoned(batch.part(at, min(at + rows, batch.num_rows))) for at in starts]
        )

    def _reasoned(self, batch: QABatch) -> ReasonerOutput:
        fused = self.reasoner(self.layerwise, batch)
        if not isinstance(fused, ReasonerOutput):
            kind = type(fused).__name__
            raise InputError(
                f"reasoner {self.settings.name}: its forward gave a {kind}, not a ReasonerOutput"
            )
        return fused

    def loss(self, batch: QABatch) -> Loss:
        """Weighted sum of the heads' mean losses; heads without questions in the batch are skipped."""
        return self.loss_of(self(batch), batch)

    def loss_of(self, scores: Scores, batch: QABatch) -> Loss:
        pairs = {
            "span": self.span.loss(scores.span, batch),
            "choice": self.choice.loss(scores.choice, batch),
            "concept": self.concept.loss(scores.concept, batch),
            "answer_type": self.answer_type.loss(scores.answer_type, batch),
        }
        total = torch.stack([LOSS_WEIGHTS[name] * value for name, (value, _) in pairs.items()]).sum()
        means = {name: value / count for name, (value, count) in pairs.items() if count}
        return Loss.summed({"questions": Term(total, float(batch.num_questions))}, **means)


def candidate_means(tokens: Tensor, candidate_index: Tensor, packed: PackedCandidates) -> Tensor:
    """Mean state (C, H) of the tokens (B, T, H) of each packed candidate."""
    most = int(candidate_index.max()) + 1
    rows = torch.arange(len(candidate_index), device=candidate_index.device).unsqueeze(1)
    place = rows * most + candidate_index  # (B, T)
    means = segment_mean(tokens.flatten(0, 1), place.flatten(), len(candidate_index) * most)
    return means[packed.row * most + packed.number]


def yes_no_scores(candidate_scores: Tensor, batch: QABatch) -> Tensor | None:
    """Scores (Q, 2) of yes and no, picked from those of all packed candidates (C,): the maximum over a question's
    windows. 0 for questions for which yes and no were not packed, None if they were packed for no question."""
    packed = batch.packed
    assert packed is not None
    is_yes_no = (packed.choice < 0) & (packed.node < 0)
    if not is_yes_no.any():
        return None
    question = batch.question[packed.row[is_yes_no]].view(-1, 2)
    table = candidate_scores.new_full((batch.num_questions, 2), -torch.inf)
    best = table.scatter_reduce(0, question, candidate_scores[is_yes_no].view(-1, 2), "amax")
    return torch.where(best.isinf(), 0.0, best)


def save_reader(reader: Reader, tokenizer_folder: Path, folder: Path, card: dict[str, Any]) -> None:
    """Write a reader for `load_reader(folder)` and, for its encoder, `AutoModel.from_pretrained(folder)`.

    Files: config.json and model.safetensors (the Hugging Face encoder), reader.safetensors (reasoner and heads),
    reader.json (the model card: settings, versions and the keys of `card`), tokenizer.json,
    tokenizer_config.json. Weights are written in half precision. The card holds the checksums of all other
    files, so it is written last. Each file is replaced atomically.
    """
    from transformers import PreTrainedModel

    folder.mkdir(parents=True, exist_ok=True)
    encoder = reader.encoder
    assert isinstance(encoder, PreTrainedModel)
    own = {name: value for name, value in reader.state_dict().items() if not name.startswith(ENCODER)}
    encoder.config.save_pretrained(folder)
    save_half(encoder.state_dict(), folder / WEIGHTS)
    save_half(own, folder / OWN)
    copy_tokenizer(tokenizer_folder, folder)
    write_card(folder, {"format": FORMAT, "reasoner": reader.settings.model_dump(), **card})


def model_fingerprint(folder: Path, card: str = CARD) -> str:
    """Fingerprint of a model folder: its card (a reader's holds checksums) and the sizes of its weights."""
    digest = blake2b((folder / card).read_bytes(), digest_size=16)
    for path in sorted(folder.glob("*.safetensors")):
        digest.update(f"{path.name} {path.stat().st_size}".encode())
    return digest.hexdigest()


def load_reader(folder: Path) -> tuple[Reader, dict[str, Any]]:
    """The reader of a checkpoint folder, in float32 and evaluation mode, and its card."""
    card = read_card(folder)
    check_sums(folder, card)
    with report_damage(f"{folder}: not a whole reader", "copy the checkpoint again", 300):
        find_reasoner(card["reasoner"]["name"], from_card=True)
        # random initialization would take longer than loading
        with Undrawn():
            encoder = new_encoder(folder)
            reader = Reader(encoder, ReasonerSettings(**card["reasoner"]))
        if answer_type := card.get("answer_type"):
            reader.answer_type.calibrate(
                float(answer_type["scale"]), [float(b) for b in answer_type["shift"]]
            )
    with report_damage(f"{folder}: the checkpoint does not fit this version", "train it again", 300):
        load_into(encoder, folder)
        stored = {
            k: v for k, v in current_weights(load_weights(folder, OWN)).items() if not k.startswith(RETIRED)
        }
        missing, unexpected = reader.load_state_dict(stored, strict=False)
    lost = [name for name in missing if not name.startswith(ENCODER)]
    if lost or unexpected:
        raise InputError(
            f"{folder}: the checkpoint was written by another version ({[*lost, *unexpected][0]})"
        )
    return reader.eval(), card


def trained_on(card: Mapping[str, Any]) -> set[str]:
    """Names of the data sets that a reader, or an earlier one that it was trained from, was trained on.

    >>> sorted(trained_on({"recipe": {"data": [{"name": "squad1-train"}]}, "earlier_data": ["boolq-dev"]}))
    ['boolq-dev', 'squad1-train']
    """
    own = {str(data["name"]) for data in card.get("recipe", {}).get("data", [])}
    return own | set(card.get("earlier_data", ()))


def read_card(folder: Path) -> dict[str, Any]:
    """`reader.json` of a checkpoint folder, checked."""
    path = folder / CARD
    check_regular(folder)
    if not path.exists():
        raise InputError(f"{folder}: contains no reader.json; give a folder written by `kgqa train`")
    try:
        card = current_keys(json.loads(path.read_text(encoding="utf-8")))
        version = int(card["format"])
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: not a reader's card ({error}); copy the checkpoint again") from error
    if version != FORMAT:
        raise InputError(
            f"{path}: checkpoint format {version}, this kgqa reads format {FORMAT}; "
            "install the matching kgqa or train the recipe again"
        )
    return card

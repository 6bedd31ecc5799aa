"""The reader: encoder, reasoner and heads in one module, and the folder it is saved in."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from kgqa.assets import replacing
from kgqa.batch import BranchBatch, Fused, Loss, Movable, QABatch, Term
from kgqa.models.association import Association
from kgqa.models.encoders.stepping import Stepper
from kgqa.models.heads import ChoiceHead, ConceptHead, Gate, SpanHead
from kgqa.models.pretrained import (
    CARD,
    WEIGHTS,
    check_regular,
    check_sums,
    copy_tokenizer,
    from_config,
    load_config,
    load_into,
    load_weights,
    write_card,
)
from kgqa.models.reasoners import ReasonerSettings, find_reasoner
from kgqa.models.segments import segment_mean
from kgqa.types import InputError, first_line

FORMAT = 1
"""Version of the checkpoint folder; raised whenever older folders can no longer be read."""
ENCODER = "stepper.encoder."
OWN = "reader.safetensors"
RETIRED = "operation."
"""Begins the names of weights of a head that older readers have."""
"""Weights of the reasoner and the heads."""
READ_AT_ONCE = 1 << 14
"""Tokens, of rows that are padded alike."""
LOSS_WEIGHTS = {"span": 1.0, "choice": 1.0, "concept": 1.0, "gate": 0.5}


@dataclass(frozen=True)
class Scores(Movable):
    """What the heads say about a batch."""

    fused: Fused
    span: Tensor  # (B, T, 2)
    choice: Tensor  # (B,)
    concept: Tensor  # (N,)
    gate: Tensor  # (Q, C)


class Reader(nn.Module):
    """Reads a `QABatch` and scores every kind of answer.

    Raises:
        InputError: there is no such reasoner.
    """

    def __init__(self, encoder: nn.Module, settings: ReasonerSettings) -> None:
        super().__init__()
        reasoner = find_reasoner(settings.name)
        self.settings = settings
        self.stepper = Stepper(encoder, settings.word_size)
        size = self.stepper.hidden_size
        self.reasoner = reasoner(self.stepper, settings)
        self.span = SpanHead(size)
        inner = settings.inner_size
        self.choice = ChoiceHead(size, settings.dropout, inner)
        prior = self.reasoner.reads_graph if settings.prior is None else settings.prior
        self.concept = ConceptHead(size, settings.dropout, prior, inner)
        self.gate = Gate(size, settings.dropout, settings.verdicts, inner)
        self.association = Association() if settings.word_size else None

    @property
    def device(self) -> torch.device:
        """Where its weights lie, and where batches must."""
        return self.stepper.embedding.weight.device

    @property
    def encoder(self) -> nn.Module:
        """The Hugging Face model inside."""
        return self.stepper.encoder

    def forward(self, batch: QABatch) -> Scores:
        """Scores of all heads."""
        fused = self._read(batch)
        if batch.branches is not None and batch.tokens.branch is not None:
            means = branch_means(fused.tokens, batch.tokens.branch, batch.branches)
            fused = replace(fused, branches=means)
        span = self.span(fused, batch)
        related = None
        if self.association is not None and batch.tokens.word_vector is not None:
            related = self.association(batch)
        branch = None if fused.branches is None else self.choice.text(fused.branches).squeeze(-1).float()
        concept = self.concept(fused, batch, branch)
        if related is not None:
            concept = concept + related[0]
        choice = self.choice(fused, batch, concept)
        gate = self.gate(
            fused,
            batch,
            span_margin=self.span.margin(span, batch),
            best_concept=self.concept.best(concept, batch),
            verdicts=None if branch is None else verdict_scores(branch, batch),
        )
        if related is not None:
            choice = choice + related[1]
            gate = gate + functional.pad(related[2], (0, gate.shape[1] - related[2].shape[1]))
        return Scores(fused, span, choice, concept, self.gate.calibrated(gate))

    def _read(self, batch: QABatch) -> Fused:
        """What the reasoner says, of few rows at a time unless it is to learn from it: a passage of any length takes
        the memory of a short one, and can be given up in the middle."""
        rows = max(1, READ_AT_ONCE // batch.tokens.input_ids.shape[1])
        if torch.is_grad_enabled() or self.reasoner.decodes_paths or batch.num_rows <= rows:
            fused: Fused = self.reasoner(self.stepper, batch)
            return fused
        starts = range(0, batch.num_rows, rows)
        return Fused.joined(
            [self.reasoner(self.stepper, batch.part(at, min(at + rows, batch.num_rows))) for at in starts]
        )

    def loss(self, batch: QABatch) -> Loss:
        """Weighted sum of the heads' mean losses; a head without questions in the batch adds nothing."""
        return self.loss_of(self(batch), batch)

    def loss_of(self, scores: Scores, batch: QABatch) -> Loss:
        """The loss of scores that are there already."""
        pairs = {
            "span": self.span.loss(scores.span, batch),
            "choice": self.choice.loss(scores.choice, batch),
            "concept": self.concept.loss(scores.concept, batch),
            "gate": self.gate.loss(scores.gate, batch),
        }
        total = torch.stack([LOSS_WEIGHTS[name] * value for name, (value, _) in pairs.items()]).sum()
        means = {name: value / count for name, (value, count) in pairs.items() if count}
        return Loss.summed({"questions": Term(total, float(batch.num_questions))}, **means)


def branch_means(tokens: Tensor, branch: Tensor, branches: BranchBatch) -> Tensor:
    """Mean state (C, H) of the tokens (B, T, H) of each branch."""
    most = int(branch.max()) + 1
    place = torch.arange(len(branch), device=branch.device).unsqueeze(1) * most + branch  # (B, T)
    means = segment_mean(tokens.flatten(0, 1), place.flatten(), len(branch) * most)
    return means[branches.row * most + branches.number]


def verdict_scores(branch: Tensor, batch: QABatch) -> Tensor | None:
    """Scores (Q, 2) of yes and no from those of all branches (C,), the best of a question's windows; 0 where a question
    has no such branches, None where none has."""
    branches = batch.branches
    assert branches is not None
    said = (branches.choice < 0) & (branches.node < 0)
    if not said.any():
        return None
    question = batch.question[branches.row[said]].view(-1, 2)
    table = branch.new_full((batch.num_questions, 2), -torch.inf)
    best = table.scatter_reduce(0, question, branch[said].view(-1, 2), "amax")
    return torch.where(best.isinf(), 0.0, best)


def save_reader(reader: Reader, tokenizer_folder: Path, folder: Path, card: dict[str, Any]) -> None:
    """Write a reader for `load_reader(folder)` and, for its encoder, `AutoModel.from_pretrained(folder)`.

    Files: config.json and model.safetensors (the Hugging Face encoder), reader.safetensors (reasoner and heads),
    reader.json (settings, versions, what `card` adds), tokenizer.json, tokenizer_config.json.
    Weights are written in half precision, the checksums of all that is in the folder in the card, which comes last.
    Each file is replaced atomically.

    Raises:
        InputError: a file cannot be written.
    """
    from safetensors.torch import save_file
    from transformers import PreTrainedModel

    folder.mkdir(parents=True, exist_ok=True)
    encoder = reader.encoder
    assert isinstance(encoder, PreTrainedModel)
    own = {name: value for name, value in reader.state_dict().items() if not name.startswith(ENCODER)}
    encoder.config.save_pretrained(folder)
    for name, tensors in ((WEIGHTS, encoder.state_dict()), (OWN, own)):
        # copies: safetensors refuses weights that share memory
        halves = {key: value.to("cpu", torch.half, copy=True).contiguous() for key, value in tensors.items()}
        with replacing(folder / name) as part:
            save_file(halves, part, metadata={"format": "pt"})
    copy_tokenizer(tokenizer_folder, folder)
    write_card(folder, {"format": FORMAT, "reasoner": reader.settings.model_dump(), **card})


def fingerprint(folder: Path, card: str = CARD) -> str:
    """What tells a model's folder from any other: its card (a reader's holds the checksums), and the weights' sizes."""
    digest = blake2b((folder / card).read_bytes(), digest_size=16)
    for path in sorted(folder.glob("*.safetensors")):
        digest.update(f"{path.name} {path.stat().st_size}".encode())
    return digest.hexdigest()


def load_reader(folder: Path) -> tuple[Reader, dict[str, Any]]:
    """The reader of a checkpoint folder, in float32 and evaluation mode, and its card.

    Raises:
        InputError: a file is missing or damaged, the folder was written by another version, or its reasoner is
            code from elsewhere that nobody here has asked for (`find_reasoner`).
    """
    from transformers import AutoModel

    card = read_card(folder)
    check_sums(folder, card)
    try:
        config = load_config(folder)
        find_reasoner(card["reasoner"]["name"], from_card=True)
        with _Undrawn():
            encoder = from_config(AutoModel, config)
            reader = Reader(encoder, ReasonerSettings(**card["reasoner"]))
        gate = card.get("gate")
        shift = (float(gate["scale"]), [float(b) for b in gate["shift"]]) if gate else None
    except InputError:
        raise
    except Exception as error:  # a damaged configuration may fail anywhere in the encoder's own code
        raise InputError(
            f"{folder}: not a whole reader ({first_line(error, 300)}); copy the checkpoint again"
        ) from error
    try:
        load_into(encoder, folder)
        stored = {k: v for k, v in load_weights(folder, OWN).items() if not k.startswith(RETIRED)}
        missing, unexpected = reader.load_state_dict(stored, strict=False)
    except Exception as error:  # whatever reads or takes them may fail on damaged weights
        raise InputError(
            f"{folder}: the checkpoint does not fit this version ({first_line(error, 300)}); train it again"
        ) from error
    lost = [name for name in missing if not name.startswith(ENCODER)]
    if lost or unexpected:
        raise InputError(
            f"{folder}: the checkpoint was written by another version ({[*lost, *unexpected][0]})"
        )
    if shift:
        reader.gate.calibrate(*shift)
    return reader.eval(), card


class _Undrawn(TorchFunctionMode):
    """Weights are zeros where they would be drawn at random: those that are loaded next need no beginning."""

    DRAWS = frozenset({"normal_", "uniform_", "trunc_normal_", "kaiming_uniform_", "xavier_uniform_"})

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") not in self.DRAWS:
            return func(*args, **kwargs)
        drawn = kwargs["tensor"] if "tensor" in kwargs else args[0]
        with torch.no_grad():
            return drawn.zero_()


def read_card(folder: Path) -> dict[str, Any]:
    """`reader.json` of a checkpoint folder, checked.

    Raises:
        InputError: there is none, it is damaged, or it was written by another version.
    """
    path = folder / CARD
    check_regular(folder)
    if not path.exists():
        raise InputError(f"{folder}: no reader.json here; name a folder written by `kgqa train`")
    try:
        card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version = int(card["format"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: not a reader's card ({error}); copy the checkpoint again") from error
    if version != FORMAT:
        raise InputError(
            f"{path}: checkpoint format {version}, this kgqa reads format {FORMAT}; "
            "install the matching kgqa or train the recipe again"
        )
    return card

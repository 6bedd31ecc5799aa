"""MLM with sentence pairs: does the second segment follow (NSP), or were the two swapped (SOP)?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from kgqa.batch import Loss, Term, TextBatch
from kgqa.models.encoders.variants import save_model
from kgqa.objectives.pretraining.mlm import MLM, gather, states

WHOLE = {
    "bert": ("bert.pooler.dense.", "cls.seq_relationship."),
    "albert": ("albert.pooler.", "sop_classifier.classifier."),
    "mobilebert": ("mobilebert.pooler.dense.", "cls.seq_relationship."),
}
"""Names of `dense` and `out` of `PairHead` in Hugging Face's pretraining models."""


HEAD = "pair_head.safetensors"
"""File of the pair head, for architectures without one in Hugging Face."""


class PairHead(nn.Module):
    """Two logits from the first token's state, through a tanh layer as in BERT's pooler."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, 2)

    def forward(self, hidden: Tensor) -> Tensor:
        """Logits (B, 2)."""
        found: Tensor = self.out(torch.tanh(self.dense(hidden[:, 0])))
        return found


class MLMWithPairs(MLM):
    """MLM plus classification of the pair, with label 1 if the second segment is not the next.

    The batch is a `TextBatch` with `token_type_ids`, `attention_mask` and `label`. The negative pairs
    (`kgqa.data.corpus.shards`) determine the task: a segment of another document for NSP (Devlin et al., 2019, section
    3.1), swapped segments for SOP (Lan et al., 2020, section 3.1), which is harder.
    """

    def __init__(self, model: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(model, *arguments, **options)
        self.pair_head = PairHead(model.config.hidden_size)

    def forward(self, batch: TextBatch) -> Loss:
        """Sum of the two losses; `pair_accuracy` is 0.5 by chance."""
        assert batch.label is not None
        masked = self.hide(batch)
        hidden = states(self.encoder, masked.input_ids, batch)
        mlm = self.guess_loss(gather(hidden, masked.positions), masked.labels)
        choice = self.pair_head(hidden).float()
        pair = Term(cross_entropy(choice, batch.label, reduction="sum"), float(len(choice)))
        accuracy = (choice.argmax(-1) == batch.label).float().mean()
        return Loss.summed({self.term: mlm, "pair": pair}, pair_accuracy=accuracy)

    def counts(self, batch: TextBatch) -> dict[str, Tensor | float]:
        """The number of masked tokens, and of pairs."""
        return {**super().counts(batch), "pair": float(len(batch.input_ids))}

    def start(self, folder: Path) -> None:
        """Load the pair head of an exported folder, if it has one of the same size."""
        found = _read_head(folder, self.model.config.model_type)
        own = self.pair_head.state_dict()
        if {name: value.shape for name, value in found.items()} == {n: v.shape for n, v in own.items()}:
            self.pair_head.load_state_dict(found)

    def export(self, folder: Path) -> None:
        """Write a Hugging Face folder; for BERT, ALBERT and MobileBERT with pooler and pair head, as a pretraining
        model.

        For all others, the pair head is in the file `HEAD`.
        """
        from transformers import AutoModelForPreTraining

        super().export(folder)
        names = WHOLE.get(self.model.config.model_type)
        if not names:
            save_file(self.pair_head.state_dict(), folder / HEAD, metadata={"format": "pt"})
        else:
            whole = AutoModelForPreTraining.from_config(self.model.config)  # type: ignore[no-untyped-call]
            parts = zip(names, (self.pair_head.dense, self.pair_head.out), strict=True)
            heads = {
                f"{name}{key}": value for name, part in parts for key, value in part.state_dict().items()
            }
            whole.load_state_dict({**self.model.state_dict(), **heads})
            save_model(whole, folder)


def _read_head(folder: Path, model_type: str) -> dict[str, Tensor]:
    """The weights of an exported `PairHead` under its own names; empty if the folder has none."""
    if (folder / HEAD).is_file():
        return load_file(folder / HEAD)
    if model_type not in WHOLE or not (folder / "model.safetensors").is_file():
        return {}
    weights = load_file(folder / "model.safetensors")
    return {
        f"{own}.{name.removeprefix(prefix)}": value
        for own, prefix in zip(("dense", "out"), WHOLE[model_type], strict=True)
        for name, value in weights.items()
        if name.startswith(prefix)
    }

"""Sentence pairs beside MLM: does the second segment follow (NSP), or were the two swapped (SOP)?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from kgqa.batch import Loss, TextBatch
from kgqa.models.encoders.variants import save_model
from kgqa.objectives.pretraining.mlm import MLM, gather, states

WHOLE = {
    "bert": ("bert.pooler.dense.", "cls.seq_relationship."),
    "albert": ("albert.pooler.", "sop_classifier.classifier."),
}
"""Where Hugging Face's models for pretraining have what is `dense` and `out` of `PairHead` here."""


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
    """MLM + the loss of the pair's label, 1 where the second segment is not the next.

    The batch is a `TextBatch` with `token_type_ids`, `attention_mask` and `label`. Which task it is, depends
    on how the pairs were made (`kgqa.text.corpus.sentence_pairs`): a segment of another document is NSP
    (Devlin et al., 2019, section 3.1), swapped segments are SOP (Lan et al., 2020,
    section 3.1), which is the harder one.
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
        pair = cross_entropy(choice, batch.label)
        accuracy = (choice.argmax(-1) == batch.label).float().mean()
        return Loss.of(mlm + pair, mlm=mlm, pair=pair, pair_accuracy=accuracy)

    def export(self, folder: Path) -> None:
        """Write a Hugging Face folder; BERT and ALBERT as for pretraining, with pooler and pair head."""
        from transformers import AutoModelForPreTraining

        super().export(folder)
        names = WHOLE.get(self.model.config.model_type)
        if names:
            whole = AutoModelForPreTraining.from_config(self.model.config)  # type: ignore[no-untyped-call]
            parts = zip(names, (self.pair_head.dense, self.pair_head.out), strict=True)
            heads = {
                f"{name}{key}": value for name, part in parts for key, value in part.state_dict().items()
            }
            whole.load_state_dict({**self.model.state_dict(), **heads})
            save_model(whole, folder)

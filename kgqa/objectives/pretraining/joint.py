"""Text read together with its subgraph, some tokens hidden: the ground of the objectives on knowledge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor

from kgqa.batch import Fused, GraphBatch, QABatch, Term
from kgqa.models.reader import Reader, save_reader
from kgqa.objectives.base import LanguageModelling, guessed
from kgqa.objectives.pretraining.mlm import Masked, gather, hide


class Joint(LanguageModelling):
    """MLM whose states have met the graph. A subclass adds what is to be learnt of the graph.

    The batch is a `QABatch` without gold: rows of text (the passage), each with a subgraph and mentions.

    Args:
        model, predict, save: those of `LanguageModelling`, a masked one, whose base model the reader reads with.
        reader: its reasoner is trained with the encoder; its heads wait for `kgqa train`.
        share: share of tokens hidden.
    """

    def __init__(
        self,
        model: Any,
        predict: Callable[[Any, Tensor], Tensor],
        reader: Reader,
        *,
        share: float = 0.15,
        **options: Any,
    ) -> None:
        super().__init__(model, predict, **options)
        if reader.encoder is not model.base_model:
            raise ValueError("the reader must read with the model's own encoder")
        self.reader, self.share = reader, share

    def read(self, batch: QABatch, graph: GraphBatch) -> tuple[Fused, Term]:
        """States of text and `graph` with tokens hidden, and the loss of guessing those."""
        masked = self._hide(batch)
        tokens = replace(batch.tokens, input_ids=masked.input_ids)
        fused = self.reader.reasoner(self.reader.stepper, replace(batch, tokens=tokens, graph=graph))
        return fused, self.guess_loss(gather(fused.tokens, masked.positions), masked.labels)

    def counts(self, batch: QABatch) -> dict[str, Tensor | float]:
        """The hidden tokens: how many depends on the rows alone, not on the draw."""
        return {"mlm": guessed(self._hide(batch).labels)}

    def _hide(self, batch: QABatch) -> Masked:
        return hide(batch.tokens.input_ids, self.model.config.vocab_size, self.share)

    def export(self, folder: Path) -> None:
        """Write a reader's folder: `AutoModel` loads its encoder, and `kgqa train` goes on from both.

        Raises:
            InputError: a file cannot be written.
        """
        self._save(folder)
        save_reader(self.reader, folder, folder, {"name": folder.parent.name, "max_nodes": 100})

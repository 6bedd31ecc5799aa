"""A classifier learns from a fine-tuned one, on the task's own data: by what it holds inside, or by what it says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from kgqa.batch import Loss, Term
from kgqa.models.classifiers import TaskBatch, task_scores
from kgqa.models.encoders.stepping import Stepper
from kgqa.objectives.base import guessed
from kgqa.objectives.distillation.encoders import Layers
from kgqa.objectives.finetuning.classification import Task


class TaughtTask(Task):
    """TinyBERT's second stage (Jiao et al., 2020, section 3.2): a fine-tuned teacher, and the task's data.

    With `layers` the embedding, attention and hidden losses (`Layers`) over the tokens that are read. Without,
    the prediction loss (equation 10): soft targets at a temperature, and so much of the gold labels as `soft` leaves.
    The paper runs one after the other, and makes its data twenty times larger by replacing words, which is not done
    here.

    Args:
        teacher: a classifier of the same classes over the same tokenizer; it stays as it is.
        temperature: of the soft targets; the paper takes 1.
        soft: weight of the soft targets; the paper takes 1.
        layers: learn what the teacher holds inside.
    """

    def __init__(
        self,
        *arguments: Any,
        teacher: Any,
        temperature: float = 1.0,
        soft: float = 1.0,
        layers: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._teacher = [teacher.eval().requires_grad_(False)]  # in a list: not trained, not saved
        self.temperature, self.soft = temperature, soft
        self.layers = Layers(self.model.config, teacher.config) if layers else None

    def forward(self, batch: TaskBatch) -> Loss:
        """Mean loss of the examples, of the words, or of the layers."""
        teacher = self._teacher[0].to(batch.tokens.input_ids.device)
        if self.layers:
            with torch.no_grad():
                theirs = _inside(teacher, batch)
            return Loss.summed(self.layers(_inside(self.model, batch), theirs, batch.tokens.attention_mask))
        gold = super().forward(batch)
        with torch.no_grad():
            told = self.normalised(task_scores(teacher, batch, self.kind) / self.temperature, batch)
        said = self.normalised(task_scores(self.model, batch, self.kind) / self.temperature, batch)
        each = told.exp() * (told - said)
        if self.kind == "tagging":
            each = each[batch.label != -100]
        soft = Term(each.sum() * self.temperature**2, self._softened(batch), self.soft)
        kept = {
            name: replace(term, weight=(1 - self.soft) * term.weight) for name, term in gold.terms.items()
        }
        return Loss.summed({**kept, "soft": soft})

    def counts(self, batch: TaskBatch) -> dict[str, Tensor | float]:
        """The tokens that the layers read; or the labels, and the examples or words whose classes are softened."""
        if self.layers:
            return dict.fromkeys(self.layers.names, batch.tokens.attention_mask.sum())
        return {**super().counts(batch), "soft": self._softened(batch)}

    def _softened(self, batch: TaskBatch) -> Tensor | float:
        return guessed(batch.label) if self.kind == "tagging" else float(len(batch.label))


def _inside(model: Any, batch: TaskBatch) -> Any:
    """All layers' states and attention maps of an encoder with attention written out."""
    inputs = Stepper(model.base_model).inputs(batch.tokens)
    return model.base_model(**inputs, output_hidden_states=True, output_attentions=True)

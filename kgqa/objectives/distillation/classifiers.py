"""A classifier learns from a fine-tuned one, on the task's own data: by what it holds inside, or by what it says."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.batch import Loss
from kgqa.models.classifiers import TaskBatch, task_scores
from kgqa.models.encoders.stepping import Stepper
from kgqa.objectives.distillation.encoders import attention_loss
from kgqa.objectives.finetuning.classification import Task


class TaughtTask(Task):
    """TinyBERT's second stage (Jiao et al., 2020, section 3.2): a fine-tuned teacher, and the task's data.

    With `layers` the embedding, attention and hidden losses (equations 7 to 9) over the tokens that are read; student
    layer m learns from teacher layer m * L_teacher / L_student. Without, the prediction loss (equation 10): soft
    targets at a temperature, and so much of the gold labels as `soft` leaves. The paper runs one after the other, and
    makes its data twenty times larger by replacing words, which is not done here.

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
        self.temperature, self.soft, self.layers = temperature, soft, layers
        ours, theirs = self.model.config, teacher.config
        self.stride = theirs.num_hidden_layers // ours.num_hidden_layers
        same = not layers or ours.hidden_size == theirs.hidden_size
        self.projection = nn.Identity() if same else nn.Linear(ours.hidden_size, theirs.hidden_size)

    def forward(self, batch: TaskBatch) -> Loss:
        """Mean loss of the examples, of the words, or of the layers."""
        teacher = self._teacher[0].to(batch.tokens.input_ids.device)
        if self.layers:
            with torch.no_grad():
                theirs = _inside(teacher, batch)
            return self._compared(_inside(self.model, batch), theirs, batch)
        gold = super().forward(batch)
        with torch.no_grad():
            told = self.normalised(task_scores(teacher, batch, self.kind) / self.temperature, batch)
        said = self.normalised(task_scores(self.model, batch, self.kind) / self.temperature, batch)
        each = told.exp() * (told - said)
        if self.kind == "tagging":
            each = each[batch.label != -100]
        count = max(len(each) if self.kind == "tagging" else len(batch.label), 1)
        soft = each.sum() / count * self.temperature**2
        total = (1 - self.soft) * gold.total + self.soft * soft
        return Loss(total, {**gold.parts, "soft": soft.detach()}, gold.weight)

    def _compared(self, ours: Any, theirs: Any, batch: TaskBatch) -> Loss:
        read = batch.tokens.attention_mask
        picked = theirs.hidden_states[:: self.stride]  # embeddings, then every stride-th layer
        hidden = [
            F.mse_loss(self.projection(own[read]).float(), its[read].float())
            for own, its in zip(ours.hidden_states, picked, strict=False)
        ]
        maps = theirs.attentions[self.stride - 1 :: self.stride]
        attention = [
            attention_loss(_queries(own, read), _queries(its, read))
            for own, its in zip(ours.attentions, maps, strict=False)
        ]
        inside, looks = torch.stack(hidden).sum(), torch.stack(attention).sum()
        parts: dict[str, float | Tensor] = {"hidden": inside.detach(), "attention": looks.detach()}
        return Loss(inside + looks, parts, len(batch.label))


def _inside(model: Any, batch: TaskBatch) -> Any:
    """All layers' states and attention maps of an encoder with attention written out."""
    inputs = Stepper(model.base_model).inputs(batch.tokens)
    return model.base_model(**inputs, output_hidden_states=True, output_attentions=True)


def _queries(maps: Tensor, read: Tensor) -> Tensor:
    """Attention (n, heads, T) of the tokens that are read, of maps (B, heads, T, T)."""
    return maps.transpose(1, 2)[read]

"""Distillation: a small student learns from a teacher of ours, by what it says or by what it holds inside."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.batch import Loss, TextBatch
from kgqa.objectives.base import LanguageModelling
from kgqa.objectives.pretraining.mlm import Masked, gather, hide
from kgqa.types import InputError


class Distillation(LanguageModelling):
    """What all three share: a frozen teacher, a student, and one masked batch that both read.

    The batch is a `TextBatch`. A subclass implements `compare`.

    Args:
        student, teacher: Hugging Face masked language models over one vocabulary, each with its head
            (`Variant.predict`).
        share: share of tokens hidden.
        temperature: of the soft targets.
    """

    def __init__(
        self,
        student: Any,
        student_predict: Any,
        teacher: Any,
        teacher_predict: Any,
        *,
        share: float = 0.15,
        temperature: float = 1.0,
        **options: Any,
    ) -> None:
        super().__init__(student, student_predict, **options)
        self._teacher = [teacher.eval().requires_grad_(False)]  # in a list: not trained, not saved
        self._teacher_predict = teacher_predict
        self.share, self.temperature = share, temperature

    @property
    def teacher(self) -> Any:
        """The network that is learnt from."""
        return self._teacher[0]

    def forward(self, batch: TextBatch) -> Loss:
        """The subclass's loss on a masked batch."""
        self.teacher.to(batch.input_ids.device)
        masked = hide(batch.input_ids, self.model.config.vocab_size, self.share)
        with torch.no_grad():
            teacher = self.read(self.teacher.base_model, masked, batch)
        return self.compare(self.read(self.encoder, masked, batch), teacher, masked)

    def read(self, encoder: Any, masked: Masked, batch: TextBatch) -> Any:
        """All layers' states, and the attention maps where the implementation is eager."""
        mask = batch.attention_mask
        return encoder(
            input_ids=masked.input_ids,
            attention_mask=None if mask is None else mask.long(),
            output_hidden_states=True,
            output_attentions=encoder.config._attn_implementation == "eager",
        )

    def compare(self, student: Any, teacher: Any, masked: Masked) -> Loss:
        """The paper's loss."""
        raise NotImplementedError

    def logits(self, student: Any, teacher: Any, masked: Masked) -> tuple[Tensor, Tensor]:
        """Both networks' logits (B, K, V) at the hidden places."""
        ours = self._predict(self.model, gather(student.last_hidden_state, masked.positions))
        with torch.no_grad():
            states = gather(teacher.last_hidden_state, masked.positions)
            theirs = self._teacher_predict(self.teacher, states)
        return ours.float(), theirs.float()


def soft_loss(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """KL divergence of softened predictions, times T^2 (Hinton et al., 2015); zero for equal logits."""
    ours = F.log_softmax(student / temperature, dim=-1).flatten(0, -2)
    theirs = F.softmax(teacher / temperature, dim=-1).flatten(0, -2)
    return F.kl_div(ours, theirs, reduction="batchmean") * temperature**2


DISTILBERT_NAMES = {
    "attention.self.query": "attention.q_lin",
    "attention.self.key": "attention.k_lin",
    "attention.self.value": "attention.v_lin",
    "attention.output.dense": "attention.out_lin",
    "attention.output.LayerNorm": "sa_layer_norm",
    "intermediate.dense": "ffn.lin1",
    "output.dense": "ffn.lin2",
    "output.LayerNorm": "output_layer_norm",
    "predictions.transform.dense": "vocab_transform",
    "predictions.transform.LayerNorm": "vocab_layer_norm",
}
"""BERT's names of what DistilBERT has under another name."""


def every_second_layer(student: Any, teacher: Any) -> None:
    """Start a student from a teacher of its width: embeddings, head, and layers 0, 2, 4 (Sanh et al., 2019, section 3).

    A DistilBERT takes a BERT's weights under its own names; segment vectors and pooler have no place in it.

    Raises:
        InputError: the two differ in more than depth.
    """
    ours, theirs = layers_of(student), layers_of(teacher)
    stride = max(len(theirs) // len(ours), 1)
    pairs = [(layer, theirs[number * stride]) for number, layer in enumerate(ours)]
    for own, found in (*pairs, (student.base_model.embeddings, teacher.base_model.embeddings)):
        state, given = own.state_dict(), _renamed(found.state_dict())
        for name, value in state.items():
            if name not in given or given[name].shape != value.shape:
                raise InputError(
                    f"the student cannot begin with the teacher's layers ({name} differs); give it the teacher's "
                    "hidden_size, intermediate_size and max_position_embeddings, or name a start"
                )
        own.load_state_dict({name: given[name] for name in state})
    start_head(student, teacher)


def start_head(student: Any, teacher: Any) -> None:
    """Copy the teacher's prediction head where names and shapes agree; tied words stay the student's."""
    words = {id(student.get_input_embeddings().weight)}
    body = {id(parameter) for parameter in student.base_model.parameters()} | words
    own = {name: value for name, value in student.named_parameters() if id(value) not in body}
    given = _renamed({name.removeprefix("cls."): value for name, value in teacher.state_dict().items()})
    with torch.no_grad():
        for name, value in own.items():
            found = given.get(name.removeprefix("cls."))
            if found is not None and found.shape == value.shape:
                value.copy_(found)


def _renamed(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Weights under both BERT's names and DistilBERT's."""
    both = dict(state)
    for name, value in state.items():
        stem, _, kind = name.rpartition(".")
        if stem in DISTILBERT_NAMES:
            both[f"{DISTILBERT_NAMES[stem]}.{kind}"] = value
    if "predictions.bias" in state:
        both["vocab_projector.bias"] = state["predictions.bias"]
    return both


def layers_of(model: Any) -> list[nn.Module]:
    """The layers of an encoder, first to last."""
    count = model.config.num_hidden_layers
    found = [m for m in model.base_model.modules() if isinstance(m, nn.ModuleList) and len(m) == count]
    return list(found[0])


class DistilBERT(Distillation):
    """5 soft targets + 2 MLM + 1 cosine of the last states (Sanh et al., 2019, section 3).

    `temperature` softens student and teacher alike; the paper's code takes 2.
    """

    def compare(self, student: Any, teacher: Any, masked: Masked) -> Loss:
        """The triple loss; soft and cosine parts are zero for student = teacher."""
        ours, theirs = self.logits(student, teacher, masked)
        soft = soft_loss(ours, theirs, self.temperature)
        mlm = F.cross_entropy(ours.flatten(0, 1), masked.labels.flatten(), ignore_index=-100)
        alike = F.cosine_similarity(student.last_hidden_state, teacher.last_hidden_state, dim=-1)
        cosine = 1 - alike.float().mean()
        return Loss.of(5 * soft + 2 * mlm + cosine, soft=soft, mlm=mlm, cosine=cosine)


class Layers(nn.Module):
    """What a student holds inside beside what its teacher does (Jiao et al., 2020, equations 7 to 9).

    Student layer m learns from teacher layer m * L_teacher / L_student. Where widths differ a projection stands
    between. Attention is compared as log-probabilities: the paper's raw scores but for one constant a row. Both
    networks need `attention="eager"`.
    """

    def __init__(self, student: Any, teacher: Any) -> None:
        """For two configurations."""
        super().__init__()
        self.stride = teacher.num_hidden_layers // student.num_hidden_layers
        same = student.hidden_size == teacher.hidden_size
        self.projection = nn.Identity() if same else nn.Linear(student.hidden_size, teacher.hidden_size)

    def forward(self, student: Any, teacher: Any, read: Tensor | None = None) -> dict[str, Tensor]:
        """Losses () of embeddings, hidden states and attention, over the tokens `read` (B, T) or all."""
        picked = teacher.hidden_states[:: self.stride]  # embeddings, then every stride-th layer
        chosen = ... if read is None else read
        embedding, *hidden = (
            F.mse_loss(self.projection(ours[chosen]).float(), theirs[chosen].float())
            for ours, theirs in zip(student.hidden_states, picked, strict=False)
        )
        maps = zip(student.attentions, teacher.attentions[self.stride - 1 :: self.stride], strict=False)
        attention = [attention_loss(ours, theirs, read) for ours, theirs in maps]
        return {
            "embedding": embedding,
            "hidden": torch.stack(hidden).sum(),
            "attention": torch.stack(attention).sum(),
        }


class TinyBERT(Distillation):
    """Embedding, attention, hidden and prediction losses (Jiao et al., 2020, equations 7 to 11).

    The general stage leaves predictions out (section 3.2); `prediction=True` is the task stage.
    """

    def __init__(self, *networks: Any, prediction: bool = False, **options: Any) -> None:
        super().__init__(*networks, **options)
        self.layers = Layers(self.model.config, self.teacher.config)
        self.prediction = prediction

    def compare(self, student: Any, teacher: Any, masked: Masked) -> Loss:
        """Sum of the losses; all are zero for student = teacher."""
        parts = self.layers(student, teacher)
        if self.prediction:
            parts["soft"] = soft_loss(*self.logits(student, teacher, masked), self.temperature)
        return Loss.of(torch.stack(list(parts.values())).sum(), **parts)


def attention_loss(student: Tensor, teacher: Tensor, read: Tensor | None = None) -> Tensor:
    """Mean squared difference () of log attention (B, heads, T, T), of the queries `read` (B, T) or all.

    Heads are averaged where their numbers differ.
    """
    if student.shape[1] != teacher.shape[1]:
        student, teacher = student.mean(1, keepdim=True), teacher.mean(1, keepdim=True)
    if read is not None:
        student, teacher = (maps.transpose(1, 2)[read] for maps in (student, teacher))
    least = torch.finfo(torch.float32).tiny
    return F.mse_loss(student.float().clamp_min(least).log(), teacher.float().clamp_min(least).log())


class MobileBERT(Distillation):
    """Progressive knowledge transfer, layer after layer (Sun et al., 2020, section 3.5).

    The student begins with the teacher's embedding and prediction head, which no transfer reaches. For the first
    `transfer_steps` steps the layers learn one after another: feature maps (normalised, squared error) and
    attention maps (KL), the embedding and all layers below the current one frozen. Then MLM + soft targets
    (equation 7, alpha 0.5). Student and teacher have one depth and one outer width; both need `attention="eager"`.
    """

    steps: Tensor
    alpha = 0.5

    def __init__(self, *networks: Any, transfer_steps: int = 0, **options: Any) -> None:
        super().__init__(*networks, **options)
        self.transfer_steps = transfer_steps
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    @property
    def layer(self) -> int | None:
        """The layer that learns now; None when the transfer is over."""
        if int(self.steps) >= self.transfer_steps:
            return None
        depth = int(self.model.config.num_hidden_layers)
        return int(self.steps) * depth // self.transfer_steps

    def begin_step(self, step: int) -> None:
        """Count on to `transfer_steps`."""
        self.steps.fill_(step)

    def compare(self, student: Any, teacher: Any, masked: Masked) -> Loss:
        """The current layer's transfer, or the predictions' loss after it."""
        layer = self.layer if self.training else None
        if layer is not None:
            self._freeze_below(layer)
            feature, attention = self.transfer(student, teacher, layer)
            number = feature.new_tensor(float(layer))
            return Loss.of(feature + attention, feature=feature, attention=attention, layer=number)
        self._freeze_below(None)
        ours, theirs = self.logits(student, teacher, masked)
        mlm = F.cross_entropy(ours.flatten(0, 1), masked.labels.flatten(), ignore_index=-100)
        soft = soft_loss(ours, theirs, self.temperature)
        return Loss.of(self.alpha * mlm + (1 - self.alpha) * soft, mlm=mlm, soft=soft)

    def transfer(self, student: Any, teacher: Any, layer: int) -> tuple[Tensor, Tensor]:
        """Feature map and attention transfer of one layer, () each (equations 4 and 5); zero for equal networks."""
        ours, theirs = student.hidden_states[layer + 1].float(), teacher.hidden_states[layer + 1].float()
        size = ours.shape[-1:]
        feature = F.mse_loss(F.layer_norm(ours, size), F.layer_norm(theirs, size))
        least = torch.finfo(torch.float32).tiny
        mine = student.attentions[layer].float().clamp_min(least).log().flatten(0, 2)
        attention = F.kl_div(mine, teacher.attentions[layer].float().flatten(0, 2), reduction="batchmean")
        return feature, attention

    def _freeze_below(self, layer: int | None) -> None:
        self.model.base_model.embeddings.requires_grad_(layer is None)
        for number, module in enumerate(layers_of(self.model)):
            module.requires_grad_(number >= (layer or 0))


def same_embedding(student: Any, teacher: Any) -> None:
    """Give a MobileBERT its teacher's embedding and prediction head (Sun et al., 2020, section 3.5).

    Raises:
        InputError: the two embeddings differ in shape.
    """
    ours, theirs = student.base_model.embeddings, teacher.base_model.embeddings.state_dict()
    for name, value in ours.state_dict().items():
        if name not in theirs or theirs[name].shape != value.shape:
            raise InputError(
                f"the student cannot take the teacher's embedding ({name} differs); give it the teacher's "
                "hidden_size, embedding_size and max_position_embeddings, or name a start"
            )
    ours.load_state_dict(theirs, strict=False)
    start_head(student, teacher)

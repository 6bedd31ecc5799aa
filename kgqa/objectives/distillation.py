"""Distillation of encoders, classifiers and readers from larger ones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.utils import softmax

from kgqa.batch import Loss, Movable, QABatch, Term, TextBatch, TokenBatch
from kgqa.models.classifiers import TaskBatch, task_scores
from kgqa.models.collation.collate import Collated
from kgqa.models.collation.rows import BatchRow
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.heads import of_choices
from kgqa.models.reader import LOSS_WEIGHTS, Reader, Scores
from kgqa.objectives.base import guessed, tokens_of
from kgqa.objectives.finetuning import LEAST, QA, Task
from kgqa.objectives.pretraining.mlm import MLM, Masked, gather
from kgqa.types import InputError


class Distillation(MLM):
    """Base of DistilBERT, TinyBERT and MobileBERT: a frozen teacher and a student encode one masked batch.

    Both are Hugging Face masked language models over one vocabulary, each with its head (`Variant.predict`). A `share`
    of the tokens is masked; `temperature` is that of the soft targets. The batch is a `TextBatch`. A subclass
    implements `compare`.
    """

    of_states: tuple[str, ...]
    """Names of the terms over all tokens; the others, `soft` and `mlm`, are over masked ones."""

    def __init__(
        self,
        student: Any,
        student_predict: Any,
        teacher: Any,
        teacher_predict: Any,
        *,
        temperature: float = 1.0,
        **options: Any,
    ) -> None:
        super().__init__(student, student_predict, **options)
        self._teacher = [teacher.eval().requires_grad_(False)]  # in a list: not trained, not saved
        self._teacher_predict = teacher_predict
        self.temperature = temperature

    @property
    def teacher(self) -> Any:
        return self._teacher[0]

    def forward(self, batch: TextBatch) -> Loss:
        self.teacher.to(batch.input_ids.device)
        masked = self.hide(batch)
        with torch.no_grad():
            teacher = self.read(self.teacher.base_model, masked, batch)
        terms = self.compare(self.read(self.encoder, masked, batch), teacher, masked, tokens_of(batch))
        return Loss.summed(terms, **self.figures())

    def counts(self, batch: TextBatch) -> dict[str, Tensor | float]:
        """The number of masked tokens for predictions, of all tokens except padding for states."""
        hidden, tokens = guessed(self.hide(batch).labels), tokens_of(batch).sum()
        return {"soft": hidden, "mlm": hidden, **dict.fromkeys(self.of_states, tokens)}

    def figures(self) -> dict[str, Tensor]:
        """Further metrics for the log."""
        return {}

    def read(self, encoder: Any, masked: Masked, batch: TextBatch) -> Any:
        """The states of all layers, and the attention maps if the implementation is eager."""
        mask = batch.attention_mask
        return encoder(
            input_ids=masked.input_ids,
            attention_mask=None if mask is None else mask.long(),
            output_hidden_states=True,
            output_attentions=encoder.config._attn_implementation == "eager",
        )

    def compare(self, student: Any, teacher: Any, masked: Masked, read: Tensor) -> dict[str, Term]:
        """The terms of the paper's loss, over masked tokens or over `read` (B, T): all tokens but padding."""
        raise NotImplementedError

    def logits(self, student: Any, teacher: Any, masked: Masked) -> tuple[Tensor, Tensor, Tensor]:
        """Logits (n, V) of both networks at the masked tokens, and the original tokens (n,)."""
        hidden = masked.labels != -100  # a row with padding has fewer masked tokens than positions
        ours = self._predict(self.model, gather(student.last_hidden_state, masked.positions)[hidden])
        with torch.no_grad():
            states = gather(teacher.last_hidden_state, masked.positions)[hidden]
            theirs = self._teacher_predict(self.teacher, states)
        return ours.float(), theirs.float(), masked.labels[hidden]


def soft_loss(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """KL divergence of softened predictions (n, V), times T^2 (Hinton et al., 2015), summed; zero for equal logits."""
    ours = F.log_softmax(student / temperature, dim=-1)
    theirs = F.softmax(teacher / temperature, dim=-1)
    return F.kl_div(ours, theirs, reduction="sum") * temperature**2


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
"""DistilBERT's names of BERT's modules."""


def every_second_layer(student: Any, teacher: Any) -> None:
    """Start a student from a teacher of its width: embeddings, head, and evenly spaced layers: 0, 2, 4
    for a student of half the depth (Sanh et al., 2019, section 3).

    For a DistilBERT, the weights of a BERT are renamed; segment embeddings and pooler are dropped.
    """
    ours, theirs = layers_of(student), layers_of(teacher)
    stride = max(len(theirs) // len(ours), 1)
    pairs = [(layer, theirs[number * stride]) for number, layer in enumerate(ours)]
    for own, found in (*pairs, (student.base_model.embeddings, teacher.base_model.embeddings)):
        state, given = own.state_dict(), _renamed(found.state_dict())
        _check_fits(state, given, "start from the teacher's layers", "intermediate_size")
        own.load_state_dict({name: given[name] for name in state})
    start_head(student, teacher)


def _check_fits(own: dict[str, Tensor], given: dict[str, Tensor], use: str, size: str) -> None:
    for name, value in own.items():
        if name not in given or given[name].shape != value.shape:
            raise InputError(
                f"the student cannot {use} ({name} differs); give it the teacher's hidden_size, {size} and "
                "max_position_embeddings, or weights to start from with `start`"
            )


def start_head(student: Any, teacher: Any) -> None:
    """Copy the teacher's prediction head where names and shapes match; tied word embeddings stay the student's."""
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
    """Weights under the names of both BERT and DistilBERT."""
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
    return LayerwiseEncoder(model.base_model).layers


class DistilBERT(Distillation):
    """5 * soft targets + 2 * MLM + cosine loss of the last states (Sanh et al., 2019, section 3).

    `temperature` applies to student and teacher; the paper's code uses 2.
    """

    of_states = ("cosine",)

    def compare(self, student: Any, teacher: Any, masked: Masked, read: Tensor) -> dict[str, Term]:
        """The triple loss; its terms soft and cosine are zero for equal networks."""
        ours, theirs, labels = self.logits(student, teacher, masked)
        alike = F.cosine_similarity(student.last_hidden_state, teacher.last_hidden_state, dim=-1)[read]
        return {
            "soft": Term(soft_loss(ours, theirs, self.temperature), len(ours), 5.0),
            "mlm": Term(F.cross_entropy(ours, labels, reduction="sum"), len(ours), 2.0),
            "cosine": Term((1 - alike.float()).sum(), read.sum()),
        }


class LayerLosses(nn.Module):
    """Losses between the layers of student and teacher (Jiao et al., 2020, equations 7 to 9).

    Student layer m is matched to teacher layer m * L_teacher / L_student, with a projection if the dimensions differ.
    Attention is compared as log-probabilities, which equal the paper's raw scores up to a constant per row. Both
    networks need `attention="eager"`.
    """

    def __init__(self, student: Any, teacher: Any) -> None:
        super().__init__()
        self.stride = teacher.num_hidden_layers // student.num_hidden_layers
        same = student.hidden_size == teacher.hidden_size
        self.projection = nn.Identity() if same else nn.Linear(student.hidden_size, teacher.hidden_size)

    names = ("embedding", "hidden", "attention")

    def forward(self, student: Any, teacher: Any, read: Tensor) -> dict[str, Term]:
        """Losses of embeddings, hidden states and attention, summed over the tokens in `read` (B, T)."""
        picked = teacher.hidden_states[:: self.stride]  # embeddings, then every stride-th layer
        embedding, *hidden = (
            (self.projection(ours[read]).float() - theirs[read].float()).square().mean(-1).sum()
            for ours, theirs in zip(student.hidden_states, picked, strict=False)
        )
        maps = zip(student.attentions, teacher.attentions[self.stride - 1 :: self.stride], strict=False)
        attention = [attention_loss(ours, theirs, read) for ours, theirs in maps]
        losses = (embedding, torch.stack(hidden).sum(), torch.stack(attention).sum())
        return {name: Term(loss, read.sum()) for name, loss in zip(self.names, losses, strict=True)}


class TinyBERT(Distillation):
    """Embedding, attention, hidden and prediction losses (Jiao et al., 2020, equations 7 to 11).

    General distillation has no prediction loss (section 3.2); `prediction=True` adds it, for the task-specific stage.
    """

    of_states = LayerLosses.names

    def __init__(self, *networks: Any, prediction: bool = False, **options: Any) -> None:
        super().__init__(*networks, **options)
        self.layers = LayerLosses(self.model.config, self.teacher.config)
        self.prediction = prediction

    def compare(self, student: Any, teacher: Any, masked: Masked, read: Tensor) -> dict[str, Term]:
        """The losses; all are zero for equal networks."""
        terms: dict[str, Term] = self.layers(student, teacher, read)
        if self.prediction:
            ours, theirs, _ = self.logits(student, teacher, masked)
            terms["soft"] = Term(soft_loss(ours, theirs, self.temperature), len(ours))
        return terms


def attention_loss(student: Tensor, teacher: Tensor, read: Tensor) -> Tensor:
    """Mean squared difference () of log attention (B, heads, T, T) per query, summed over the queries in `read` (B, T).

    The mean is over heads and attended tokens in `read`. If the numbers of heads differ, attention is averaged over
    heads.
    """
    if student.shape[1] != teacher.shape[1]:
        student, teacher = student.mean(1, keepdim=True), teacher.mean(1, keepdim=True)
    least = torch.finfo(torch.float32).tiny
    ours, theirs = (maps.float().clamp_min(least).log() for maps in (student, teacher))
    pairs = (read.unsqueeze(2) & read.unsqueeze(1)).unsqueeze(1)  # (B, 1, T, T)
    apart = ((ours - theirs).square() * pairs).sum(-1).mean(1) / read.sum(1, keepdim=True).clamp(min=1)
    return apart.sum()


class MobileBERT(Distillation):
    """Progressive knowledge transfer, layer by layer (Sun et al., 2020, section 3.5).

    The student starts with the teacher's embedding and prediction head, which the transfer does not train. In the first
    `transfer_steps` steps, the layers are trained one after another on feature maps (normalized, squared error; mean
    and variance) and attention maps (KL), with the embedding and all lower layers frozen. MLM and soft targets follow
    (equation 7, alpha 0.5). Student and teacher have the same depth and outer dimension; both need
    `attention="eager"`.
    """

    steps: Tensor
    alpha = 0.5
    of_states = ("feature", "statistics", "attention")

    def __init__(self, *networks: Any, transfer_steps: int = 0, **options: Any) -> None:
        super().__init__(*networks, **options)
        self.transfer_steps = transfer_steps
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    @property
    def layer(self) -> int | None:
        """The layer that is trained at present; None after the transfer."""
        if int(self.steps) >= self.transfer_steps:
            return None
        depth = int(self.model.config.num_hidden_layers)
        return int(self.steps) * depth // self.transfer_steps

    def begin_step(self, step: int) -> None:
        self.steps.fill_(step)

    @property
    def _learning(self) -> int | None:
        """The layer of the transfer; None after it, and during evaluation."""
        return self.layer if self.training else None

    def figures(self) -> dict[str, Tensor]:
        return {} if self._learning is None else {"layer": torch.tensor(float(self._learning))}

    def compare(self, student: Any, teacher: Any, masked: Masked, read: Tensor) -> dict[str, Term]:
        self._freeze_below(self._learning)
        if self._learning is not None:
            parts = self.transfer(student, teacher, self._learning, read)
            return {name: Term(part, read.sum()) for name, part in zip(self.of_states, parts, strict=True)}
        ours, theirs, labels = self.logits(student, teacher, masked)
        mlm = F.cross_entropy(ours, labels, reduction="sum")
        soft = soft_loss(ours, theirs, self.temperature)
        return {"mlm": Term(mlm, len(ours), self.alpha), "soft": Term(soft, len(ours), 1 - self.alpha)}

    def transfer(self, student: Any, teacher: Any, layer: int, read: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Transfer losses of a layer, summed over the tokens in `read` (B, T): feature map, its statistics, attention.

        As in the paper, the difference of two feature maps (equation 4) is split for stability: normalized maps, and
        their mean and variance. Attention is compared by KL (equation 5). All are zero for equal networks.
        """
        ours, theirs = (net.hidden_states[layer + 1][read].float() for net in (student, teacher))  # (n, H)
        size = ours.shape[-1:]
        feature = (F.layer_norm(ours, size) - F.layer_norm(theirs, size)).square().mean(-1).sum()
        mean = (ours.mean(-1) - theirs.mean(-1)).square()
        spread = (ours.var(-1, unbiased=False) - theirs.var(-1, unbiased=False)).abs()
        least = torch.finfo(torch.float32).tiny
        mine, its = (net.attentions[layer].transpose(1, 2)[read].float() for net in (student, teacher))
        attention = F.kl_div(mine.clamp_min(least).log(), its, reduction="sum") / mine.shape[1]
        return feature, (mean + spread).sum(), attention

    def _freeze_below(self, layer: int | None) -> None:
        self.model.base_model.embeddings.requires_grad_(layer is None)
        for number, module in enumerate(layers_of(self.model)):
            module.requires_grad_(number >= (layer or 0))


def same_embedding(student: Any, teacher: Any) -> None:
    """Copy the teacher's embedding and prediction head to a MobileBERT (Sun et al., 2020, section 3.5)."""
    ours, theirs = student.base_model.embeddings, teacher.base_model.embeddings.state_dict()
    _check_fits(ours.state_dict(), theirs, "use the teacher's embedding", "embedding_size")
    ours.load_state_dict(theirs, strict=False)
    start_head(student, teacher)


# Distillation of a classifier on the task's data: from the teacher's layers, or from its predictions.


class TaughtTask(Task):
    """TinyBERT's second stage (Jiao et al., 2020, section 3.2): a fine-tuned teacher, and the task's data.

    The teacher, a classifier with the same classes and tokenizer, is not trained. With `layers`, the losses of
    embeddings, attention and hidden states (`LayerLosses`). Without, the prediction loss (equation 10): soft targets
    with a temperature and the weight `soft` (both 1 in the paper), and the gold labels with weight 1 - `soft`. The
    paper runs one after the other, and augments its data twentyfold by replacing words, which is not done here.
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
        self.layers = LayerLosses(self.model.config, teacher.config) if layers else None

    def forward(self, batch: TaskBatch) -> Loss:
        """Mean loss over examples (in tagging, words) or, for layers, over tokens."""
        teacher = self._teacher[0].to(batch.tokens.input_ids.device)
        if self.layers:
            with torch.no_grad():
                theirs = _inside(teacher, batch)
            return Loss.summed(self.layers(_inside(self.model, batch), theirs, batch.tokens.attention_mask))
        gold = super().forward(batch)
        with torch.no_grad():
            teacher_scores = self.normalised(task_scores(teacher, batch, self.kind) / self.temperature, batch)
        student_scores = self.normalised(task_scores(self.model, batch, self.kind) / self.temperature, batch)
        each = teacher_scores.exp() * (teacher_scores - student_scores)
        if self.kind == "tagging":
            each = each[batch.label != -100]
        soft = Term(each.sum() * self.temperature**2, self._softened(batch), self.soft)
        kept = {
            name: replace(term, weight=(1 - self.soft) * term.weight) for name, term in gold.terms.items()
        }
        return Loss.summed({**kept, "soft": soft})

    def counts(self, batch: TaskBatch) -> dict[str, Tensor | float]:
        """For layers, the number of tokens; else of gold labels and of soft targets (examples; in tagging, words)."""
        if self.layers:
            return dict.fromkeys(self.layers.names, batch.tokens.attention_mask.sum())
        return {**super().counts(batch), "soft": self._softened(batch)}

    def _softened(self, batch: TaskBatch) -> Tensor | float:
        return guessed(batch.label) if self.kind == "tagging" else float(len(batch.label))


def _inside(model: Any, batch: TaskBatch) -> Any:
    """States and attention maps of all layers of an encoder with eager attention."""
    inputs = LayerwiseEncoder(model.base_model).inputs(batch.tokens)
    return model.base_model(**inputs, output_hidden_states=True, output_attentions=True)


NOTHING = -1
"""Index of rows, nodes and tokens that are not aligned."""


@dataclass(frozen=True)
class TaughtBatch(Movable):
    """Questions as collated for student and teacher, each with its own tokenizer, and the alignment of the two.

    Only passages that fit one window for both are aligned; other rows are trained on gold answers alone.
    """

    student: QABatch
    teacher: QABatch
    row: Tensor  # (B,) int64 teacher's row for each row of the student, -1 none
    node: Tensor  # (N,) int64 teacher's node for each node of the student, -1 none
    start: Tensor  # (B', T') int64 student's token at the start of each teacher's token, -1 none
    end: Tensor  # (B', T') int64 student's token at the end of each teacher's token, -1 none

    @property
    def tokens(self) -> TokenBatch:
        return self.student.tokens


def aligned_batch(ours: Collated, theirs: Collated) -> TaughtBatch:
    """Align the rows, nodes and tokens of student and teacher; tokens are aligned by their characters."""
    batch, other = ours.batch, theirs.batch
    row = torch.full((batch.num_rows,), NOTHING)
    node = torch.full_like(batch.graph.node_label, NOTHING)
    start = torch.full_like(other.tokens.input_ids, NOTHING)
    end = start.clone()
    own, given = _single(ours.rows), _single(theirs.rows)
    for place, number in own.items():
        if place not in given:
            continue
        mine, its = ours.rows[number], theirs.rows[given[place]]
        row[number] = given[place]
        count = len(mine.subgraph.nodes) + 1
        if len(its.subgraph.nodes) + 1 == count:
            span = torch.arange(its.first_node, its.first_node + count)
            node[mine.first_node : mine.first_node + count] = span
        written = [(token, (s, e)) for token, (s, e) in enumerate(mine.offsets) if e > s]
        ends = [e for _, (_, e) in written]
        for token, (s, e) in enumerate(its.offsets):
            if e <= s:
                continue
            first, last = bisect_right(ends, s), bisect_right(ends, e - 1)
            if last < len(written):
                start[given[place], token], end[given[place], token] = (written[first][0], written[last][0])
    return TaughtBatch(batch, other, row, node, start, end)


def _single(rows: Sequence[BatchRow]) -> dict[tuple[int, int], int]:
    """Index of each row by question and choice, for those in a single window."""
    seen: dict[tuple[int, int], list[int]] = {}
    for number, row in enumerate(rows):
        seen.setdefault((row.question, row.choice), []).append(number)
    return {place: numbers[0] for place, numbers in seen.items() if len(numbers) == 1}


class TaughtQA(QA):
    """Gold answers (loss L) and those of a trained reader, the teacher, by (1 - w) L + w T^2 KL (Hinton et al., 2015,
    section 2), where T is `temperature`, by which the scores of both are divided, and w is `soft`.

    The KL divergence is summed over the heads with their weights: start and end of spans over tokens, concepts over the
    nodes of a row, choices over those of a question, and the classes of the answer-type classifier. The tokens of a
    teacher with another tokenizer are aligned by characters. The batch is a `TaughtBatch`.
    """

    def __init__(
        self,
        reader: Reader,
        teacher: Reader,
        save: Callable[[Reader, Path], Any],
        *,
        temperature: float = 2.0,
        soft: float = 0.5,
    ) -> None:
        super().__init__(reader, save)
        self._teacher = [teacher.eval().requires_grad_(False)]  # in a list: not trained, not saved
        self.temperature, self.soft = temperature, soft

    def forward(self, batch: TaughtBatch) -> Loss:  # type: ignore[override]
        """Loss of a batch; the mean is over its questions."""
        ours = self.reader(batch.student)
        gold = self.reader.loss_of(ours, batch.student)
        with torch.no_grad():
            teacher_output = self._teacher[0].to(self.reader.device)(batch.teacher)
        parts = soft_losses(ours, teacher_output, batch, self.temperature)
        soft = torch.stack([LOSS_WEIGHTS[name] * value for name, (value, _) in parts.items()]).sum()
        own = gold.terms["questions"]
        total = (1 - self.soft) * own.total + self.soft * self.temperature**2 * soft
        shown = {f"soft_{name}": value / count for name, (value, count) in parts.items() if count}
        return Loss.summed({"questions": Term(total, own.count)}, **{**gold.parts, **shown})

    def counts(self, batch: TaughtBatch) -> dict[str, Tensor | float]:  # type: ignore[override]
        return super().counts(batch.student)

    def log_probabilities(self, batch: TaughtBatch) -> list[Tensor]:  # type: ignore[override]
        return super().log_probabilities(batch.student)


def soft_losses(
    ours: Scores, theirs: Scores, batch: TaughtBatch, temperature: float
) -> dict[str, tuple[Tensor, int]]:
    """Summed KL divergence () of each head's soft targets, and the number of rows or questions; 0 for equal scores."""
    student, teacher = batch.student, batch.teacher
    open_row = (batch.row >= 0) & (student.choice < 0)
    open_question = torch.zeros(student.num_questions, dtype=torch.bool, device=open_row.device)
    open_question[student.question[student.choice < 0]] = True
    found = {}

    rows = open_row & student.passage_mask.any(1)
    its = batch.row[rows]
    ends = []
    for number, place in ((0, batch.start), (1, batch.end)):
        teacher_values = (theirs.span[its, :, number].float() / temperature).softmax(-1)
        mine = (ours.span[rows, :, number].float() / temperature).log_softmax(-1)
        ends.append(_divergence(moved(teacher_values, place[its], ours.span.shape[1]), mine))
    found["span"] = (torch.stack(ends).mean(), int(rows.sum()))

    asked = ~open_question
    value = ours.choice.sum() * 0.0
    if asked.any():
        both = ((ours.choice, student), (theirs.choice, teacher))
        mine, its = (of_choices(scores, read)[asked] / temperature for scores, read in both)
        value = value + _divergence(its.softmax(-1), mine.log_softmax(-1))
    found["choice"] = (value, int(asked.sum()))

    row = student.graph.batch
    known = (batch.node >= 0) & open_row[row]
    teacher_values = softmax(theirs.concept / temperature, teacher.graph.batch, num_nodes=teacher.num_rows)
    mine = softmax(ours.concept / temperature, row, num_nodes=student.num_rows).clamp(min=LEAST).log()
    target = teacher_values[batch.node[known]]
    found["concept"] = (_divergence(target, mine[known]), int(torch.unique(row[known]).numel()))

    shared = min(ours.answer_type.shape[1], theirs.answer_type.shape[1])
    mine, its = (
        s[open_question, :shared].float() / temperature for s in (ours.answer_type, theirs.answer_type)
    )
    found["answer_type"] = (_divergence(its.softmax(-1), mine.log_softmax(-1)), int(open_question.sum()))
    return found


def moved(probability: Tensor, place: Tensor, width: int) -> Tensor:
    """Probabilities (R, T') moved to the tokens `place` (R, T') of rows of length `width`.

    Unaligned tokens, such as the summary token, are moved to the first token, which stands for "no span".
    """
    target = probability.new_zeros(len(probability), width)
    return target.scatter_add_(1, place.clamp(min=0), probability)


def _divergence(target: Tensor, log_probability: Tensor) -> Tensor:
    """KL divergence (), summed over all entries; both must be distributions."""
    return (target * (target.clamp(min=LEAST).log() - log_probability)).sum()

"""Classifiers over any encoder: sentences, sentence pairs, tagging, multiple choice; and their checkpoint folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from kgqa.batch import Movable, TokenBatch
from kgqa.data.corpus.tokenizer import load_tokenizer
from kgqa.data.datasets.labelled import Labelled, TaskType
from kgqa.models.collation.sentence_batch import pad_rows, sentence_ids, special_tokens_of
from kgqa.models.devices import find_device
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.encoders.variants import save_model
from kgqa.models.pretrained import load_config, load_pretrained
from kgqa.settings import write_whole
from kgqa.types import InputError

CARD = "task.json"
HEAD = "task_head.safetensors"
AUTO: dict[TaskType, str] = {
    "sentence": "AutoModelForSequenceClassification",
    "pair": "AutoModelForSequenceClassification",
    "tagging": "AutoModelForTokenClassification",
    "ending": "AutoModelForMultipleChoice",
}


@dataclass(frozen=True)
class TaskBatch(Movable):
    """Examples of a task, one row each; for multiple choice, one row per ending."""

    tokens: TokenBatch
    label: Tensor  # (Q,) int64 class or correct ending; tagging: (B, T), -100 for tokens without a tag
    question: Tensor  # (B,) int64 example of each row, ascending
    turned: TokenBatch | None = None  # (B, T') the pairs in reverse order


class LinearClassifier(nn.Module):
    """An encoder with a linear layer, for architectures without such a head in Hugging Face.

    A text is represented by its summary token: the first, or the last of a causal encoder (Extract in Radford et al.,
    2018).
    """

    def __init__(self, encoder: nn.Module, size: int, kind: TaskType) -> None:
        super().__init__()
        self.layerwise = LayerwiseEncoder(encoder)
        self.kind = kind
        self.out = nn.Linear(self.layerwise.hidden_size, size)

    @property
    def base_model(self) -> nn.Module:
        return self.layerwise.encoder

    def read(self, tokens: TokenBatch) -> Tensor:
        """Scores (B, L); for tagging (B, T, L)."""
        hidden = self.layerwise.encode(tokens)
        scores: Tensor = self.out(
            hidden if self.kind == "tagging" else self.layerwise.summary(hidden, tokens)
        )
        return scores


def load_classifier(encoder: nn.Module, folder: Path, kind: TaskType, labels: Sequence[str]) -> nn.Module:
    """A classifier with a new head over an encoder that was loaded from `folder`.

    Hugging Face's own class if there is one (`AutoModelForSequenceClassification`, `-TokenClassification`,
    `-MultipleChoice`), so that the result loads without kgqa; else a `LinearClassifier`.
    """
    import transformers

    config: Any = encoder.config
    config.num_labels = 1 if kind == "ending" else len(labels)
    if kind != "ending":
        config.id2label = dict(enumerate(labels))
        config.label2id = {label: number for number, label in enumerate(labels)}
        config.problem_type = "single_label_classification"
    config.summary_type = "first"  # XLNet's default is the last position, which is padding here
    auto = getattr(transformers, AUTO[kind])
    if type(config) not in auto._model_mapping:
        return LinearClassifier(encoder, config.num_labels, kind)
    model: nn.Module = auto.from_config(config)
    prefix = str(model.base_model_prefix)
    absent = getattr(model, prefix).load_state_dict(encoder.state_dict(), strict=False)
    if any("pooler" not in name for name in absent.missing_keys):
        raise InputError(f"{folder}: does not fit {type(model).__name__} ({absent.missing_keys[0]})")
    return model


def scores(model: Any, tokens: TokenBatch, kind: TaskType) -> Tensor:
    """A classifier's scores: (B, L); for multiple choice (B,), for tagging (B, T, L)."""
    if isinstance(model, LinearClassifier):
        found = model.read(tokens)
    else:
        inputs = LayerwiseEncoder(model.base_model).inputs(tokens)
        if kind == "ending":
            inputs = {name: value.unsqueeze(1) for name, value in inputs.items()}
        found = model(**inputs).logits
    return (found.squeeze(-1) if kind == "ending" else found).float()


class Encoding:
    """Converts examples to tensors, in the same way for training and inference."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        kind: TaskType,
        labels: Sequence[str],
        max_tokens: int,
        causal: bool,
        both_orders: bool = False,
    ) -> None:
        self.tokenizer, self.kind, self.labels = tokenizer, kind, list(labels)
        self._number = {label: number for number, label in enumerate(labels)}
        self.max_tokens, self.causal, self.both_orders = max_tokens, causal, both_orders
        self.special_tokens = special_tokens_of(tokenizer)

    def length(self, row: Labelled) -> int:
        """Approximate length of a row, for batching by length."""
        return (
            len(row.text) + len(row.second) + sum(map(len, row.words)) + max(map(len, row.endings), default=0)
        )

    def __call__(self, rows: Sequence[Labelled]) -> TaskBatch:
        """The rows as a batch; unknown classes get -100, which the loss ignores."""
        if self.kind == "tagging":
            return self._tagged(rows)
        if self.kind == "ending":
            pairs = [(row.text, ending) for row in rows for ending in row.endings]
            owner = [n for n, row in enumerate(rows) for _ in row.endings]
            label = [int(row.label) if row.label else -100 for row in rows]
        else:
            pairs, owner = [(row.text, row.second) for row in rows], list(range(len(rows)))
            label = [self._number.get(row.label, -100) for row in rows]
        turned = self._pad([(b, a) for a, b in pairs]) if self.both_orders and self.kind == "pair" else None
        return TaskBatch(self._pad(pairs), torch.tensor(label), torch.tensor(owner), turned)

    def _pad(self, pairs: Sequence[tuple[str, str]]) -> TokenBatch:
        firsts, seconds = [a for a, _ in pairs], [b for _, b in pairs]
        rows = sentence_ids(self.tokenizer, firsts, seconds, self.max_tokens)
        # GPT's Extract token: [MASK], which a causal model has never seen in text
        if self.causal and self.special_tokens.mask is not None:
            rows = [([*ids[:-1], self.special_tokens.mask], begin) for ids, begin in rows]
        return pad_rows(rows, self.special_tokens.pad)

    def places(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Token ids of a sentence, and the position of each word: its first piece, or its last for causal encoders."""
        ids, places = [self.special_tokens.start], []
        for number, word in enumerate(words):
            pieces = self.tokenizer.encode(word if not number else f" {word}", add_special_tokens=False).ids
            if not pieces or len(ids) + len(pieces) >= self.max_tokens:
                break
            places.append(len(ids) + (len(pieces) - 1 if self.causal else 0))
            ids += pieces
        return [*ids, self.special_tokens.end], places

    def _tagged(self, rows: Sequence[Labelled]) -> TaskBatch:
        made = [self.places(row.words) for row in rows]
        tokens = pad_rows([(ids, len(ids)) for ids, _ in made], self.special_tokens.pad)
        label = torch.full(tokens.input_ids.shape, -100)
        for n, (row, (_, places)) in enumerate(zip(rows, made, strict=True)):
            for place, tag in zip(places, row.tags, strict=False):
                label[n, place] = self._number.get(tag, -100)
        return TaskBatch(tokens, label, torch.arange(len(rows)))


class Classifier:
    """A trained classifier, loaded from a folder."""

    def __init__(self, folder: Path, device: str = "auto") -> None:
        import transformers

        self.card = read_task(folder)
        self.kind: TaskType = self.card["kind"]
        labels, head = self.card["labels"], folder / HEAD
        if head.is_file():
            encoder = load_pretrained(transformers.AutoModel, folder, dtype=torch.float32)
            self.model: Any = LinearClassifier(
                encoder, 1 if self.kind == "ending" else len(labels), self.kind
            )
            self.model.out.load_state_dict(load_file(head))
        else:
            auto, config = getattr(transformers, AUTO[self.kind]), load_config(folder)
            self.model = load_pretrained(auto, folder, config=config, dtype=torch.float32)
        self.device = find_device(device)
        self.model.eval().to(self.device)
        causal, both = LayerwiseEncoder(self.model.base_model).causal, self.card["both_orders"]
        self.encode = Encoding(
            load_tokenizer(folder), self.kind, labels, self.card["max_tokens"], causal, both
        )

    @torch.inference_mode()
    def __call__(self, rows: Sequence[Labelled]) -> list[dict[str, Any]]:
        """For each row `label` and `scores`; for tagging `tags`; for multiple choice `ending`, `text` and `scores`."""
        if not rows:
            return []
        batch = self.encode(rows).to(self.device)
        return decode_labels(task_scores(self.model, batch, self.kind), batch, rows, self.encode)


def task_scores(model: Any, batch: TaskBatch, kind: TaskType) -> Tensor:
    """Scores of a batch; the scores of both orders of a pair are added (Radford et al., 2018, section 3.3)."""
    found = scores(model, batch.tokens, kind)
    return found if batch.turned is None else found + scores(model, batch.turned, kind)


def decode_labels(
    found: Tensor, batch: TaskBatch, rows: Sequence[Labelled], encode: Encoding
) -> list[dict[str, Any]]:
    """Decode scores to labels. Words beyond the maximum length are tagged "O"."""
    outputs: list[dict[str, Any]] = []
    for n, row in enumerate(rows):
        if encode.kind == "tagging":
            best = found[n].argmax(-1).tolist()
            tags = [encode.labels[best[place]] for place in encode.places(row.words)[1]]
            outputs.append({"tags": tags + ["O"] * (len(row.words) - len(tags))})
            continue
        mine = (found[batch.question == n] if encode.kind == "ending" else found[n]).softmax(-1).tolist()
        best_one = max(range(len(mine)), key=mine.__getitem__)
        if encode.kind == "ending":
            outputs.append({"ending": best_one, "text": row.endings[best_one], "scores": mine})
        else:
            outputs.append(
                {"label": encode.labels[best_one], "scores": dict(zip(encode.labels, mine, strict=True))}
            )
    return outputs


def save_classifier(model: Any, folder: Path, card: dict[str, Any]) -> None:
    """Write a classifier: a Hugging Face folder with `task.json`, and the head of a `LinearClassifier` in its own
    file."""
    if isinstance(model, LinearClassifier):
        save_model(model.base_model, folder)
        save_file(model.out.state_dict(), folder / HEAD)
    else:
        save_model(model, folder)
    write_whole(folder / CARD, json.dumps(card, indent=2, ensure_ascii=False) + "\n")


def read_task(folder: Path) -> dict[str, Any]:
    """`task.json` of a classifier's folder."""
    path = Path(folder) / CARD
    try:
        card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {key: card[key] for key in ("kind", "labels", "max_tokens", "both_orders")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: not a classifier ({reason}); train one with a [task] table") from error

"""What a language model thinks of text: held-out loss under fixed masks, and the likelihood of sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.functional import cross_entropy

from kgqa.models.devices import find_device
from kgqa.models.encoders.stepping import CAUSAL_TYPES, longest_row
from kgqa.models.encoders.variants import ENCODERS
from kgqa.models.sentences import Marks, marks_of, mask_each, mask_share, pad_rows, sentence_ids
from kgqa.text.corpus.tokenizer import load_tokenizer
from kgqa.text.datasets.glue_blimp import Pair

BATCH_TOKENS = 8192
Progress = Callable[[Iterable[Any], str, int], Iterable[Any]]


@dataclass(frozen=True)
class LanguageModel:
    """A masked or causal language model in evaluation mode, with its tokenizer."""

    model: Any
    tokenizer: Tokenizer
    marks: Marks
    causal: bool

    @torch.inference_mode()
    def losses(
        self, rows: Sequence[Sequence[int]], targets: Sequence[tuple[Sequence[int], Tensor]]
    ) -> Tensor:
        """Negative log-likelihoods, one after the other, of `targets[i]` = (tokens, their places) in row i."""
        device = next(self.model.parameters()).device
        batch = pad_rows([(ids, len(ids)) for ids in rows], self.marks.pad).to(device)
        row = torch.cat([torch.full((len(at),), i) for i, (_, at) in enumerate(targets)]).to(device)
        place = torch.cat([at for _, at in targets]).to(device) - int(self.causal)
        gold = torch.tensor([token for tokens, _ in targets for token in tokens], device=device)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            inputs = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask.long()}
            kinds = [v.predict for v in ENCODERS.values() if v.model_type == self.model.config.model_type]
            if kinds:
                logits = kinds[0](self.model, self.model.base_model(**inputs).last_hidden_state[row, place])
            else:
                logits = self.model(**inputs).logits[row, place]
        return cross_entropy(logits.float(), gold, reduction="none").cpu()


def load_language_model(folder: Path, from_scratch: bool = False) -> LanguageModel | None:
    """The language model of a Hugging Face folder, else the generator of our RTD runs, else None.

    `from_scratch` takes the architecture only, with seeded random weights, for comparison.
    """
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

    generator = folder / "generator"
    source = generator if (generator / "config.json").is_file() else folder
    config = AutoConfig.from_pretrained(source, local_files_only=True)
    names = " ".join(config.architectures or ())
    causal = config.model_type in CAUSAL_TYPES or "CausalLM" in names or "LMHead" in names
    kind: Any = AutoModelForCausalLM if causal else AutoModelForMaskedLM
    tokenizer = load_tokenizer(folder)
    marks = marks_of(tokenizer)
    if config.model_type == "xlnet" or (not causal and marks.mask is None):
        return None  # XLNet gives a token's likelihood by its query stream alone, which these do not ask
    if from_scratch:
        torch.manual_seed(0)
        model = kind.from_config(config)
    else:
        try:
            model, info = kind.from_pretrained(
                source, local_files_only=True, dtype=torch.float32, output_loading_info=True
            )
        except ValueError:  # no such head for this architecture
            return None
        if info["missing_keys"]:
            return None
    return LanguageModel(model.eval().to(find_device()), tokenizer, marks, causal)


def held_out_loss(
    model: LanguageModel,
    texts: Sequence[str],
    progress: Progress,
    *,
    length: int = 128,
    share: float = 0.15,
) -> dict[str, float]:
    """Mean loss in nats of 15 % masked tokens (causal: of all) in packed rows; the same ones every time.

    Comparable between models of one tokenizer only. Masks follow from the row's number.
    """
    stream = [t for text in texts for t in model.tokenizer.encode(text, add_special_tokens=False).ids]
    length = min(length, longest_row(model.model.base_model))
    body = length - 2
    rows = [
        [model.marks.start, *stream[i : i + body], model.marks.end]
        for i in range(0, len(stream) - body + 1, body)
    ]
    found: list[Tensor] = []
    size = max(1, BATCH_TOKENS // length)
    for begin in progress(range(0, len(rows), size), "held-out loss", -(-len(rows) // size)):
        given, targets = [], []
        for number, ids in enumerate(rows[begin : begin + size], begin):
            if model.causal:
                places = torch.arange(1, len(ids))
                given.append(ids)
            else:
                masked, places = mask_share(ids, model.marks, share, number)
                given.append(masked)
            targets.append(([ids[place] for place in places.tolist()], places))
        found.append(model.losses(given, targets))
    losses = torch.cat(found) if found else torch.full((1,), float("nan"))
    return {"loss": float(losses.mean()), "masked_tokens": float(len(losses))}


def log_likelihoods(model: LanguageModel, sentences: Sequence[str], progress: Progress) -> list[float]:
    """Log-probability of sentences; for masked models the pseudo-log-likelihood.

    Each token is masked in turn and guessed from all others (Salazar et al., 2020, equation 2), one forward
    pass a token.
    """
    longest = min(128, longest_row(model.model.base_model))
    jobs: list[tuple[int, list[int], list[int], Tensor]] = []
    for number, (ids, _) in enumerate(sentence_ids(model.tokenizer, sentences, max_tokens=longest)):
        if model.causal:
            kept = ids[:-1]
            jobs.append((number, kept, kept[1:], torch.arange(1, len(kept))))
        else:
            jobs += [
                (number, copy, [ids[place]], torch.tensor([place]))
                for copy, place in mask_each(ids, model.marks)
            ]
    jobs.sort(key=lambda job: len(job[1]))
    totals = [0.0] * len(sentences)
    batches = list(_batches(jobs))
    for batch in progress(batches, "likelihoods", len(batches)):
        losses = model.losses([job[1] for job in batch], [(job[2], job[3]) for job in batch])
        owners = [job[0] for job in batch for _ in job[2]]
        for owner, loss in zip(owners, losses.tolist(), strict=True):
            totals[owner] -= loss
    return totals


def _batches(jobs: Sequence[Any]) -> Iterator[list[Any]]:
    """Rows of like length (they come sorted), about `BATCH_TOKENS` together."""
    batch: list[Any] = []
    for job in jobs:
        if batch and (len(batch) + 1) * len(job[1]) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(job)
    if batch:
        yield batch


def pair_accuracy(model: LanguageModel, pairs: Sequence[Pair], progress: Progress) -> dict[str, float]:
    """Share of pairs whose good sentence is likelier: the mean over paradigms, and each of them.

    A tie counts as wrong. Chance is 0.5.
    """
    scores = log_likelihoods(model, [s for pair in pairs for s in (pair.good, pair.bad)], progress)
    right: dict[str, list[float]] = {}
    for number, pair in enumerate(pairs):
        right.setdefault(pair.paradigm, []).append(float(scores[2 * number] > scores[2 * number + 1]))
    means = {name: sum(values) / len(values) for name, values in sorted(right.items())}
    return {"accuracy": sum(means.values()) / max(len(means), 1), **means}

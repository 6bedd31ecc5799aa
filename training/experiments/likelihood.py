"""What a language model thinks of text: held-out loss under fixed masks, and the likelihood of sentences."""

from __future__ import annotations

import json
import tarfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from kgqa.data.datasets.load import find_data_file
from kgqa.models.collation.sentence_batch import SpecialTokens, sentence_ids
from kgqa.models.encoders.layerwise import longest_row
from kgqa.models.language_model import LanguageModel
from kgqa.types import InputError

BATCH_TOKENS = 8192
Progress = Callable[[Iterable[Any], str, int], Iterable[Any]]


def held_out_loss(
    model: LanguageModel, texts: Sequence[str], progress: Progress, *, length: int = 128, share: float = 0.15
) -> dict[str, float]:
    """Mean loss in nats of 15 % masked tokens (causal: of all) in packed rows; the same ones every time.

    Comparable between models of one tokenizer only. Masks follow from the row's number.
    """
    stream = [t for text in texts for t in model.tokenizer.encode(text, add_special_tokens=False).ids]
    length = min(length, longest_row(model.model.base_model))
    body = length - 2
    rows = [
        [model.special_tokens.start, *stream[i : i + body], model.special_tokens.end]
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
                masked, places = mask_share(ids, model.special_tokens, share, number)
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
                for copy, place in mask_each(ids, model.special_tokens)
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


def mask_each(ids: Sequence[int], special_tokens: SpecialTokens) -> list[tuple[list[int], int]]:
    """For every token that is not special, a copy of the row with that token masked, and its index."""
    if special_tokens.mask is None:
        raise InputError("the tokenizer has no [MASK]; take a masked language model")
    copies = []
    for place, token in enumerate(ids):
        if token not in special_tokens.all:
            copies.append(([*ids[:place], special_tokens.mask, *ids[place + 1 :]], place))
    return copies


def mask_share(
    ids: Sequence[int], special_tokens: SpecialTokens, share: float, seed: int
) -> tuple[list[int], Tensor]:
    """The row with a share of its tokens masked, chosen by `seed` alone, and their indices (K,)."""
    assert special_tokens.mask is not None
    places = [place for place, token in enumerate(ids) if token not in special_tokens.all]
    draw = torch.randperm(len(places), generator=torch.Generator().manual_seed(seed))
    chosen = torch.tensor(places, dtype=torch.long)[draw[: max(1, round(share * len(places)))]].sort().values
    masked = list(ids)
    for place in chosen.tolist():
        masked[place] = special_tokens.mask
    return masked, chosen


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


class MinimalPair(NamedTuple):
    """Two sentences that differ in one point of grammar."""

    paradigm: str
    good: str
    bad: str


def read_blimp(data: Path, limit: int | None = None) -> list[MinimalPair]:
    """BLiMP (Warstadt et al., 2020): 67 paradigms of 1,000 pairs, or the first `limit` of each."""
    import zstandard

    path = find_data_file(data, "blimp/blimp_67x1000.jsonl.tar")
    taken: dict[str, int] = defaultdict(int)
    pairs: list[MinimalPair] = []
    try:
        with path.open("rb") as raw:
            stream = zstandard.ZstdDecompressor().stream_reader(raw) if path.suffix == ".zst" else raw
            with tarfile.open(fileobj=stream, mode="r|") as archive:
                for member in archive:
                    file = archive.extractfile(member) if member.name.endswith(".jsonl") else None
                    for line in file.read().decode("utf-8").splitlines() if file else ():
                        row = json.loads(line)
                        if limit is None or taken[row["UID"]] < limit:
                            taken[row["UID"]] += 1
                            pairs.append(MinimalPair(row["UID"], row["sentence_good"], row["sentence_bad"]))
    except (tarfile.TarError, zstandard.ZstdError, ValueError, KeyError) as error:
        raise InputError(f"{path}: not BLiMP's archive ({error}); fetch it again") from error
    return pairs


def pair_accuracy(model: LanguageModel, pairs: Sequence[MinimalPair], progress: Progress) -> dict[str, float]:
    """Share of pairs whose good sentence is likelier: the mean over paradigms, and each of them.

    A tie counts as wrong. Chance is 0.5.
    """
    scores = log_likelihoods(model, [s for pair in pairs for s in (pair.good, pair.bad)], progress)
    right: dict[str, list[float]] = {}
    for number, pair in enumerate(pairs):
        right.setdefault(pair.paradigm, []).append(float(scores[2 * number] > scores[2 * number + 1]))
    means = {name: sum(values) / len(values) for name, values in sorted(right.items())}
    return {"accuracy": sum(means.values()) / max(len(means), 1), **means}

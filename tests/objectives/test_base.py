from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from support.tiny import language_model, tiny
from torch import Tensor

from kgqa.batch import TextBatch
from kgqa.models.classifiers import LinearClassifier, TaskBatch
from kgqa.models.collation.sentence_batch import pad_rows
from kgqa.models.encoders.variants import build_encoder
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.objectives.base import Objective
from kgqa.objectives.distillation import DistilBERT, MobileBERT, TinyBERT
from kgqa.objectives.finetuning import SiFT, Task
from kgqa.objectives.pretraining.knowledge import EntityDenoising, LinkPrediction
from kgqa.objectives.pretraining.mlm import CLM, MLM, MPLM, PLM, MLMWithPairs
from kgqa.objectives.pretraining.rtd import RTD, ReplaceMLM


def test_an_objective_must_say_its_loss_and_its_export(tmp_path) -> None:
    with pytest.raises(NotImplementedError):
        Objective()(None)
    with pytest.raises(NotImplementedError):
        Objective().export(tmp_path)


# Batches that make one optimizer step weigh as one: every objective's terms are means over all that they count.


def network(variant: str = "bert", width: int = 32, attention: str | None = None) -> tuple[Any, Any]:
    torch.manual_seed(width)
    return language_model(variant, attention=attention, hidden_size=width)


def text(seed: int, rows: int, words: int) -> TextBatch:
    """Rows of so many words, padded to 24 tokens."""
    draw = torch.Generator().manual_seed(seed)
    ids = torch.zeros(rows, 24, dtype=torch.long)
    ids[:, :words] = torch.randint(5, 128, (rows, words), generator=draw)
    ids[:, 0] = 2
    label = torch.randint(0, 2, (rows,), generator=draw)
    segments = (torch.arange(24) > words // 2).long().expand_as(ids)
    return TextBatch(ids, ids != 0, segments, label)


def labelled(seed: int, rows: int, words: int) -> TaskBatch:
    ids = text(seed, rows, words).input_ids
    tokens = pad_rows([(row[row != 0].tolist(), words) for row in ids], 0)
    label = torch.where(torch.rand(tokens.input_ids.shape) < 0.5, -100, tokens.input_ids % 2)
    return TaskBatch(tokens, label, torch.arange(rows))


def taught(kind: Any, **options: Any) -> Objective:
    variant = "mobilebert" if kind is MobileBERT else "bert"
    teacher = network("ib-bert" if kind is MobileBERT else "bert", 32, "eager")
    torch.manual_seed(7)
    return kind(*language_model(variant, attention="eager"), *teacher, **options)


def tagger() -> Task:
    torch.manual_seed(0)
    head = LinearClassifier(build_encoder(tiny(), 128), 2, "tagging")
    return Task(head, "tagging", save=lambda *_: None)


TEXT: dict[str, Callable[[], Objective]] = {
    "mlm": lambda: MLM(*network()),
    "clm": lambda: CLM(*network("gpt2")),
    "plm": lambda: PLM(*network("xlnet")),
    "mplm": lambda: MPLM(*network("mpnet")),
    "nsp": lambda: MLMWithPairs(*network()),
    "rtd": lambda: RTD(*network("electra", 16), build_encoder(tiny("electra"), 128)),
    "rtd_15": lambda: RTD(*network("electra", 16), build_encoder(tiny("electra"), 128), judges="hidden"),
    "replace_mlm": lambda: ReplaceMLM(*network("electra"), *network("electra", 16)),
    "all_tokens_mlm": lambda: ReplaceMLM(*network("electra"), *network("electra", 16), all_tokens=True),
    "distilbert": lambda: taught(DistilBERT),
    "tinybert": lambda: taught(TinyBERT, prediction=True),
    "mobilebert": lambda: taught(MobileBERT, transfer_steps=2),
    "mobilebert after": lambda: taught(MobileBERT),
}
PREDICTS = {"mlm", "clm", "distilbert", "tinybert", "mobilebert after"}
"""Those of which two batches can be given as one: nothing random but which tokens are hidden."""


@pytest.mark.parametrize("name", [*TEXT, "tagging", "sift"])
def test_what_is_counted_ahead_is_what_the_loss_counts(name: str) -> None:
    if name in TEXT:
        objective, batch = TEXT[name]().train(), text(0, 4, 13)
    else:
        objective, batch = tagger().train(), labelled(0, 4, 13)
        objective = SiFT(objective) if name == "sift" else objective
    torch.manual_seed(3)
    ahead = objective.counts(batch)
    torch.manual_seed(3)
    loss = objective(batch)
    assert {n: float(ahead[n]) for n in loss.counts} == {n: float(c) for n, c in loss.counts.items()}
    assert torch.allclose(loss.over(loss.counts), loss.total)


@pytest.mark.parametrize("kind", [LinkPrediction, EntityDenoising])
def test_counts_of_the_objectives_on_knowledge(kind: Any, grounded, tokenizer) -> None:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    model, predict = language_model("modernbert", tokenizer.get_vocab_size())
    sizes = ReasonerSettings(
        name="ernie" if kind is EntityDenoising else "fused", graph_size=32, num_layers=1
    )
    objective = kind(model, predict, Reader(model.base_model, sizes))
    torch.manual_seed(3)
    ahead = objective.counts(grounded(0))
    torch.manual_seed(3)
    counts = objective(grounded(0)).counts
    assert {n: float(c) for n, c in ahead.items()} == {n: float(c) for n, c in counts.items()}


def gradient(objective: Objective, losses: list[Tensor]) -> Tensor:
    objective.zero_grad()
    for loss in losses:
        loss.backward()
    parts = [p.grad.flatten() for p in objective.parameters() if p.grad is not None]
    return torch.cat(parts)


def joined(first: TextBatch, second: TextBatch) -> TextBatch:
    parts = {k: torch.cat([v, getattr(second, k)]) for k, v in vars(first).items() if v is not None}
    return replace(first, **parts)


@pytest.mark.parametrize("name", sorted(PREDICTS))
def test_two_batches_give_the_gradient_of_the_two_in_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long batch and a short one: by micro-batch each token of the short one would weigh several times as much."""
    from kgqa.objectives.pretraining import mlm

    still = mlm.hide

    def hide(ids: Tensor, vocab: int, *shares: float, **options: Any) -> mlm.Masked:
        noise = mlm.static_noise(ids)  # the same tokens of a row whoever it stands beside
        return still(ids, vocab, *shares, **{**options, "noise": noise})

    monkeypatch.setattr(mlm, "hide", hide)
    objective = TEXT[name]().eval()  # no dropout
    batches = [text(0, 6, 24), text(1, 2, 6)]
    whole = gradient(objective, [objective(joined(*batches)).total])
    losses = [objective(batch) for batch in batches]
    counts = {n: sum(float(loss.counts[n]) for loss in losses) for n in losses[0].counts}
    parts = gradient(objective, [loss.over(counts) for loss in losses])
    plain = gradient(objective, [objective(batch).total / 2 for batch in batches])
    assert (parts - whole).norm() < 1e-3 * whole.norm()
    assert (plain - whole).norm() > 1e-2 * whole.norm(), "what it was: a mean of means"


def test_padding_teaches_nothing() -> None:
    """A student that differs from its teacher at padding alone has nothing to learn."""
    objective = taught(TinyBERT).eval()
    batch = text(0, 4, 10)
    narrow = replace(
        batch, **{k: v[:, :10] for k, v in vars(batch).items() if isinstance(v, Tensor) and v.dim() == 2}
    )
    kind = taught(DistilBERT).eval()
    for each, share in ((objective, 0.15), (kind, 0.15)):
        each.share = share
        losses = []
        for rows in (batch, narrow):
            torch.manual_seed(0)
            masked = each.hide(narrow)
            wide = masked._replace(
                input_ids=torch.nn.functional.pad(masked.input_ids, (0, rows.input_ids.shape[1] - 10))
            )
            with torch.no_grad():
                both = [each.read(net, wide, rows) for net in (each.encoder, each.teacher.base_model)]
                terms = each.compare(*both, wide, rows.attention_mask)
            losses.append({n: float(t.total) / float(t.count) for n, t in terms.items()})
        assert losses[0] == pytest.approx(losses[1], rel=1e-4)

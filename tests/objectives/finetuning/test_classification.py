from pathlib import Path

import torch

from kgqa.models.classifiers import LinearClassifier, TaskBatch, task_scores
from kgqa.models.collation.sentence_batch import pad_rows
from kgqa.objectives.finetuning import Task


def batch(seed: int) -> TaskBatch:
    """Rows that hold token 40 or not, of different lengths."""
    draw = torch.Generator().manual_seed(seed)
    rows, labels = [], []
    for _ in range(16):
        ids = torch.randint(6, 39, (int(torch.randint(3, 9, (1,), generator=draw)),), generator=draw).tolist()
        labels.append(int(torch.randint(0, 2, (1,), generator=draw)))
        ids[len(ids) // 2] = 40 if labels[-1] else 5
        rows.append(([2, *ids, 3], len(ids) + 2))
    return TaskBatch(pad_rows(rows, 0), torch.tensor(labels), torch.arange(16))


def task(encoder, **options) -> Task:  # type: ignore[no-untyped-def]
    return Task(LinearClassifier(encoder, 2, "sentence"), "sentence", **{"save": lambda *_: None, **options})


def test_held_out_loss_falls(encoder, learn) -> None:  # type: ignore[no-untyped-def]
    objective = task(encoder)
    before, after = learn(objective, steps=30, rate=3e-3, batch=batch)
    assert after < before / 2
    objective.eval()
    found = task_scores(objective.model, batch(99), "sentence").argmax(-1)
    assert (found == batch(99).label).float().mean() > 0.9


def test_padding_changes_nothing(encoder) -> None:  # type: ignore[no-untyped-def]
    model = task(encoder).eval().model
    rows = [([2, 9, 8, 3], 4), ([2, 9, 8, 7, 6, 5, 3], 7)]
    one, both = (
        TaskBatch(pad_rows(some, 0), torch.zeros(len(some)), torch.arange(len(some)))
        for some in (rows[:1], rows)
    )
    assert torch.allclose(
        task_scores(model, both, "sentence")[0], task_scores(model, one, "sentence")[0], atol=1e-5
    )


def test_export_saves_the_classifier_and_a_frozen_encoder_is_not_trained(encoder, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    saved = []
    objective = task(encoder, save=lambda model, folder: saved.append((model, folder)), frozen=True).train()
    objective.export(tmp_path)
    assert saved == [(objective.model, tmp_path)]
    assert not encoder.training and {n for n, p in objective.named_parameters() if p.requires_grad} == {
        "model.out.weight",
        "model.out.bias",
    }

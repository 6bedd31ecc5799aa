from pathlib import Path

import torch

from kgqa.models.sentences import pad_rows
from kgqa.objectives.classification import ClassBatch, Classification


def batch(seed: int) -> ClassBatch:
    """Rows that hold token 40 or not, of different lengths."""
    draw = torch.Generator().manual_seed(seed)
    rows, labels = [], []
    for _ in range(16):
        ids = torch.randint(6, 39, (int(torch.randint(3, 9, (1,), generator=draw)),), generator=draw).tolist()
        labels.append(int(torch.randint(0, 2, (1,), generator=draw)))
        ids[len(ids) // 2] = 40 if labels[-1] else 5
        rows.append(([2, *ids, 3], len(ids) + 2))
    return ClassBatch(pad_rows(rows, 0), torch.tensor(labels))


def test_held_out_loss_falls(encoder, learn) -> None:  # type: ignore[no-untyped-def]
    objective = Classification(encoder)
    before, after = learn(objective, steps=30, rate=3e-3, batch=batch)
    assert after < before / 2
    objective.eval()
    assert float(objective(batch(99)).parts["accuracy"]) > 0.9


def test_padding_changes_nothing(encoder) -> None:  # type: ignore[no-untyped-def]
    objective = Classification(encoder).eval()
    rows = [([2, 9, 8, 3], 4), ([2, 9, 8, 7, 6, 5, 3], 7)]
    together = objective.logits(pad_rows(rows, 0))
    assert torch.allclose(together[0], objective.logits(pad_rows(rows[:1], 0))[0], atol=1e-5)


def test_export_is_the_encoder(encoder, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    from transformers import AutoModel

    Classification(encoder).export(tmp_path)
    ids = torch.randint(5, 60, (2, 7))
    loaded = AutoModel.from_pretrained(tmp_path).eval()
    ours = encoder.eval()(input_ids=ids).last_hidden_state
    assert torch.allclose(loaded(input_ids=ids).last_hidden_state, ours, atol=1e-5)

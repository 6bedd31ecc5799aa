from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from kgqa.batch import TextBatch
from kgqa.models.encoders.variants import ENCODERS, EncoderSettings, build_language_model
from kgqa.objectives.pretraining.mlm import MASK_ID, MPLM, hide

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
K = 4
"""Tokens guessed of a row of 24, so many that every one can see another."""


@pytest.fixture
def objective() -> MPLM:
    torch.manual_seed(0)
    model = build_language_model(EncoderSettings(variant="mpnet", **SIZES), 128)  # type: ignore[arg-type]
    made = MPLM(model, ENCODERS["mpnet"].predict, share=K / 24)
    made.mask_share, made.random_share = 1.0, 0.0
    return made


def guesses(objective: MPLM, batch: TextBatch, monkeypatch: pytest.MonkeyPatch) -> Tensor:
    """Logits (B, K, V) under the draws of one seed."""
    seen: list[Tensor] = []
    predict = ENCODERS["mpnet"].predict
    monkeypatch.setattr(
        objective, "_predict", lambda model, hidden: seen.append(predict(model, hidden)) or seen[-1]
    )
    torch.manual_seed(3)
    with torch.no_grad():
        objective.eval()(batch)
    return seen[0]


def streams(objective: MPLM, batch: TextBatch):  # type: ignore[no-untyped-def]
    torch.manual_seed(3)
    return objective.streams(batch)


def test_held_out_loss_falls(objective: MPLM, learn: Callable[..., tuple[float, float]]) -> None:
    objective.mask_share, objective.random_share = 0.8, 0.1
    before, after = learn(objective, steps=25)
    assert after < before - 0.3


def test_a_guess_sees_those_before_it_in_the_order_and_never_itself(
    objective: MPLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = torch.randint(5, 128, (1, 24))
    places = streams(objective, TextBatch(ids)).places[0, -K:]
    plain = guesses(objective, TextBatch(ids), monkeypatch)[0]
    for number, place in enumerate(places.tolist()):
        changed = ids.clone()
        changed[0, place] = 5 + (ids[0, place] - 4) % 120
        moved = (guesses(objective, TextBatch(changed), monkeypatch)[0] - plain).abs().amax(-1) > 1e-6
        assert moved.tolist() == [later > number for later in range(K)]


def test_each_position_is_seen_once_whatever_is_guessed(objective: MPLM) -> None:
    ids = torch.randint(5, 128, (2, 24))
    ids[1, 18:] = 0
    drawn = streams(objective, TextBatch(ids, ids > 0))
    for row, length in enumerate((24, 18)):
        for sees in drawn.sees[row]:
            assert sorted(drawn.places[row][sees].tolist()) == list(range(length))
    assert not drawn.sees[:, :, -K:].any(), "nothing sees a query"
    assert (drawn.input_ids[:, 24:][drawn.labels.repeat(1, 2) >= 0] == MASK_ID).all()


def test_the_first_guess_is_hugging_faces_masked_language_model(
    objective: MPLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So places, distances and heads are those it is read with later, around a [UNK] (1) too."""
    ids = torch.randint(5, 128, (3, 24))
    ids[:, [0, -1]], ids[1, 11], ids[2, 19:] = torch.tensor([2, 3]), 1, 0
    batch = TextBatch(ids, ids > 0)
    drawn = streams(objective, batch)
    torch.manual_seed(3)
    masked = hide(ids, 128, K / 24, 1.0, 0.0)
    with torch.no_grad():
        theirs = objective.model(input_ids=masked.input_ids, attention_mask=(ids > 0).long()).logits
    ours = guesses(objective, batch, monkeypatch)
    for row in range(3):
        first = int((drawn.labels[row] >= 0).nonzero()[0])
        assert torch.allclose(ours[row, first], theirs[row, drawn.places[row, first - K]], atol=1e-5)
        assert drawn.labels[row, first] == ids[row, drawn.places[row, first - K]]


def test_export_loads_without_us(objective: MPLM, tmp_path: Path) -> None:
    from transformers import AutoModel, MPNetForMaskedLM

    objective.eval().export(tmp_path)
    ids = torch.randint(5, 128, (2, 12))
    model = MPNetForMaskedLM.from_pretrained(tmp_path).eval()
    assert torch.allclose(model(input_ids=ids).logits, objective.model(input_ids=ids).logits, atol=1e-5)
    hidden = objective.encoder(input_ids=ids).last_hidden_state
    encoder = AutoModel.from_pretrained(tmp_path).eval()
    assert torch.allclose(encoder(input_ids=ids).last_hidden_state, hidden, atol=1e-5)

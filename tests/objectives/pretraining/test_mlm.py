from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from support.tiny import language_model
from torch import Tensor

from kgqa.batch import TextBatch
from kgqa.models.encoders.variants import ENCODERS
from kgqa.objectives.pretraining.mlm import (
    CLM,
    MASK_ID,
    MLM,
    MPLM,
    PLM,
    EnhancedMaskDecoder,
    hide,
    states,
    static_noise,
    word_starts,
)

KINDS = {variant: (CLM, {}) if row.causal else (MLM, {}) for variant, row in ENCODERS.items()}
KINDS |= {"xlnet as PLM": (PLM, {"share": 1 / 6}), "mpnet as MPLM": (MPLM, {})}
"""The objective of each variant, with its options."""


def make(variant: str, **options: object) -> Any:
    """The objective of a variant over a tiny encoder."""
    torch.manual_seed(0)
    kind, own = KINDS[variant]
    return kind(*language_model(variant.split()[0]), **own, **options)


@pytest.mark.parametrize("variant", KINDS)
def test_held_out_loss_falls(variant: str, learn) -> None:  # type: ignore[no-untyped-def]
    objective = make(variant)
    before, after = learn(objective, steps=25)
    assert after < before - (0.5 if isinstance(objective, CLM) else 0.3)


def test_80_10_10_and_a_fixed_count() -> None:
    ids = torch.randint(5, 5000, (200, 100))
    ids[:, 0], ids[:, 50:60] = 2, 3
    masked = hide(ids, 5000, share=0.15)
    assert masked.positions.shape == (200, 15)
    before, now = ids.gather(1, masked.positions), masked.input_ids.gather(1, masked.positions)
    assert (masked.labels == before).all() and (before >= 5).all()
    assert abs((now == MASK_ID).float().mean() - 0.8) < 0.03
    assert abs((now == before).float().mean() - 0.1) < 0.03
    untouched = torch.ones_like(ids, dtype=torch.bool).scatter(1, masked.positions, False)
    assert (masked.input_ids == ids)[untouched].all()


def test_rows_with_too_few_words_give_no_labels() -> None:
    ids = torch.tensor([[2, 9, 3, 0, 0, 0, 0, 0]])
    masked = hide(ids, 100, share=0.4)
    assert sorted(masked.labels[0].tolist()) == [-100, -100, 9]
    assert (masked.input_ids[0, 2:] == ids[0, 2:]).all()


def test_static_masks_repeat_and_dynamic_ones_do_not() -> None:
    ids = torch.randint(5, 500, (50, 40))
    noise = static_noise(ids)
    assert (noise == static_noise(ids)).all() and (noise >= 0).all() and (noise < 1).all()
    assert abs(noise.mean() - 0.5) < 0.05
    counts = torch.zeros(40).scatter_add_(0, hide(ids, 500, noise=noise).positions.flatten(), torch.ones(300))
    assert counts.max() < 25, "places are spread"
    assert (hide(ids, 500, noise=noise).positions == hide(ids, 500, noise=noise).positions).all()
    assert (hide(ids, 500).positions != hide(ids, 500).positions).any()


def test_whole_words_are_hidden_or_none_of_them() -> None:
    inside = torch.zeros(200, dtype=torch.bool)
    inside[100:] = True
    ids = torch.randint(5, 200, (60, 40))
    ids[:, 0], ids[:, 20] = 2, 3
    starts = word_starts(ids, inside[ids])
    row = torch.tensor([[2, 150, 9, 101, 102, 3, 103]])
    assert word_starts(row, inside[row]).tolist() == [[0, 1, 2, 2, 2, 5, 6]]
    masked = hide(ids, 200, share=0.3, mask_share=1.0, random_share=0.0, goes_on=inside[ids])
    assert masked.positions.shape == (60, 12) and (masked.labels >= 0).float().mean() > 0.8
    for row in range(60):
        gone = {p for p in range(40) if masked.input_ids[row, p] == MASK_ID}
        words = {int(starts[row, p]) for p in gone}
        assert gone == {p for p in range(40) if int(starts[row, p]) in words}
        taught = masked.positions[row][masked.labels[row] >= 0]
        assert set(taught.tolist()) == gone


def test_whole_words_can_be_learnt(learn) -> None:  # type: ignore[no-untyped-def]
    inside = torch.zeros(128, dtype=torch.bool)
    inside[10:30] = True
    before, after = learn(make("bert", inside=inside, static=True), steps=25)
    assert after < before - 0.3


def test_same_loss_as_hugging_face() -> None:
    objective = make("bert").eval()
    ids = torch.randint(5, 128, (4, 24))
    torch.manual_seed(3)
    masked = hide(ids, 128)
    labels = torch.full_like(ids, -100).scatter(1, masked.positions, masked.labels)
    theirs = objective.model(input_ids=masked.input_ids, labels=labels).loss
    torch.manual_seed(3)
    assert torch.allclose(objective(TextBatch(ids)).total, theirs, atol=1e-5)


def test_padding_changes_nothing(draw) -> None:  # type: ignore[no-untyped-def]
    objective = make("electra").eval()
    ids = draw(0).input_ids
    padded = torch.cat([ids, torch.zeros(len(ids), 8, dtype=torch.long)], dim=1)
    one = objective.encoder(input_ids=ids).last_hidden_state
    two = objective.encoder(input_ids=padded, attention_mask=(padded > 0).long()).last_hidden_state
    assert torch.allclose(one, two[:, : ids.shape[1]], atol=1e-5)


@pytest.mark.parametrize("variant", ["modernbert", "gpt2", "xlnet as PLM", "mpnet as MPLM"])
def test_export_loads_without_us(variant: str, tmp_path: Path) -> None:
    from transformers import AutoModel

    objective = make(variant, save=lambda folder: (folder / "beside").touch()).eval()
    objective.export(tmp_path)
    ids = torch.randint(5, 128, (2, 12))
    model = type(objective.model).from_pretrained(tmp_path).eval()
    assert torch.allclose(model(input_ids=ids).logits, objective.model(input_ids=ids).logits, atol=1e-5)
    encoder = AutoModel.from_pretrained(tmp_path).eval()
    theirs = encoder(input_ids=ids).last_hidden_state
    assert torch.allclose(theirs, objective.encoder(input_ids=ids).last_hidden_state, atol=1e-5)
    assert (tmp_path / "beside").exists()


def test_whole_concepts_are_hidden_or_none_of_them() -> None:
    objective = make("bert", inside=torch.zeros(128, dtype=torch.bool), share=0.4)
    ids = torch.randint(5, 128, (64, 20))
    joined = torch.zeros(64, 20, dtype=torch.bool)
    joined[:, [5, 6, 11]] = True  # concepts of three tokens and of two
    masked = objective.hide(TextBatch(ids, joined=joined))
    hidden = torch.zeros(64, 20).scatter(1, masked.positions, (masked.labels >= 0).float())
    assert (hidden[:, 4] == hidden[:, 5]).all() and (hidden[:, 5] == hidden[:, 6]).all()
    assert (hidden[:, 10] == hidden[:, 11]).all() and 0 < hidden[:, 4].mean() < 1


@pytest.mark.parametrize("inside", [None, torch.zeros(500, dtype=torch.bool)])
def test_a_short_row_loses_a_share_of_itself_and_not_of_its_padding(inside: torch.Tensor | None) -> None:
    ids = torch.zeros(60, 100, dtype=torch.long)
    ids[:, :22] = torch.randint(5, 500, (60, 22))
    ids[:, 0], ids[:, 21] = 2, 3
    masked = hide(ids, 500, goes_on=None if inside is None else inside[ids])
    assert ((masked.labels >= 0).sum(1) == 3).all(), "15 % of 22 tokens"
    assert (masked.input_ids != ids).sum(1).max() <= 3


def test_static_masks_repeat_what_stands_there_too() -> None:
    ids = torch.randint(5, 500, (200, 40))
    one, two = (hide(ids, 500, noise=static_noise(ids)) for _ in range(2))
    assert torch.equal(one.input_ids, two.input_ids)
    now = one.input_ids.gather(1, one.positions)
    assert abs((now == MASK_ID).float().mean() - 0.8) < 0.05
    drawn = now[(now != MASK_ID) & (now != one.labels)]
    assert drawn.min() >= 5 and drawn.max() < 500 and len(drawn.unique()) > 50


def decoding(variant: str) -> MLM:
    return make(variant, decoder=EnhancedMaskDecoder(48, 32))


@pytest.mark.parametrize("variant", ["deberta", "deberta-v3"])
def test_held_out_loss_falls_with_the_mask_decoder(variant: str, learn) -> None:  # type: ignore[no-untyped-def]
    before, after = learn(decoding(variant), steps=25)
    assert after < before - 0.3


def test_only_the_decoder_knows_where_a_token_stands() -> None:
    objective = decoding("deberta").eval()
    same = TextBatch(torch.full((1, 12), 7))
    plain = states(objective.encoder, same.input_ids, same)
    assert torch.allclose(plain[0, 4], plain[0, 5], atol=1e-5), (
        "relative positions cannot tell equal tokens apart"
    )
    decoded = objective.decoder(objective.encoder, same.input_ids, same)  # type: ignore[misc]
    assert not torch.allclose(decoded[0, 4], decoded[0, 5], atol=1e-3)


def test_nothing_of_the_mask_decoder_is_exported(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from safetensors.torch import load_file

    decoding("deberta").export(tmp_path)
    assert not any("positions" in name for name in load_file(tmp_path / "model.safetensors"))


@pytest.mark.parametrize("variant", ["gpt1", "gpt2"])
def test_the_future_is_not_seen(variant: str) -> None:
    encoder = make(variant).eval().encoder
    ids = torch.randint(5, 128, (2, 16))
    changed = ids.clone()
    changed[:, 10:] = torch.randint(5, 128, (2, 6))
    one, two = (encoder(input_ids=x).last_hidden_state for x in (ids, changed))
    assert torch.equal(one[:, :10], two[:, :10]) and not torch.equal(one[:, 10:], two[:, 10:])


@pytest.mark.parametrize("variant", ["gpt1", "gpt2"])
def test_same_loss_of_clm_as_hugging_face(variant: str) -> None:
    objective = make(variant).eval()
    ids = torch.randint(5, 128, (3, 16))
    theirs = objective.model(input_ids=ids, labels=ids).loss
    assert torch.allclose(objective(TextBatch(ids)).total, theirs, atol=1e-5)


def test_padding_is_not_guessed() -> None:
    objective = make("gpt2").eval()
    ids = torch.randint(5, 128, (3, 16))
    padded = torch.cat([ids, torch.zeros(3, 4, dtype=torch.long)], dim=1)
    one, two = objective(TextBatch(ids)).total, objective(TextBatch(padded, padded > 0)).total
    assert torch.allclose(one, two, atol=1e-5)


def test_gpt2_scales_residual_weights_by_depth() -> None:
    model, _ = language_model("gpt2", num_hidden_layers=8, hidden_size=64)
    block = model.base_model.h[0]
    ratio = block.attn.c_proj.weight.std() / block.attn.c_attn.weight.std()
    assert abs(ratio - (2 * 8) ** -0.5) < 0.05


@pytest.fixture
def plm() -> PLM:
    return make("xlnet as PLM")


def guess(plm: PLM, ids: torch.Tensor, order) -> torch.Tensor:  # type: ignore[no-untyped-def]
    mapping = torch.nn.functional.one_hot(order.positions, ids.shape[1]).float()
    streams = {"perm_mask": order.perm_mask, "target_mapping": mapping}
    return plm.model(input_ids=ids, **streams).logits


def test_same_loss_of_plm_as_hugging_face(plm: PLM) -> None:
    ids = torch.randint(5, 128, (4, 24))
    torch.manual_seed(3)
    order = plm.eval().order(TextBatch(ids))
    theirs = torch.nn.functional.cross_entropy(guess(plm, ids, order).flatten(0, 1), order.labels.flatten())
    torch.manual_seed(3)
    assert torch.allclose(plm(TextBatch(ids)).total, theirs, atol=1e-5)


def test_a_guess_depends_on_what_came_before_in_the_order_and_on_nothing_else(plm: PLM) -> None:
    ids = torch.randint(5, 128, (1, 24))
    order = plm.eval().order(TextBatch(ids))
    plain = guess(plm, ids, order)[0]
    for number in range(order.positions.shape[1]):
        changed = ids.clone()
        changed[0, order.positions[0, number]] = 5 + (ids[0, order.positions[0, number]] - 4) % 120
        moved = (guess(plm, changed, order)[0] - plain).abs().amax(-1) > 1e-5
        assert moved.tolist() == [later > number for later in range(order.positions.shape[1])]


def test_special_tokens_and_padding_are_not_guessed(plm: PLM) -> None:
    ids = torch.tensor([[2, 9, 8, 7, 6, 10, 11, 3] + [0] * 16])
    order = plm.order(TextBatch(ids, ids > 0))
    assert (order.labels >= 0).sum() == 1 and order.labels.max() >= 6
    assert torch.isfinite(plm(TextBatch(ids, ids > 0)).total)


K = 4
"""Tokens guessed of a row of 24, so many that every one can see another."""


@pytest.fixture
def mplm() -> MPLM:
    made = make("mpnet as MPLM", share=K / 24)
    made.mask_share, made.random_share = 1.0, 0.0
    return made


def guesses(mplm: MPLM, batch: TextBatch, monkeypatch: pytest.MonkeyPatch) -> Tensor:
    """Logits (B, K, V) under the draws of one seed."""
    seen: list[Tensor] = []
    predict = ENCODERS["mpnet"].predict
    monkeypatch.setattr(
        mplm, "_predict", lambda model, hidden: seen.append(predict(model, hidden)) or seen[-1]
    )
    torch.manual_seed(3)
    with torch.no_grad():
        mplm.eval()(batch)
    return seen[0]


def streams(mplm: MPLM, batch: TextBatch):  # type: ignore[no-untyped-def]
    torch.manual_seed(3)
    return mplm.streams(batch)


def test_a_guess_sees_those_before_it_in_the_order_and_never_itself(
    mplm: MPLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = torch.randint(5, 128, (1, 24))
    places = streams(mplm, TextBatch(ids)).places[0, -K:]
    plain = guesses(mplm, TextBatch(ids), monkeypatch)[0]
    for number, place in enumerate(places.tolist()):
        changed = ids.clone()
        changed[0, place] = 5 + (ids[0, place] - 4) % 120
        moved = (guesses(mplm, TextBatch(changed), monkeypatch)[0] - plain).abs().amax(-1) > 1e-6
        assert moved.tolist() == [later > number for later in range(K)]


def test_each_position_is_seen_once_whatever_is_guessed(mplm: MPLM) -> None:
    ids = torch.randint(5, 128, (2, 24))
    ids[1, 18:] = 0
    drawn = streams(mplm, TextBatch(ids, ids > 0))
    for row, length in enumerate((24, 18)):
        for sees in drawn.sees[row]:
            assert sorted(drawn.places[row][sees].tolist()) == list(range(length))
    assert not drawn.sees[:, :, -K:].any(), "nothing sees a query"
    assert (drawn.input_ids[:, 24:][drawn.labels.repeat(1, 2) >= 0] == MASK_ID).all()


def test_the_first_guess_is_hugging_faces_masked_language_model(
    mplm: MPLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So places, distances and heads are those it is read with later, around a [UNK] (1) too."""
    ids = torch.randint(5, 128, (3, 24))
    ids[:, [0, -1]], ids[1, 11], ids[2, 19:] = torch.tensor([2, 3]), 1, 0
    batch = TextBatch(ids, ids > 0)
    drawn = streams(mplm, batch)
    torch.manual_seed(3)
    masked = hide(ids, 128, K / 24, 1.0, 0.0)
    with torch.no_grad():
        theirs = mplm.model(input_ids=masked.input_ids, attention_mask=(ids > 0).long()).logits
    ours = guesses(mplm, batch, monkeypatch)
    for row in range(3):
        first = int((drawn.labels[row] >= 0).nonzero()[0])
        assert torch.allclose(ours[row, first], theirs[row, drawn.places[row, first - K]], atol=1e-5)
        assert drawn.labels[row, first] == ids[row, drawn.places[row, first - K]]

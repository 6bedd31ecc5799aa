from pathlib import Path

import pytest
import torch

from kgqa.batch import TextBatch
from kgqa.models.encoders.variants import ENCODERS, EncoderSettings, build_language_model
from kgqa.objectives.pretraining.mlm import (
    MASK_ID,
    MLM,
    EnhancedMaskDecoder,
    hide,
    states,
    static_noise,
    word_starts,
)

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
SIZES = {**SMALL, "max_position_embeddings": 48, "embedding_size": 16}
BIDIRECTIONAL = [name for name, row in ENCODERS.items() if not row.causal]


def make(variant: str, **options: object) -> MLM:
    torch.manual_seed(0)
    model = build_language_model(EncoderSettings(variant=variant, **SIZES), 128)  # type: ignore[arg-type]
    return MLM(model, ENCODERS[variant].predict, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("variant", BIDIRECTIONAL)
def test_held_out_loss_falls(variant: str, learn) -> None:  # type: ignore[no-untyped-def]
    before, after = learn(make(variant), steps=25)
    assert after < before - 0.3


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


def test_export_loads_without_us(tmp_path: Path) -> None:
    from transformers import AutoModel, AutoModelForMaskedLM

    objective = make("modernbert", save=lambda folder: (folder / "beside").touch()).eval()
    objective.export(tmp_path)
    ids = torch.randint(5, 128, (2, 12))
    model = AutoModelForMaskedLM.from_pretrained(tmp_path).eval()
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
    torch.manual_seed(0)
    settings = EncoderSettings(variant=variant, max_position_embeddings=48, **SMALL)  # type: ignore[arg-type]
    model = build_language_model(settings, 128)
    return MLM(model, ENCODERS[variant].predict, decoder=EnhancedMaskDecoder(48, 32))


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

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from support.tiny import language_model, tiny

from kgqa.batch import TextBatch
from kgqa.models.encoders.variants import build_encoder
from kgqa.objectives.pretraining.mlm import MASK_ID, Masked
from kgqa.objectives.pretraining.rtd import RTD, DisentangledEmbedding, ReplaceMLM, read_head, replace_hidden


def make(variant: str = "electra", **options: object) -> RTD:
    torch.manual_seed(0)
    wide = 16 if variant == "electra" else 32
    generator = language_model(variant, hidden_size=wide, num_hidden_layers=1)
    return RTD(*generator, build_encoder(tiny(variant), 128), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("variant", ["electra", "deberta-v3", "modernbert"])
@pytest.mark.parametrize("sharing", ["es", "nes", "gdes"])
def test_both_losses_fall(variant: str, sharing: str, learn) -> None:  # type: ignore[no-untyped-def]
    objective = make(variant, sharing=sharing)
    before, after = learn(objective, steps=25)
    assert after < before


def test_discriminator_beats_the_majority(learn, draw) -> None:  # type: ignore[no-untyped-def]
    objective = make("electra", sharing="gdes", share=0.25, temperature=4.0)
    learn(objective, steps=100, rate=5e-3)
    torch.manual_seed(5)
    parts = objective.eval()(draw(777, rows=64)).parts
    assert parts["accuracy"] > parts["majority"] + 0.01


@pytest.mark.parametrize(("sharing", "reaches"), [("es", True), ("nes", False), ("gdes", False)])
def test_where_the_discriminators_gradient_goes(sharing: str, reaches: bool, draw) -> None:  # type: ignore[no-untyped-def]
    objective = make("electra", sharing=sharing)
    words = objective.model.get_input_embeddings().weight
    objective.weight = 0.0
    torch.manual_seed(0)
    first = objective(draw(0))
    objective.weight = 50.0
    torch.manual_seed(0)
    second = objective(draw(0))
    (alone,) = torch.autograd.grad(first.total, words)
    (joint,) = torch.autograd.grad(second.total, words)
    assert torch.allclose(alone, joint) is not reaches
    own = objective.discriminator.get_input_embeddings()
    if sharing == "gdes":
        assert isinstance(own, DisentangledEmbedding)
        torch.manual_seed(0)
        objective(draw(0)).total.backward()
        assert own.weight.grad is not None and own.weight.grad.abs().sum() > 0


def test_gdes_starts_equal_and_follows_the_generator() -> None:
    objective = make(sharing="gdes")
    theirs, ours = objective.model.get_input_embeddings(), objective.discriminator.get_input_embeddings()
    ids = torch.arange(20)
    assert torch.equal(ours(ids), theirs(ids))
    with torch.no_grad():
        theirs.weight += 1
    assert torch.equal(ours(ids), theirs(ids))


def test_electras_ablation_judges_hidden_tokens_alone(draw) -> None:  # type: ignore[no-untyped-def]
    every, hidden = make(), make(judges="hidden")
    batch = draw(0)
    torch.manual_seed(1)
    counts = hidden.counts(batch)
    assert counts["rtd"] == counts["mlm"] < every.counts(batch)["rtd"]
    torch.manual_seed(1)
    assert torch.isfinite(hidden(batch).total)


def test_hits_of_the_generator_count_as_original() -> None:
    ids = torch.randint(5, 128, (4, 12))
    positions = torch.tensor([[1, 2, 3]] * 4)
    labels = ids.gather(1, positions)
    certain = torch.nn.functional.one_hot(labels, 128).float() * 1e4
    assert torch.equal(replace_hidden(ids, Masked(ids, positions, labels), certain), ids)
    wrong = torch.nn.functional.one_hot((labels + 1) % 128, 128).float() * 1e4
    replaced = replace_hidden(ids, Masked(ids, positions, labels), wrong) != ids
    assert replaced.sum() == 12 and replaced[:, 1:4].all()
    unlabelled = Masked(ids, positions, torch.full_like(labels, -100))
    assert torch.equal(replace_hidden(ids, unlabelled, wrong), ids)


def test_samples_follow_the_generator() -> None:
    torch.manual_seed(0)
    logits = torch.tensor([2.0, 1.0, 0.0]).expand(1, 3000, 3)
    positions = torch.arange(3000).unsqueeze(0)
    masked = Masked(positions, positions, torch.zeros_like(positions))
    drawn = replace_hidden(positions, masked, logits, temperature=2.0)
    shares = torch.bincount(drawn[0], minlength=3) / 3000
    assert torch.allclose(shares, (logits[0, 0] / 2).softmax(-1), atol=0.03)


def test_warm_steps_leave_the_discriminator_alone(draw) -> None:  # type: ignore[no-untyped-def]
    objective = make(warm_steps=1)
    first = objective(draw(0))
    again = objective(draw(0))
    assert torch.equal(again.total.detach(), again.parts["mlm"]), "a batch is not a step"
    again.total.backward()
    assert all(not p.grad.any() for p in objective.discriminator.parameters())
    objective.zero_grad()
    objective.begin_step(1)
    second = objective(draw(0))
    assert torch.equal(first.total.detach(), first.parts["mlm"])
    assert second.total > second.parts["mlm"] + 1


def test_equals_electras_discriminator() -> None:
    from transformers import AutoModelForPreTraining

    objective = make("electra", sharing="nes").eval()
    theirs = AutoModelForPreTraining.from_config(objective.discriminator.config).eval()
    theirs.electra.load_state_dict(objective.discriminator.state_dict())
    theirs.discriminator_predictions.load_state_dict(objective.head.state_dict())
    ids = torch.randint(5, 128, (2, 12))
    ours = objective.head(objective.discriminator(input_ids=ids).last_hidden_state)
    assert torch.allclose(ours, theirs(input_ids=ids).logits, atol=1e-6)


@pytest.mark.parametrize("variant", ["electra", "deberta-v3", "modernbert"])
def test_export_holds_the_sum_of_the_embeddings(variant: str, tmp_path: Path) -> None:
    from transformers import AutoModel, AutoModelForMaskedLM

    objective = make(variant, sharing="gdes").eval()
    with torch.no_grad():
        objective.discriminator.get_input_embeddings().weight.normal_(std=0.1)
    objective.export(tmp_path)
    ids = torch.randint(5, 128, (2, 12))
    loaded = AutoModel.from_pretrained(tmp_path).eval()
    ours = objective.discriminator(input_ids=ids).last_hidden_state
    assert torch.allclose(loaded(input_ids=ids).last_hidden_state, ours, atol=1e-5)
    generator = AutoModelForMaskedLM.from_pretrained(tmp_path / "generator").eval()
    assert torch.allclose(generator(input_ids=ids).logits, objective.model(input_ids=ids).logits, atol=1e-5)


def test_padding_is_not_judged() -> None:
    objective = make().eval()
    ids = torch.tensor([[2, 9, 8, 7, 3, 0, 0, 0]])
    torch.manual_seed(0)
    parts = objective(TextBatch(ids, ids > 0)).parts
    assert 0 <= parts["majority"] <= 1 and torch.isfinite(torch.as_tensor(parts["rtd"]))


@pytest.mark.parametrize("sharing", ["es", "nes", "gdes"])
def test_an_exported_electra_keeps_its_predictions(sharing: str, tmp_path: Path) -> None:
    from transformers import AutoModel, ElectraForPreTraining

    objective = make("electra", sharing=sharing).eval()
    with torch.no_grad():
        for parameter in objective.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
    objective.export(tmp_path)
    ids = torch.randint(5, 128, (2, 12))
    hidden = objective.discriminator(input_ids=ids).last_hidden_state
    opened = ElectraForPreTraining.from_pretrained(tmp_path).eval()
    assert torch.allclose(opened(input_ids=ids).logits, objective.head(hidden), atol=1e-5)
    encoder = AutoModel.from_pretrained(tmp_path).eval()
    assert torch.allclose(encoder(input_ids=ids).last_hidden_state, hidden, atol=1e-5)


def test_another_discriminator_keeps_its_head_beside_its_weights(tmp_path: Path) -> None:
    objective = make("modernbert")
    objective.export(tmp_path)
    found = read_head(tmp_path)
    assert found and all(torch.equal(found[n], value) for n, value in objective.head.state_dict().items())
    objective.export(tmp_path / "other")
    (tmp_path / "other" / "discriminator_head.safetensors").unlink()
    assert read_head(tmp_path / "other") is None


def make_replaced(all_tokens: bool) -> ReplaceMLM:
    torch.manual_seed(0)
    generator = language_model("electra", hidden_size=16)
    return ReplaceMLM(*language_model("electra"), *generator, all_tokens=all_tokens)


@pytest.mark.parametrize("all_tokens", [False, True])
def test_it_learns_from_rows_without_masks(all_tokens: bool, learn, draw) -> None:  # type: ignore[no-untyped-def]
    objective, read = make_replaced(all_tokens), []
    objective.encoder.register_forward_pre_hook(
        lambda _m, _a, given: read.append(given["input_ids"]), with_kwargs=True
    )
    before, after = learn(objective, steps=30, part="mlm")
    masks = torch.stack([(ids == MASK_ID).float().mean() for ids in read]).mean()
    assert after < before and masks < 0.01, "no more than a generator that knows nothing draws"


def test_a_copied_token_costs_next_to_nothing_once_copying_is_sure() -> None:
    objective = make_replaced(True).eval()
    with torch.no_grad():
        objective.copy.weight.zero_()  # type: ignore[union-attr]
        objective.copy.bias.fill_(20.0)  # type: ignore[union-attr]
    ids = torch.randint(5, 128, (4, 12))
    hidden = torch.randn(4, 12, 32)
    term = objective._guess_all(hidden, ids, TextBatch(ids))
    assert term.count == ids.numel() and float(term.total.detach()) < 1e-3

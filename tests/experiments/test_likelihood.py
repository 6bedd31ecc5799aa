from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

from kgqa.data.datasets.labelled import MinimalPair
from kgqa.models.collation.sentence_batch import sentence_ids
from kgqa.models.encoders.variants import EncoderSettings, build_language_model, save_model
from kgqa.models.language_model import load_language_model
from training.experiments.likelihood import held_out_loss, log_likelihoods, pair_accuracy


def quiet(items, _text, _total):  # type: ignore[no-untyped-def]
    return items


@pytest.fixture
def causal_folder(tokenizer, tokenizer_folder: Path, tmp_path: Path) -> Path:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 16}
    settings = EncoderSettings(variant="gpt2", max_position_embeddings=64, **sizes)  # type: ignore[arg-type]
    folder = tmp_path / "causal"
    save_model(build_language_model(settings, tokenizer.get_vocab_size()), folder)
    (folder / "tokenizer.json").write_bytes((tokenizer_folder / "tokenizer.json").read_bytes())
    return folder


def test_pseudo_log_likelihood_masks_each_token_in_turn(mlm_folder: Path, tokenizer) -> None:  # type: ignore[no-untyped-def]
    model = load_language_model(mlm_folder)
    assert model is not None and not model.causal and model.special_tokens.mask is not None
    sentences = ["i dig a hole", "the trowel is used"]
    ours = log_likelihoods(model, sentences, quiet)
    for (ids, _), value in zip(sentence_ids(tokenizer, sentences), ours, strict=True):
        total = 0.0
        for place in range(1, len(ids) - 1):
            row = torch.tensor([ids])
            row[0, place] = model.special_tokens.mask
            with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
                logits = model.model(input_ids=row).logits[0, place]
            total += float(logits.float().log_softmax(-1)[ids[place]])
        assert value == pytest.approx(total, abs=0.05)


def test_a_causal_model_needs_one_pass(causal_folder: Path, tokenizer) -> None:  # type: ignore[no-untyped-def]
    model = load_language_model(causal_folder)
    assert model is not None and model.causal
    ((ids, _),) = sentence_ids(tokenizer, ["i dig a hole"])
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        logits = model.model(input_ids=torch.tensor([ids[:-1]])).logits[0, :-1].float()
    expected = -float(cross_entropy(logits, torch.tensor(ids[1:-1]), reduction="sum"))
    assert log_likelihoods(model, ["i dig a hole"], quiet)[0] == pytest.approx(expected, abs=0.05)
    assert held_out_loss(model, ["i dig a hole " * 40], quiet, length=16)["masked_tokens"] > 100


def test_held_out_loss_repeats_and_random_weights_know_nothing(mlm_folder: Path) -> None:
    text = ["i want to plant flowers . the trowel is used for flowers . " * 20]
    first, second = (
        held_out_loss(model, text, quiet, length=32)
        for model in (load_language_model(mlm_folder), load_language_model(mlm_folder, from_scratch=True))
        if model
    )
    assert first == held_out_loss(load_language_model(mlm_folder), text, quiet, length=32)  # type: ignore[arg-type]
    assert abs(first["loss"] - second["loss"]) < 2 and first["masked_tokens"] == second["masked_tokens"]


def test_no_head_no_language_model(encoder, tokenizer_folder: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    encoder.save_pretrained(tmp_path / "body")
    (tmp_path / "body" / "tokenizer.json").write_bytes((tokenizer_folder / "tokenizer.json").read_bytes())
    assert load_language_model(tmp_path / "body") is None


def test_the_generator_speaks_for_a_discriminator(mlm_folder: Path) -> None:
    (mlm_folder / "generator").mkdir()
    for name in ("config.json", "model.safetensors"):
        (mlm_folder / name).rename(mlm_folder / "generator" / name)
    assert load_language_model(mlm_folder) is not None


def test_pairs_by_paradigm(mlm_folder: Path) -> None:
    model = load_language_model(mlm_folder)
    assert model is not None
    pairs = [MinimalPair("a", "i dig", "i dig a hole with a red trowel"), MinimalPair("b", "i dig", "i dig")]
    figures = pair_accuracy(model, pairs, quiet)
    assert figures == {"accuracy": 0.5, "a": 1.0, "b": 0.0}, "a tie is wrong"

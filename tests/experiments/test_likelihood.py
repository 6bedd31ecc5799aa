import io
import json
import tarfile
from pathlib import Path

import pytest
import torch
import zstandard
from torch.nn.functional import cross_entropy

from kgqa.models.collation.sentence_batch import SpecialTokens, sentence_ids
from kgqa.models.language_model import load_language_model
from kgqa.types import InputError
from training.experiments.likelihood import (
    MinimalPair,
    held_out_loss,
    log_likelihoods,
    mask_each,
    mask_share,
    pair_accuracy,
    read_blimp,
)


def quiet(items, _text, _total):  # type: ignore[no-untyped-def]
    return items


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


def test_no_head_no_language_model(encoder_folder: Path) -> None:
    assert load_language_model(encoder_folder) is None


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


def test_masks_are_decided_by_the_seed_alone() -> None:
    special_tokens = SpecialTokens(2, 3, 0, 4)
    ids = [2, *range(10, 30), 3]
    masked, places = mask_share(ids, special_tokens, 0.15, seed=5)
    again, same = mask_share(ids, special_tokens, 0.15, seed=5)
    assert masked == again and torch.equal(places, same) and len(places) == 3
    assert [masked[p] for p in places.tolist()] == [4] * 3 and masked[0] == 2
    assert not torch.equal(places, mask_share(ids, special_tokens, 0.15, seed=6)[1])


def test_each_token_is_masked_once() -> None:
    special_tokens = SpecialTokens(2, 3, 0, 4)
    assert mask_each([2, 9, 8, 3], special_tokens) == [([2, 4, 8, 3], 1), ([2, 9, 4, 3], 2)]
    with pytest.raises(InputError, match="masked language model"):
        mask_each([2, 9, 3], SpecialTokens(2, 3, 0, None))


def write_blimp(folder: Path, packed: bool, pairs: int = 3) -> Path:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for paradigm in ("agreement", "islands"):
            lines = "".join(
                json.dumps(
                    {"UID": paradigm, "sentence_good": f"They rest {n}.", "sentence_bad": "They rests."}
                )
                + "\n"
                for n in range(pairs)
            ).encode()
            member = tarfile.TarInfo(f"data/{paradigm}.jsonl")
            member.size = len(lines)
            tar.addfile(member, io.BytesIO(lines))
        note = tarfile.TarInfo("data/README")
        tar.addfile(note, io.BytesIO())
    folder = folder / "qa" / "blimp"
    folder.mkdir(parents=True)
    path = folder / ("blimp_67x1000.jsonl.tar" + ".zst" * packed)
    path.write_bytes(zstandard.compress(archive.getvalue()) if packed else archive.getvalue())
    return path


@pytest.mark.parametrize("packed", [True, False])
def test_blimp_by_paradigm(packed: bool, tmp_path: Path) -> None:
    write_blimp(tmp_path, packed)
    assert len(read_blimp(tmp_path)) == 6
    pairs = read_blimp(tmp_path, 1)
    assert [p.paradigm for p in pairs] == ["agreement", "islands"]
    assert (pairs[0].good, pairs[0].bad) == ("They rest 0.", "They rests.")


def test_a_damaged_archive_is_named(tmp_path: Path) -> None:
    path = write_blimp(tmp_path, True)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(InputError, match="not BLiMP's archive"):
        read_blimp(tmp_path)
    with pytest.raises(InputError, match="blimp_67x1000"):
        read_blimp(tmp_path / "elsewhere")

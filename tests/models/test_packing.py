import json
from pathlib import Path

import pytest
import torch

from kgqa.answering.answerer import Answerer
from kgqa.models.fact_encoder import FactEncoder
from kgqa.models.opening import open_reader
from kgqa.models.packing import SCALE, is_packed, load_weights, unpacked
from kgqa.types import InputError, Passage, Question
from training import pack
from training.pack import packed, save_packed


def test_a_matrix_comes_back_within_half_a_step_of_its_row() -> None:
    torch.manual_seed(0)
    weight = torch.randn(64, 96) * torch.logspace(-3, 1, 64).unsqueeze(1)
    stored = packed({"weight": weight, "bias": torch.randn(64), "count": torch.tensor([3])})
    assert stored["weight"].dtype is torch.int8 and stored["weight" + SCALE].shape == (64,)
    assert stored["bias"].dtype is torch.float16 and stored["count"].dtype is torch.int64
    again = unpacked(stored)
    step = weight.abs().amax(1, keepdim=True) / 127
    assert ((again["weight"] - weight).abs() <= 0.51 * step).all()
    assert set(again) == {"weight", "bias", "count"}


def test_a_row_of_zeros_stays_zero() -> None:
    again = unpacked(packed({"weight": torch.zeros(64, 64)}))
    assert torch.equal(again["weight"], torch.zeros(64, 64))


def test_small_and_whole_weights_are_read_as_well() -> None:
    state = {"small": torch.randn(4, 4), "half": torch.randn(3).half()}
    again = unpacked(packed(state))
    assert torch.allclose(again["small"], state["small"], atol=1e-2) and again["half"].dtype is torch.float32
    with pytest.raises(KeyError):
        unpacked({"weight": torch.zeros(64, 64, dtype=torch.int8)})


def test_weights_in_8_bits_are_found_again_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack, "LARGEST", 80_000)
    state = {f"layer.{n}": torch.randn(128, 256) for n in range(5)} | {"bias": torch.randn(3)}
    save_packed(state, tmp_path, "model.safetensors")
    files = sorted(tmp_path.glob("*.safetensors"))
    assert len(files) == 3 and all(file.stat().st_size < 81_000 for file in files)
    assert is_packed(tmp_path, "model.safetensors") and not is_packed(tmp_path, "other.safetensors")
    again = load_weights(tmp_path, "model.safetensors")
    assert set(again) == set(state)
    assert all(torch.allclose(again[name], value, atol=0.05) for name, value in state.items())


def test_a_released_reader_answers_as_it_was_trained(
    model_folder: Path, tools_file: Path, tmp_path: Path
) -> None:
    pack.pack(model_folder, tmp_path / "packed")
    assert is_packed(tmp_path / "packed", "model.safetensors")
    question = Question("What did I dig with?", ("trowel", "excavator"), Passage("I plant flowers."))
    whole, small = (
        Answerer.load(str(folder), str(tools_file)).answer(question)
        for folder in (model_folder, tmp_path / "packed")
    )
    assert [c.score for c in small.candidates] == pytest.approx([c.score for c in whole.candidates], abs=0.02)
    assert FactEncoder.load(tmp_path / "packed").encode(["trowel"]).shape == (1, 32)


def test_weights_of_other_shapes_or_no_numbers_are_refused_in_one_line(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.torch import load_file, save_file

    monkeypatch.setattr(pack, "LEAST", 64)
    whole = load_file(model_folder / "model.safetensors")
    name = next(name for name, value in whole.items() if value.dim() == 2 and value.numel() >= pack.LEAST)
    stored = packed(whole)
    scale = stored[name + SCALE]
    for of, value in (
        (name + SCALE, scale * float("nan")),
        (name + SCALE, scale * float("inf")),
        (name + SCALE, scale[:1]),
        (name + SCALE, scale[0]),
        (name + SCALE, scale.unsqueeze(1)),
        (name, stored[name].flatten()),
        (name, whole[name] * float("nan")),
    ):
        save_file(stored | {of: value.clone()}, model_folder / "model.safetensors")
        index = {"metadata": {"bits": 8}, "weight_map": {name: "model.safetensors"}}
        card = json.loads((model_folder / "reader.json").read_text()) | {"checksums": {}}
        (model_folder / "reader.json").write_text(json.dumps(card))
        (model_folder / "model.safetensors.index.json").write_text(json.dumps(index))
        for load in (open_reader, FactEncoder.load):
            with pytest.raises(InputError) as caught:
                load(model_folder)
            assert "\n" not in str(caught.value)
    for index in (
        "[]",
        '{"metadata": null}',
        '{"metadata": {"bits": 8}, "weight_map": {"a": 1}}',
        "\0",
        "[" * 99_999,
    ):
        (model_folder / "model.safetensors.index.json").write_text(index)
        with pytest.raises(InputError):
            FactEncoder.load(model_folder)

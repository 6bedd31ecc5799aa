"""An adapted reader shares its weights with the reader that it belongs to, and begins as that reader."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from kgqa.models.adapters import (
    CHOICES,
    FORMS,
    LowRank,
    adapted,
    less,
    load_adapter,
    merge,
    save_adapter,
    trainable,
    with_adapter,
)
from kgqa.models.devices import Int8Linear, quantize_int8
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.types import InputError
from training import pack

OWN = (CHOICES,)


@pytest.fixture
def reader(encoder: nn.Module) -> Reader:
    return Reader(
        encoder, ReasonerSettings(name="text-only", graph_size=16, num_layers=1, num_heads=2)
    ).eval()


def draw(made: Reader, own: tuple[str, ...], std: float = 0.02) -> None:
    """Random weights of an adapter."""
    for value in trainable(made, own).values():
        value.data.normal_(std=std)


def test_little_is_its_own_and_it_begins_as_the_reader(reader: Reader) -> None:
    made = adapted(reader, 2, own=OWN)
    shared = {id(value) for value in reader.parameters()}
    own = [value for value in made.parameters() if id(value) not in shared]
    assert sorted(map(id, own)) == sorted(map(id, trainable(made, OWN).values()))
    assert all(value.requires_grad for value in own)
    ids = torch.tensor([[2, 5, 6, 3]])
    with torch.inference_mode():
        one, two = (model.encoder.eval()(input_ids=ids).last_hidden_state for model in (reader, made))
    assert torch.equal(one, two)
    assert not any(isinstance(module, LowRank) for module in reader.modules())


def test_it_is_stored_without_the_reader(reader: Reader, tmp_path: Path) -> None:
    made = adapted(reader, 2, own=OWN)
    draw(made, OWN, 1.0)
    save_adapter(made, tmp_path / FORMS, OWN)
    again = load_adapter(reader, tmp_path / FORMS, OWN)
    assert again is not None
    for name, value in trainable(made, OWN).items():
        assert torch.allclose(value, trainable(again, OWN)[name], atol=1e-2), name
    assert load_adapter(reader, tmp_path / "elsewhere" / FORMS, OWN) is None


def test_packed_in_eight_bits_it_is_read_as_before(
    reader: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pack, "LEAST", 64)
    made = adapted(reader, 8, own=OWN)
    draw(made, OWN)
    save_adapter(made, tmp_path / FORMS, OWN)
    pack.pack(tmp_path, tmp_path / "packed")
    stored = load_file(tmp_path / "packed" / FORMS)
    assert any(value.dtype is torch.int8 for value in stored.values())
    again = load_adapter(reader, tmp_path / "packed" / FORMS, OWN)
    assert again is not None
    for name, value in trainable(made, OWN).items():
        assert torch.allclose(value, trainable(again, OWN)[name], atol=1e-3), name


def test_a_damaged_one_is_told_in_a_line(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / FORMS).write_bytes(b"nothing")
    with pytest.raises(InputError, match="not an adapter of this reader") as output:
        load_adapter(reader, tmp_path / FORMS, OWN)
    assert "\n" not in str(output.value)


def test_layers_of_integers_are_rounded_once_for_both(reader: Reader, tmp_path: Path) -> None:
    made = adapted(reader, 2, own=OWN)
    draw(made, OWN)
    save_adapter(made, tmp_path / FORMS, OWN)
    ids = torch.tensor([[2, 5, 6, 3]])
    with torch.inference_mode():
        exact = made.encoder.eval()(input_ids=ids).last_hidden_state
        quantize_int8(reader.layerwise.encoder, lambda: reader.encoder(input_ids=ids))
        over = load_adapter(reader, tmp_path / FORMS, OWN)
        assert over is not None
        rounded = over.encoder(input_ids=ids).last_hidden_state
    packed = {id(layer) for layer in reader.modules() if isinstance(layer, Int8Linear)}
    assert packed and packed == {id(x) for x in over.encoder.modules() if isinstance(x, Int8Linear)}
    assert torch.allclose(rounded, exact, atol=0.1)


def test_only_the_first_layers_have_one(reader: Reader) -> None:
    first = adapted(reader, 2, slice(1))
    weights = trainable(first)
    assert weights and all(".layer.0." in name or ".layers.0." in name for name in weights)
    again = with_adapter(reader, {name: value.detach() for name, value in weights.items()})
    assert trainable(again).keys() == weights.keys()
    assert not trainable(with_adapter(reader, {}))


def test_merged_it_is_an_ordinary_reader(reader: Reader) -> None:
    made = adapted(reader, 2, slice(1, None), OWN)
    draw(made, OWN)
    ids = torch.tensor([[2, 5, 6, 3]])
    with torch.inference_mode():
        expected = made.encoder.eval()(input_ids=ids).last_hidden_state
    merge(reader, trainable(made, OWN))
    with torch.inference_mode():
        assert torch.allclose(reader.encoder(input_ids=ids).last_hidden_state, expected, atol=1e-5)
    assert torch.equal(reader.choice.text[0].weight, made.choice.text[0].weight)
    with pytest.raises(KeyError):
        merge(reader, {"elsewhere.weight": torch.zeros(2)})


def test_an_adapter_does_the_same_where_another_is_merged(reader: Reader) -> None:
    ids = torch.tensor([[2, 5, 6, 3]])
    first, second = adapted(reader, 2, slice(1)), adapted(reader, 3)
    draw(first, ())
    draw(second, ())
    stored, other = trainable(first), trainable(second)
    with torch.inference_mode():
        expected = first.encoder.eval()(input_ids=ids).last_hidden_state
        merge(reader, other)
        again = with_adapter(reader, less(stored, other))
        assert torch.allclose(again.encoder(input_ids=ids).last_hidden_state, expected, atol=1e-5)

from pathlib import Path
from shutil import copy

import torch

from kgqa.models.reader import save_reader
from kgqa.trainer.finetuning.reader import (
    PretrainedEncoderSettings,
    ReaderRecipe,
    begin_with,
    build,
    load_encoder,
)


def folder_of(encoder, tokenizer_folder: Path, folder: Path) -> Path:
    encoder.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        copy(tokenizer_folder / name, folder)
    return folder


def test_an_encoder_comes_without_dropout_or_with_frozen_words(
    encoder, tokenizer_folder: Path, tmp_path: Path
) -> None:
    folder = folder_of(encoder, tokenizer_folder, tmp_path / "encoder")
    found, source = load_encoder(
        PretrainedEncoderSettings(folder=str(folder), dropout=0.0, freeze_words=True)
    )
    assert source == folder and not found.get_input_embeddings().weight.requires_grad
    assert all(module.p == 0 for module in found.modules() if isinstance(module, torch.nn.Dropout))
    fresh, _ = load_encoder(PretrainedEncoderSettings(folder=str(folder), from_scratch=True))
    assert not torch.equal(fresh.get_input_embeddings().weight, found.get_input_embeddings().weight)


def test_a_reader_goes_on_from_an_earlier_one(encoder, tokenizer_folder: Path, tmp_path: Path) -> None:
    folder = folder_of(encoder, tokenizer_folder, tmp_path / "encoder")
    recipe = ReaderRecipe.model_validate(
        {
            "encoder": {"folder": str(folder)},
            "reasoner": {"name": "fused", "graph_size": 16, "num_layers": 1, "num_heads": 2},
            "data": [{"name": "synthetic-graphs"}],
        }
    )
    earlier, _, source = build(recipe)
    with torch.no_grad():
        for weights in earlier.parameters():
            weights.add_(0.5)
    save_reader(earlier, source, tmp_path / "earlier", {"name": "earlier", "recipe": {}})
    later, _, _ = build(
        recipe.model_copy(update={"encoder": PretrainedEncoderSettings(folder=str(tmp_path / "earlier"))})
    )
    ours, theirs = later.state_dict(), earlier.state_dict()
    assert all(
        torch.allclose(ours[n].float(), theirs[n].float(), atol=1e-2) for n in ours if n.startswith("span.")
    )
    other, _, _ = build(recipe)
    begin_with(other, earlier)
    begun = other.state_dict()
    assert all(torch.equal(begun[name], theirs[name]) for name in begun if name.startswith("span."))

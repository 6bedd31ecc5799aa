from pathlib import Path

import pytest

from kgqa.cli.pretrain import pretrain
from kgqa.types import InputError

RECIPE = """
name = "toy"
[encoder]
hidden_size = 16
num_hidden_layers = 1
num_attention_heads = 1
intermediate_size = 16
[tokenizer]
vocab_size = 320
[data]
folder = "{folder}"
held_out = 0.0
sequence_tokens = 16
batch_rows = 4
[data.sources]
text = 1.0
[trainer]
max_steps = 2
"""


def test_a_recipe_becomes_an_encoder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text(
        "\n\n".join(f"Day {n} was fine. We dug the garden." for n in range(900))
    )
    (tmp_path / "toy.toml").write_text(RECIPE.format(folder=tmp_path))
    pretrain(tmp_path / "toy.toml", ["trainer.max_steps=3"], tmp_path / "run")
    assert (tmp_path / "run" / "export" / "model.safetensors").exists()
    assert "done: 3 steps" in capsys.readouterr().out


def test_one_of_several_processes_speaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kgqa.trainer.pretraining import encoder as pretraining

    done = pretraining.TrainResult(tmp_path, 1, 1, 0.0, 1.0)
    monkeypatch.setattr(pretraining, "run_recipe", lambda *_: done)
    (tmp_path / "toy.toml").write_text(RECIPE.format(folder=tmp_path))
    for rank, said in (("1", ""), ("0", "done: 1 steps")):
        monkeypatch.setenv("RANK", rank)
        pretrain(tmp_path / "toy.toml", [], tmp_path / "run")
        out = capsys.readouterr().out
        assert out.startswith(said) and bool(out) == bool(said)


def test_unknown_keys_are_named(tmp_path: Path) -> None:
    (tmp_path / "toy.toml").write_text(RECIPE.format(folder=tmp_path))
    with pytest.raises(InputError, match="did you mean 'variant'"):
        pretrain(tmp_path / "toy.toml", ["encoder.varient=bert"], tmp_path / "run")

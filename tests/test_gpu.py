"""Training on a lent machine: parcels there, weights back, and a clock in between."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import fields
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from kgqa.models.reader import load_reader
from kgqa.trainer import loop
from kgqa.trainer.data import collated
from kgqa.trainer.finetuning.reader import PretrainedEncoderSettings, load_encoder
from training import gpu

ROWS = [
    {
        "question": "What did I dig with?",
        "passage": "I plant flowers.",
        "answers": ["trowel"],
        "source": "knowledge",
    },
    {"question": "What do I plant?", "passage": "I plant flowers.", "answers": ["flowers"]},
    {"question": "What did she dig?", "answers": ["foundation"], "choices": ["trowel", "foundation"]},
]
CODE = ("kgqa/renamed.py", "training/gpu.py")
"""Of the checkout as little as shows that it travels: these tests import their own."""


@pytest.fixture(autouse=True)
def beside_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "CODE", CODE)
    monkeypatch.syspath_prepend(gpu.ROOT / "training")


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Runs a command as it is typed; the working directory and the path of modules are as before afterwards."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*words: object) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["gpu.py", *map(str, words)])
            patch.setattr(sys, "path", [*sys.path])
            patch.chdir(os.getcwd())
            gpu.main()

    return run


@pytest.fixture
def recipe(tmp_path: Path, model_folder: Path, tools_file: Path) -> Path:
    questions = tmp_path / "own.jsonl"
    questions.write_text("".join(json.dumps(row) + "\n" for row in ROWS * 4))
    path = tmp_path / "toy.toml"
    path.write_text(
        f"""
        name = "toy"
        input = {{max_nodes = 16, packed = true, facts = 1}}
        encoder = {{folder = "{model_folder}"}}
        reasoner = {{name = "fused", graph_size = 16, num_layers = 2, num_heads = 2}}
        data = [{{name = "{questions}", graph = "{tools_file}", batch_questions = 3}}]
        trainer = {{max_steps = 5, log_every_steps = 1, schedule = "linear", precision = "fp32"}}
        """
    )
    return path


def test_a_batch_is_stored_exactly(
    recipe: Path, command: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "parcels"
    kept = []
    save = collated.save_batch
    monkeypatch.setattr(collated, "save_batch", lambda *given: (kept.append(given[0]), save(*given)))
    command("prepare", recipe, "--out", out, "--tokens", 300, "--times", 2, "--python", "")
    (folder,) = out.glob("batches-*")
    stored = [collated.load_batch(path) for path in sorted(folder.iterdir())]
    assert len(stored) == len(kept) > 1 and stored[0].num_questions == 6
    for ours, given in zip(stored, kept, strict=True):
        for part in ("tokens", "graph", "gold", "packed"):
            for item in fields(getattr(ours, part)):
                mine, other = (getattr(getattr(batch, part), item.name) for batch in (ours, given))
                if other is not None:
                    assert mine.dtype == other.dtype
                    torch.testing.assert_close(mine, other, atol=1e-3, rtol=1e-3)
    made = len(kept)
    command("prepare", recipe, "--out", out, "--tokens", 300, "--times", 2, "--python", "")
    assert len(kept) == made, "batches that are there are not collated again"


def test_there_and_back(
    recipe: Path,
    model_folder: Path,
    command: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(gpu, "PARCEL", 24_000)
    monkeypatch.setattr(gpu, "PART", 20_000)
    parcels, machine, parts = tmp_path / "parcels", tmp_path / "machine", tmp_path / "parts"
    command("prepare", recipe, "--out", parcels, "--tokens", 200, "--times", 1, "--python", "")
    sums = json.loads((parcels / "manifest.json").read_text())
    assert len(sums) > 1 and all((parcels / name).stat().st_size <= 24_000 for name in sums)
    for path in (recipe, tmp_path / "own.jsonl", model_folder / "config.json"):
        path.unlink()  # the other machine has none of it

    arriving = tmp_path / "arriving"
    arriving.mkdir()
    (arriving / "manifest.json").write_bytes((parcels / "manifest.json").read_bytes())
    to_train = ("train", arriving, "--work", machine, "--out", parts, "--reserve", 10)
    for number, name in enumerate(sums, start=1):
        whole = (parcels / name).read_bytes()
        if number == 1:
            (arriving / name).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
            with pytest.raises(SystemExit, match="wrong SHA-256"):
                command(*to_train, "--left", 10)
        (arriving / name).write_bytes(whole)
        if number < len(sums):
            command(*to_train, "--left", 10)
            assert f"{number} of {len(sums)} parcels are here" in capsys.readouterr().out
            (arriving / name).unlink()
    with pytest.raises(SystemExit, match="no time to train"):
        command(*to_train, "--left", 10)
    ticks = count()  # a clock that goes on by a second whenever the training looks at it
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))
    command(*to_train, "--left", 100)
    (state,) = machine.glob("*/run/latest-*/state.json")
    first = json.loads(state.read_text())
    command(*to_train, "--left", 100)
    capsys.readouterr()
    (log,) = machine.glob("*/run/log.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines[-1]["step"] > first["step"] > 0, "it resumes"
    assert lines[-1]["rate"] < 0.1 < 0.4 < lines[first["step"]]["rate"], (
        "the rate falls to the end of the clock"
    )
    assert first["seconds"] <= 100 and lines[-1]["minutes"] <= 200 / 60, "it stops by itself"

    with pytest.raises(SystemExit, match="part-5: is missing; it comes home with --part 5"):
        command("home", parts, "--to", tmp_path / "home")
    pieces = len(json.loads((parts / "manifest.json").read_text()))
    for part in range(1 + gpu.PARTS, pieces + 1, gpu.PARTS):
        command(*to_train, "--left", 0, "--part", part)
    command("home", parts, "--to", tmp_path / "home")
    assert f"after step {lines[-1]['step']}" in capsys.readouterr().out
    trained = load_reader(tmp_path / "home")[0].state_dict()
    (export,) = machine.glob("*/run/export")
    expected = load_reader(export)[0].state_dict()
    for name, value in expected.items():
        torch.testing.assert_close(trained[name], value, atol=0.02, rtol=0.02, msg=name)


def test_an_encoder_is_pretrained_there(
    command: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import AutoModel

    (tmp_path / "days.txt").write_text(
        "\n\n".join(f"They rest on day {n}.\nThe cook digs." for n in range(300))
    )
    recipe = tmp_path / "toy.toml"
    recipe.write_text(
        f"""
        encoder = {{hidden_size = 32, num_hidden_layers = 1, num_attention_heads = 2, intermediate_size = 64}}
        tokenizer = {{vocab_size = 320}}
        data = {{folder = "{tmp_path}", sources = {{days = 1.0}}, sequence_tokens = 16, held_out = 0.0}}
        objective = {{name = "rtd"}}
        trainer = {{max_tokens = 1000, log_every_steps = 1, precision = "fp32"}}
        """
    )
    parcels, parts, model = (tmp_path / name for name in ("parcels", "parts", "model"))
    command("prepare", recipe, "--out", parcels, "--python", "")
    (tmp_path / "days.txt").unlink()
    ticks = count()
    clock = SimpleNamespace(monotonic=lambda: float(next(ticks)), perf_counter=time.perf_counter)
    monkeypatch.setattr(loop, "time", clock)
    monkeypatch.setattr(loop, "matrix_rate", lambda *_: 1e9)
    to_train = ("--work", tmp_path / "machine", "--out", parts)
    command("train", parcels, "--began", time.time() - 30, "--clock", 200, "--reserve", 100, *to_train)
    command("home", parts, "--to", model)
    assert torch.isfinite(AutoModel.from_pretrained(model).get_input_embeddings().weight).all()
    assert (model / "tokenizer.json").is_file() and (model / "generator" / "model.safetensors").is_file()


def test_an_encoder_with_a_head_travels(encoder, tokenizer_folder: Path, tmp_path: Path) -> None:
    from transformers import ElectraForMaskedLM

    head = ElectraForMaskedLM(encoder.config)
    head.electra = encoder
    head.save_pretrained(tmp_path / "mlm")
    gpu.shrink(tmp_path / "mlm", tmp_path / "start")
    (tmp_path / "start" / "tokenizer.json").write_bytes((tokenizer_folder / "tokenizer.json").read_bytes())
    loaded, _ = load_encoder(PretrainedEncoderSettings(folder=str(tmp_path / "start")))
    for name, value in loaded.state_dict().items():
        torch.testing.assert_close(value, encoder.state_dict()[name], atol=1e-3, rtol=1e-3)


def test_what_does_not_travel_is_refused(recipe: Path, command: Callable[..., None], tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="held_out: does not travel"):
        command("prepare", recipe, "held_out=0.2", "--out", tmp_path / "parcels")
    with pytest.raises(SystemExit, match=r"manifest\.json: No such file"):
        command("train", tmp_path, "--left", 100)

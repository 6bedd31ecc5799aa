import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import AutoModel, ElectraConfig, ElectraModel

from kgqa.models.dense_retrieval import FactEncoder
from kgqa.models.encoders.variants import EncoderSettings, configure
from kgqa.models.fact_map import FactMap, load_map, save_map
from kgqa.models.load import open_reader
from kgqa.models.pretrained import (
    BLOCK,
    CARD,
    FACT_ENCODER_CARD,
    SCALE,
    check_sums,
    checksum,
    is_packed,
    load_config,
    load_pretrained,
    load_weights,
    unpacked,
    write_card,
)
from kgqa.models.reader import load_reader
from kgqa.qa.answerer import Answerer
from kgqa.settings import FACT_ENCODER, MODELS, shipped_readers
from kgqa.types import InputError, Passage, Question
from training import pack
from training.pack import packed, save_packed

ROOT = Path(__file__).parents[2]
CODE = "raise SystemExit('the folder ran its code')"


def test_every_model_is_loaded_here_and_nowhere_else() -> None:
    for path in [*(ROOT / "kgqa").rglob("*.py"), *(ROOT / "apps").rglob("*.py")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        if path.name != "pretrained.py":
            assert not names & {"from_pretrained"}, path
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert not called & {"torch.load", "pickle.load", "pickle.loads", "joblib.load", "eval", "exec"}, path


def multilingual_reader(folder: Path, **more: object) -> Path:
    """An encoder whose configuration names code that lies beside it."""
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 16}
    ElectraModel(ElectraConfig(vocab_size=20, embedding_size=16, **sizes)).save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    auto = {"AutoConfig": "own.OwnConfig", "AutoModel": "own.OwnModel"}
    (folder / "config.json").write_text(json.dumps({**config, "auto_map": auto, **more}))
    (folder / "custom_graph.py").write_text(CODE)
    return folder


def test_code_of_a_folder_is_neither_run_nor_asked_about(tmp_path: Path) -> None:
    known, unknown = (
        multilingual_reader(tmp_path / "known"),
        multilingual_reader(tmp_path / "unknown", model_type="own"),
    )
    assert type(load_pretrained(AutoModel, known)) is ElectraModel
    for load in (load_config, lambda folder: load_pretrained(AutoModel, folder)):
        with pytest.raises(ValueError, match="custom code"):
            load(unknown)


FETCHED = {
    "_attn_implementation": "kernels-community/flash-attn",
    "attn_implementation": "kernels-community/flash-attn",
    "_attn_implementation_internal": "kernels-community/flash-attn",
    "experts_implementation": "x",
    "quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True},
    "compression_config": {"quant_method": "x"},
    "per_layer_config": {"0": {"hidden_size": 8}},
    "backbone": "someone/something",
    "backbone_config": {"model_type": "bert"},
    "name_or_path": "someone/something",
    "dtype": "hub",
    "hidden_act": {"a": 1},
}


def test_what_a_configuration_would_have_fetched_or_run_is_left_out(tmp_path: Path) -> None:
    folder = multilingual_reader(
        tmp_path, **FETCHED, num_hidden_layers=1, id2label={"0": "no", "1": "yes", "2": "so"}
    )
    config = load_config(folder)
    plain = ElectraConfig()
    assert (config.hidden_size, config.num_labels, config.hidden_act) == (16, 3, plain.hidden_act)
    assert config._attn_implementation in (None, plain._attn_implementation)
    assert not hasattr(config, "quantization_config") and not hasattr(config, "backbone")
    assert type(load_pretrained(AutoModel, folder)) is ElectraModel


def test_what_deberta_reads_undeclared_is_kept(tmp_path: Path) -> None:
    configure(EncoderSettings(variant="deberta-v3"), 60).save_pretrained(tmp_path)
    config = load_config(tmp_path)
    assert (config.norm_rel_ebd, config.position_buckets, config.share_att_key) == ("layer_norm", 256, True)


def test_an_adapter_is_no_whole_model(tmp_path: Path) -> None:
    folder = multilingual_reader(tmp_path)
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "someone/something"}')
    with pytest.raises(InputError, match="adapter"):
        load_pretrained(AutoModel, folder)


@pytest.mark.parametrize(
    "name", ["reader.json", "config.json", "model.safetensors", "tokenizer.json", "own.txt"]
)
@pytest.mark.parametrize("kind", ["pipe", "device", "link"])
def test_what_is_no_file_is_not_read_without_end(name: str, kind: str, tmp_path: Path) -> None:
    for path in (MODELS / "kgqa-small").iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / name).unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(tmp_path / name)
    else:
        (tmp_path / name).symlink_to("/dev/zero" if kind == "device" else tmp_path / "nowhere")
    for load in (load_reader, load_config, lambda folder: load_pretrained(AutoModel, folder)):
        with pytest.raises(InputError, match=f"{name}: not a regular file; copy the model again"):
            load(tmp_path)


def test_a_reader_with_code_of_its_own_is_refused_in_one_line(tmp_path: Path) -> None:
    shutil.copytree(MODELS / "kgqa-small", tmp_path / "reader")
    card = json.loads((tmp_path / "reader" / "reader.json").read_text())
    multilingual_reader(tmp_path / "reader", model_type="own")
    write_card(tmp_path / "reader", card)
    command = [sys.executable, "-m", "kgqa", "ask", "Why?", "--model", str(tmp_path / "reader")]
    done = subprocess.run(command, input="y\n", capture_output=True, text=True)
    assert done.returncode == 2 and "ran its code" not in done.stderr + done.stdout
    assert done.stderr.strip().startswith("kgqa: ") and len(done.stderr.strip().splitlines()) == 1


def test_pickled_weights_are_not_read(tmp_path: Path) -> None:
    multilingual_reader(tmp_path)
    state = load_pretrained(AutoModel, tmp_path).state_dict()
    (tmp_path / "model.safetensors").unlink()
    torch.save(state, tmp_path / "pytorch_model.bin")
    with pytest.raises(InputError, match="safetensors"):
        load_pretrained(AutoModel, tmp_path)


READ = [
    pytest.param(folder, path.name, id=f"{folder.name}-{path.name}")
    for folder in [*shipped_readers(), MODELS / FACT_ENCODER]
    for path in sorted(folder.iterdir())
    if path.name not in (CARD, FACT_ENCODER_CARD)
]


@pytest.mark.parametrize(("folder", "name"), READ)
def test_a_flipped_bit_of_a_shipped_model_is_noticed(folder: Path, name: str, tmp_path: Path) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / name).unlink()
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{name}: damaged"):
        (load_reader if (tmp_path / CARD).exists() else FactEncoder.load)(tmp_path)


def test_a_card_holds_the_sums_of_all_that_is_read(tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "entities.safetensors", "notes.txt", ".config.json"):
        (tmp_path / name).write_text(name)
    write_card(tmp_path, {"format": 1})
    card = json.loads((tmp_path / "reader.json").read_text())
    assert set(card["checksums"]) == {"config.json", "tokenizer.json", "entities.safetensors"}
    assert card["checksums"]["config.json"] == checksum(tmp_path / "config.json")
    check_sums(tmp_path, card)
    check_sums(tmp_path, {})
    for broken in ({"checksums": 1}, {"checksums": {"none.json": "0"}}, {"checksums": {"config.json": "0"}}):
        with pytest.raises(InputError):
            check_sums(tmp_path, broken)


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
    save_map(FactMap(torch.ones(33, 4), "space", 1), model_folder)
    pack.pack(model_folder, tmp_path / "packed")
    assert is_packed(tmp_path / "packed", "model.safetensors")
    assert load_map(tmp_path / "packed") is not None
    with pytest.raises(SystemExit, match="another folder"):
        pack.pack(model_folder, model_folder)
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


def in_blocks(rows: int = 3) -> torch.Tensor:
    """A matrix as its numbers come out of blocks of 4 bits, each with its largest at -8; one block is zeros."""
    draw = torch.Generator().manual_seed(3)
    whole = torch.randint(-7, 8, (rows, 2, BLOCK), generator=draw)
    whole[:, :, 5] = -8
    scale = (torch.rand(rows, 2, 1, generator=draw) - 0.5).half().float()
    scale[1, 1] = 0
    return (whole * scale).flatten(1)


def test_words_that_came_in_4_bits_stay_so_without_loss() -> None:
    name, exact = "embeddings.word_embeddings.weight", in_blocks()
    for matrix in (exact, exact.half().float()):  # a checkpoint is written in half precision
        stored = packed({name: matrix})
        assert stored[name].dtype is torch.uint8 and stored[name].shape == (3, BLOCK)
        assert torch.equal(unpacked(stored)[name], exact)
    with pytest.raises(ValueError, match="another shape"):
        unpacked({**stored, name + SCALE: stored[name + SCALE][:, :1]})


def test_words_that_were_trained_are_not_cut_to_4_bits() -> None:
    name = "embeddings.word_embeddings.weight"
    assert packed({name: in_blocks(200) + 0.01})[name].dtype is torch.int8
    assert packed({"other.weight": in_blocks(200)})["other.weight"].dtype is torch.int8

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import AutoModel, ElectraConfig, ElectraModel

from kgqa.assets import MODELS, shipped_readers
from kgqa.models.pretrained import check_sums, checksum, load_config, load_pretrained, write_card
from kgqa.models.reader import load_reader
from kgqa.types import InputError

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


def foreign(folder: Path, **more: object) -> Path:
    """An encoder whose configuration names code that lies beside it."""
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 16}
    ElectraModel(ElectraConfig(vocab_size=20, embedding_size=16, **sizes)).save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    auto = {"AutoConfig": "own.OwnConfig", "AutoModel": "own.OwnModel"}
    (folder / "config.json").write_text(json.dumps({**config, "auto_map": auto, **more}))
    (folder / "own.py").write_text(CODE)
    return folder


def test_code_of_a_folder_is_neither_run_nor_asked_about(tmp_path: Path) -> None:
    known, unknown = foreign(tmp_path / "known"), foreign(tmp_path / "unknown", model_type="own")
    assert type(load_pretrained(AutoModel, known)) is ElectraModel
    for load in (load_config, lambda folder: load_pretrained(AutoModel, folder)):
        with pytest.raises(ValueError, match="custom code"):
            load(unknown)


def test_a_reader_with_code_of_its_own_is_refused_in_one_line(tmp_path: Path) -> None:
    shutil.copytree(MODELS / "kgqa-everyday", tmp_path / "reader")
    card = json.loads((tmp_path / "reader" / "reader.json").read_text())
    foreign(tmp_path / "reader", model_type="own")
    write_card(tmp_path / "reader", card)
    command = [sys.executable, "-m", "kgqa", "ask", "Why?", "--model", str(tmp_path / "reader")]
    done = subprocess.run(command, input="y\n", capture_output=True, text=True)
    assert done.returncode == 2 and "ran its code" not in done.stderr + done.stdout
    assert done.stderr.strip().startswith("kgqa: ") and len(done.stderr.strip().splitlines()) == 1


def test_pickled_weights_are_not_read(tmp_path: Path) -> None:
    foreign(tmp_path)
    state = load_pretrained(AutoModel, tmp_path).state_dict()
    (tmp_path / "model.safetensors").unlink()
    torch.save(state, tmp_path / "pytorch_model.bin")
    with pytest.raises(InputError, match="safetensors"):
        load_pretrained(AutoModel, tmp_path)


READ = [
    pytest.param(folder, path.name, id=f"{folder.name}-{path.name}")
    for folder in shipped_readers()
    for path in sorted(folder.iterdir())
    if path.name != "reader.json"
]


@pytest.mark.parametrize(("folder", "name"), READ)
def test_a_flipped_bit_of_a_shipped_reader_is_noticed(folder: Path, name: str, tmp_path: Path) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / name).unlink()
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{name}: damaged"):
        load_reader(tmp_path)


def test_a_card_holds_the_sums_of_all_that_is_read(tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "words.safetensors", "notes.txt", ".config.json"):
        (tmp_path / name).write_text(name)
    write_card(tmp_path, {"format": 1})
    card = json.loads((tmp_path / "reader.json").read_text())
    assert set(card["checksums"]) == {"config.json", "tokenizer.json", "words.safetensors"}
    assert card["checksums"]["config.json"] == checksum(tmp_path / "config.json")
    check_sums(tmp_path, card)
    check_sums(tmp_path, {})
    for broken in ({"checksums": 1}, {"checksums": {"none.json": "0"}}, {"checksums": {"config.json": "0"}}):
        with pytest.raises(InputError):
            check_sums(tmp_path, broken)

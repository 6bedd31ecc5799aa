import json
import shutil
from pathlib import Path

import pytest

from kgqa.assets import RECIPES
from kgqa.cli.evaluation.evaluating import compare_rows, evaluate_task, probe_encoder
from kgqa.evaluation import probing
from kgqa.types import InputError


def test_evaluate_prints_figures(model_folder, tools_file, tmp_path, capsys) -> None:
    row = {
        "id": "1",
        "question": "What?",
        "passage": "I plant flowers.",
        "answers": ["trowel"],
        "source": "knowledge",
    }
    data = tmp_path / "own.jsonl"
    data.write_text(2 * (json.dumps(row) + "\n"), encoding="utf-8")
    evaluate_task("own", data, str(tools_file), str(model_folder), as_json=True)
    figures = json.loads(capsys.readouterr().out)
    assert figures["questions"] == 2 and 0 <= figures["hits@1"] <= 1
    evaluate_task("own", data, str(tools_file), str(model_folder), as_json=True, ablation="no-facts")
    without = json.loads(capsys.readouterr().out)
    assert without["whole_exact_match"] == figures["exact_match"] == without["exact_match"] + without["gain"]
    assert without["knowledge_gain_error"] == 0
    with pytest.raises(InputError, match="no such ablation; write one of none, shuffled"):
        evaluate_task("own", data, str(tools_file), str(model_folder), as_json=True, ablation="mixed")


def test_calibration_is_stored_with_the_reader(model_folder, tools_file, tmp_path, capsys) -> None:
    copy = tmp_path / "calibrated"
    shutil.copytree(model_folder, copy)
    data = tmp_path / "q.jsonl"
    rows = [{"id": str(i), "question": "What did I dig with?", "answers": ["trowel"]} for i in range(40)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    evaluate_task("own", data, str(tools_file), str(copy), as_json=True, calibrate=True)
    assert json.loads((copy / "reader.json").read_text(encoding="utf-8"))["decision"]
    assert "decision" not in json.loads((model_folder / "reader.json").read_text(encoding="utf-8"))


def test_an_unknown_row_is_named_with_its_neighbour(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'qagnn'"):
        compare_rows(RECIPES / "compare" / "everyday.toml", [], "fused; qagn", 1, None, tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_row_is_printed_or_its_figures(
    tmp_path: Path, encoder, tokenizer_folder: Path, monkeypatch, capsys
) -> None:  # type: ignore[no-untyped-def]
    encoder.save_pretrained(tmp_path / "toy")
    (tmp_path / "toy" / "tokenizer.json").write_bytes((tokenizer_folder / "tokenizer.json").read_bytes())
    (tmp_path / "text").mkdir()
    monkeypatch.setattr(probing, "HELD_OUT", ())
    monkeypatch.setenv("KGQA_DATA", str(tmp_path))
    settings = (None, None, 1, 100, False, 0.0)
    probe_encoder(str(tmp_path / "toy"), "heldout", *settings, False, "", tmp_path / "kept")
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == probing.HEAD and shown[2].startswith("| toy | - |"), "no head, no loss"
    probe_encoder(str(tmp_path / "toy"), "heldout", *settings, True, "mine", tmp_path / "kept")
    told = json.loads(capsys.readouterr().out)
    assert told == {"by": "mine", "seeds": 1}


def test_bad_input_is_named_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_DATA", str(tmp_path))
    settings = (None, None, 1, 100, False, 0.0, False, "", tmp_path / "kept")
    with pytest.raises(InputError, match="no encoder here"):
        probe_encoder(str(tmp_path / "none"), "rte", *settings)
    with pytest.raises(InputError, match="unknown probe"):
        probe_encoder("kgqa-mini", "everything", *settings)
    with pytest.raises(InputError, match="RTE"):
        probe_encoder("kgqa-mini", "rte", *settings)
    assert not (tmp_path / "kept").exists()

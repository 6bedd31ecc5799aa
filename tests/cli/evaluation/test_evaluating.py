import json
import shutil

import pytest

from kgqa.cli.evaluation.evaluating import evaluate_task
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

import json
import shutil

import pytest

from kgqa.cli.evaluate import evaluate_task
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


def test_near_duplicates_of_what_was_trained_on_are_told_apart(
    model_folder, tools_file, tmp_path, capsys
) -> None:  # type: ignore[no-untyped-def]
    def row(passage: str, answer: str) -> str:
        return json.dumps({"question": "What did I do?", "passage": passage, "answers": [answer]}) + "\n"

    asked, trained = tmp_path / "asked.jsonl", tmp_path / "trained.jsonl"
    asked.write_text(row("I planted flowers in the garden.", "planted") + row("I calmed bees.", "calmed"))
    trained.write_text(row("I planted a flower in the garden.", "planted") + row("I dug the ground.", "dug"))

    def figures(*names: str) -> dict[str, float]:
        evaluate_task(
            "own", asked, str(tools_file), str(model_folder), as_json=True, near_duplicates=[*names]
        )
        return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]

    reported = figures(str(trained))
    assert reported["near_duplicates"] == 1
    both = (reported["exact_match_near"] + reported["exact_match_far"]) / 2
    assert both == reported["exact_match"] and "near_duplicates" not in figures()

    card = json.loads((model_folder / "reader.json").read_text())
    names = [str(trained), "worlds", "gone.jsonl"]
    card["recipe"] = {**card.get("recipe", {}), "data": [{"name": name} for name in names]}
    (model_folder / "reader.json").write_text(json.dumps(card))
    evaluate_task(
        "own", asked, str(tools_file), str(model_folder), as_json=True, near_duplicates=["training"]
    )
    out, err = capsys.readouterr()
    assert json.loads(out)["near_duplicates"] == 1 and "not available here: gone.jsonl" in err
    with pytest.raises(InputError, match="no such file"):
        figures("gone.jsonl")
    (tmp_path / "gpt").mkdir()
    gpt = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}
    (tmp_path / "gpt" / "config.json").write_text(json.dumps(gpt))
    with pytest.raises(InputError, match="leave out --near-duplicates"):
        evaluate_task("own", asked, model=str(tmp_path / "gpt"), near_duplicates=[str(trained)])


def test_calibration_is_stored_with_the_reader(model_folder, tools_file, tmp_path, capsys) -> None:
    copy = tmp_path / "calibrated"
    shutil.copytree(model_folder, copy)
    data = tmp_path / "q.jsonl"
    rows = [{"id": str(i), "question": "What did I dig with?", "answers": ["trowel"]} for i in range(40)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    evaluate_task("own", data, str(tools_file), str(copy), as_json=True, calibrate=True)
    assert json.loads((copy / "reader.json").read_text(encoding="utf-8"))["decision"]
    assert "decision" not in json.loads((model_folder / "reader.json").read_text(encoding="utf-8"))


def test_own_questions_are_named_by_data() -> None:
    with pytest.raises(InputError, match="own: give your questions with answers by --data FILE"):
        evaluate_task("own")

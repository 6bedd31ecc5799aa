"""`kgqa suite graphs` and `edits` on a small folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgqa.types import InputError
from training.experiments.suite import evaluate_edits, evaluate_graphs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.tsv").write_text("head\trelation\ttail\ntrowel\tused for\tdigging\n", encoding="utf-8")
    question = {
        "id": "1",
        "question": "What is the trowel used for?",
        "kind": "one-hop",
        "answers": ["digging"],
    }
    edit = {**question, "graph": "tools.tsv", "add": [["trowel", "used for", "planting"]]}
    edit |= {"remove": [["trowel", "used for", "digging"]], "before": ["digging"], "after": ["planting"]}
    (tmp_path / "tools.jsonl").write_text(json.dumps(question) + "\n", encoding="utf-8")
    (tmp_path / "edits.jsonl").write_text(json.dumps(edit) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("sparql", [False, True])
def test_the_table_has_reader_and_rivals(folder: Path, model_folder: Path, capsys, sparql: bool) -> None:
    evaluate_graphs(folder, str(model_folder), False, sparql, None)
    shown = capsys.readouterr().out
    assert "one-hop" in shown
    assert "tools.tsv" in shown
    evaluate_graphs(folder, str(model_folder), True, sparql, 1)
    reported = json.loads(capsys.readouterr().out)
    results = reported["results"]
    assert reported["all"] == reported["one-hop"] == float(results[0]["right"]) and reported["questions"] == 1
    assert [row["system"] for row in results] == ["reader", "word stems", "letter runs"]
    assert results[1]["right"]


def test_facts_can_be_taken_away(folder: Path, model_folder: Path, capsys) -> None:
    evaluate_graphs(folder, str(model_folder), True, False, None, "cpu", "no-facts")
    reported = json.loads(capsys.readouterr().out)
    assert reported["ablation"] == "no-facts" and len(reported["results"]) == 3
    with pytest.raises(InputError, match="ablation"):
        evaluate_graphs(folder, str(model_folder), True, False, None, "cpu", "none-such")


def test_edits_are_asked_before_and_after(folder: Path, model_folder: Path, capsys) -> None:
    evaluate_edits(folder, str(model_folder), False)
    assert "correct after the edit: " in capsys.readouterr().out
    evaluate_edits(folder, str(model_folder), True)
    reported = json.loads(capsys.readouterr().out)
    (row,) = reported["results"]
    assert reported["all"] == float(row["right"])
    assert row["expected"] == ["planting"]

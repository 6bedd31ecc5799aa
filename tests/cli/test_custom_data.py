"""`kgqa train --data`: what is told on the way, and the last line."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from kgqa.cli.train import train_recipe
from kgqa.types import InputError


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "mine.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["question", "passage", "choices", "answer"])
        for n in range(40):
            out.writerow([f"What did {n} dig with?", "", "trowel|excavator", "trowel"])
    return path


def test_a_table_of_questions_trains_a_reader_and_tells_before_and_after(
    table: Path, model_folder: Path, tools_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"data": table, "graph": str(tools_file), "model": str(model_folder), "out": tmp_path / "run"}
    train_recipe(Path("trainer.max_steps=3"), ["trainer.precision=fp32"], **given)  # type: ignore[arg-type]
    output = capsys.readouterr()
    assert re.search(
        r"40 rows read \(choice 40\); \d+ are held out, \d+ train model over the graph .*for 3 steps",
        output.err,
    )
    assert "before: " in output.err and re.search(r"step 1, 33%: ", output.err)
    last = output.out.strip().splitlines()[-1]
    assert re.fullmatch(r"before \d+ %, after \d+ % on \d+ held-out rows", last)
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["rows"] + report["held_out"] == 40 and 0 <= report["after"] <= 1
    assert (tmp_path / "run" / "export" / "reader.json").exists()


def test_what_does_not_go_together_is_refused_in_a_line(table: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    for given, output in (
        ({"recipe": recipe, "data": table}, "sets its data itself"),
        ({"recipe": Path("trainer.max_steps"), "data": table}, "write KEY=VALUE"),
        ({"data": table, "graph": "evryday"}, "did you mean 'everyday'?"),
        ({"data": table, "seeds": 2}, "--seeds is for a recipe"),
        ({"recipe": recipe, "minutes": 2.0}, "--minutes is for --data"),
        ({"recipe": recipe, "graph": "x"}, "--graph is for --data"),
        ({}, "give a recipe, or your questions with --data FILE"),
        ({"recipe": table}, f"write kgqa train --data {table}"),
        ({"data": tmp_path / "none.csv"}, "no such file"),
    ):
        with pytest.raises(InputError, match=re.escape(output)):
            train_recipe(**given)  # type: ignore[arg-type]

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kgqa.cli.predict import PredictionRun, predict_file
from kgqa.types import InputError


def test_two_ray_workers_write_the_file_of_one_process_and_go_on_with_it(
    model_folder: Path, tools_file: Path, tmp_path: Path
) -> None:
    pytest.importorskip("ray", reason="the extra [cluster] is not installed")
    rows = [
        {"id": str(n), "question": f"What did I dig {'a garden' if n % 2 else 'a foundation'} with?"}
        for n in range(6)
    ]
    source, one, two = (tmp_path / name for name in ("in.jsonl", "one.jsonl", "two.jsonl"))
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = PredictionRun(str(tools_file), str(model_folder), 2)
    predict_file(source, one, asked)

    def answers(path: Path) -> list[tuple[str, str, list[str]]]:
        rows = map(json.loads, path.read_text().splitlines())
        return [(row["id"], row["answer"], [c["text"] for c in row["candidates"]]) for row in rows]

    two.write_text("".join(one.read_text().splitlines(keepends=True)[:1]))  # as a stopped run left it
    run = ".{}.run.json"
    (tmp_path / run.format("two.jsonl")).write_text((tmp_path / run.format("one.jsonl")).read_text())
    try:
        predict_file(source, two, replace(asked, engine="ray", workers=2))
    except InputError as error:
        if "cannot connect to a cluster" in str(error):
            pytest.skip("ray gives its processes 30 s to start, and this machine is too busy for that")
        raise
    assert answers(two) == answers(one)

import json
from pathlib import Path

import pytest

from kgqa.text.datasets.loading import load_dataset
from kgqa.types import InputError, Span


def write(path: Path, *rows: object) -> str:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n")
    return str(path)


def test_unknown_names(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean squad1-dev"):
        load_dataset("squad1dev")
    with pytest.raises(InputError, match="no such file"):
        load_dataset("missing.jsonl")
    with pytest.raises(InputError, match="training/DATA.md"):
        list(load_dataset("csqa-dev", tmp_path))


def test_squad_file_of_ones_own(tmp_path: Path) -> None:
    qa = {"id": "1", "question": "Who?", "answers": [{"text": "Ann", "answer_start": 0}]}
    data = {"data": [{"title": "t", "paragraphs": [{"context": "Ann left.", "qas": [qa]}]}]}
    examples = list(load_dataset(write(tmp_path / "own.json", data)))
    assert examples[0].spans == (Span(0, 3),)


def test_a_pattern_names_all_files_that_fit(tmp_path: Path) -> None:
    for name in "ab":
        write(
            tmp_path / f"mine_{name}.jsonl", json.dumps({"id": name, "question": "Who?", "answers": ["Tom"]})
        )
    found = load_dataset(str(tmp_path / "mine_[ab].jsonl"))
    assert [example.question.id for example in found] == ["a", "b"]
    with pytest.raises(InputError, match=r"no such files.*looked for in"):
        load_dataset(str(tmp_path / "yours_*.jsonl"))

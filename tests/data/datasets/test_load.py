import json
from pathlib import Path

import pytest

from kgqa.data.datasets.load import load_dataset
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


def test_forms_that_are_not_read_say_what_is(tmp_path: Path) -> None:
    (tmp_path / "q.xlsx").write_bytes(b"PK")
    rows = write(tmp_path / "list.json", [{"question": "Who?", "answers": ["Ann"]}])
    for name, output in ((str(tmp_path / "q.xlsx"), "save the sheet as CSV"), (rows, "one object a line")):
        with pytest.raises(InputError, match=output) as error:
            list(load_dataset(name))
        assert name in str(error.value) and "indices" not in str(error.value)


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


def test_a_table_is_read_as_json_lines_are(tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text(
        "id,question,passage,choices,answer,verdict,kind\n"
        'a,Who left?,"Ann left, with Bo.",,Ann|Bo,,who\n'
        "b,What did he open?,It rained.,umbrella|oven,umbrella,,\n"
        "c,Is it wet?,It rained.,,,yes,\n"
        "d,Who rang?,It rained.,,(none),,\n"
        "e,What digs?,,,trowel,,\n"
    )
    rows = [
        {
            "id": "a",
            "question": "Who left?",
            "passage": "Ann left, with Bo.",
            "answers": ["Ann", "Bo"],
            "kind": "who",
        },
        {
            "id": "b",
            "question": "What did he open?",
            "passage": "It rained.",
            "choices": ["umbrella", "oven"],
            "choice": 0,
        },
        {"id": "c", "question": "Is it wet?", "passage": "It rained.", "verdict": True},
        {"id": "d", "question": "Who rang?", "passage": "It rained.", "answers": []},
        {"id": "e", "question": "What digs?", "answers": ["trowel"]},
    ]
    assert list(load_dataset(str(table))) == list(load_dataset(write(tmp_path / "mine.jsonl", *rows)))
    for row, output in (
        ("f,Who?,,,,,", ":2: no answer; fill the column"),
        ("f,Who?,,,,perhaps,", ':2: "verdict" is true or false'),
        ("f,,,,x,,", ":2: the question is empty"),
    ):
        table.write_text(
            f"id,question,passage,choices,answer,verdict,kind\ng,Who?,,,x,,\n{row}\n".replace(
                "g,Who?,,,x,,\n", ""
            )
        )
        with pytest.raises(InputError, match=output):
            list(load_dataset(str(table)))

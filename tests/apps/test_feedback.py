from pathlib import Path

import pytest

from apps.feedback import keep, opinion, training_lines
from kgqa.data.datasets.json_lines import read_examples
from kgqa.types import Answer, InputError, Passage, Question, Source


def output(text: str | None, passage: str = "It rained.") -> Answer:
    question = Question("Did it rain?", (), Passage(passage))
    return Answer(question, text, Source.PASSAGE if text else Source.NONE, 0.5, model="m", graph="g")


def test_a_training_reads_what_is_known(tmp_path: Path) -> None:
    rows = [
        opinion(output("yes"), True),
        opinion(output("It"), False, "no pronoun", " rained "),
        opinion(output(None), True),
        opinion(output("It"), False),
    ]
    file = tmp_path / "deep" / "feedback.jsonl"
    for row in rows:
        keep(row, file)
    assert len(file.read_text(encoding="utf-8").splitlines()) == 4
    exported = tmp_path / "export.jsonl"
    exported.write_text(training_lines(rows), encoding="utf-8")
    assert [example.golds for example in read_examples(exported)] == [("yes",), ("rained",), ()]
    assert rows[1]["note"] == "no pronoun" and "answers" not in rows[3]


@pytest.mark.parametrize("content", ['{"precious": 1}\n', "mine", '{"question": "q", "good": true}'])
def test_a_file_that_holds_something_else_is_kept(content: str, tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    file.write_text(content)
    with pytest.raises(InputError, match="KGQA_FEEDBACK"):
        keep({"question": "q", "good": True}, file)
    assert file.read_text() == content
    file.write_text("")
    for _ in range(2):
        keep({"question": "q", "good": True}, file)
    assert file.read_text().count("\n") == 2

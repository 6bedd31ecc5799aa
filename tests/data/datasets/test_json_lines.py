import json
from pathlib import Path

import pytest

from kgqa.data.datasets.json_lines import read_examples, spans_of
from kgqa.types import InputError, Source, Span

ROOT = Path(__file__).parents[3]


def write(path: Path, *rows: object) -> str:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n")
    return str(path)


def test_own_examples(tmp_path: Path) -> None:
    passage = "She used a wooden Spoon. The spoon broke, the teaspoon did not."
    path = write(
        tmp_path / "own.jsonl",
        {"id": "a", "question": "With what?", "passage": passage, "answer": "spoon", "kind": "instrument"},
        {"question": "With what?", "passage": passage, "answers": ["spoon"], "source": "knowledge"},
        "",
        {"question": "With what?", "choices": ["hoe", "spade"], "choice": "b"},
        {"question": "With what?", "choices": ["hoe", "spade"], "answer": "hoe"},
        {"question": "With what?", "passage": passage, "span": [4, 8]},
        {"question": "Who?", "passage": passage, "answers": []},
        {"question": "Who?", "source": "none"},
        {"question": "With what?", "passage": passage, "answers": ["trowel", "spade"]},
    )
    examples = list(read_examples(Path(path)))
    assert [e.source for e in examples] == [
        Source.PASSAGE,
        Source.KNOWLEDGE,
        Source.CHOICE,
        Source.CHOICE,
        Source.PASSAGE,
        Source.NONE,
        Source.NONE,
        Source.KNOWLEDGE,
    ]
    assert examples[0].spans == (Span(18, 23), Span(29, 34))
    assert examples[0].kind == "instrument"
    assert examples[2].choice == 1
    assert [e.question.id for e in examples[:3]] == ["a", "2", "4"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ({"question": " "}, "no question"),
        ({"question": "?"}, "no answer"),
        ({"question": "?", "passage": 3, "answer": "x"}, "passage is not text"),
        ({"question": "?", "choices": "ab", "answer": "x"}, "choices are not"),
        ({"question": "?", "choices": ["ab"], "answer": "x"}, "none of the 1 choices"),
        ({"question": "?", "choices": ["ab"], "choice": 1}, "none of the 1 choices"),
        ({"question": "?", "passage": "abc", "span": [2, 9]}, "no span"),
        ({"question": "?", "passage": "abc", "answer": "x", "source": "passage"}, "not in the passage"),
        ({"question": "?", "answer": "x", "source": "book"}, "unknown source"),
        ({"question": "?", "answer": "x", "source": "none"}, "contradicts"),
        ({"question": "?", "yes_no": True, "source": "none"}, "contradicts"),
        ({"question": "?", "yes_no": True, "source": "passage"}, "contradicts"),
        ({"question": "?", "answer": [1]}, "answers are not"),
        ({"question": "?", "yes_no": True, "answers": ["x"]}, "both given"),
    ],
)
def test_own_examples_that_cannot_be_used(tmp_path: Path, row: object, message: str) -> None:
    path = write(tmp_path / "own.jsonl", {"question": "?", "answer": "x"}, row)
    with pytest.raises(InputError, match=message) as error:
        list(read_examples(Path(path)))
    assert f"{path}:2" in str(error.value)
    assert "\n" not in str(error.value)


def test_spans_of_keeps_offsets_when_lowering_changes_length() -> None:
    passage = "İ met Ann."
    assert [passage[a:b] for a, b in spans_of(passage, ["Ann"])] == ["Ann"]


def test_a_korean_answer_may_be_followed_by_its_particle() -> None:
    passage = "책은 공책 위에 있다. 낡은 책을 읽었다. 책2"
    assert [span.start for span in spans_of(passage, ["책"])] == [0, 16]


@pytest.mark.parametrize("name", ["korean_dev", "korean_test"])
def test_the_korean_questions_and_their_translations_ask_the_same(name: str) -> None:
    data = Path(__file__).parents[3] / "training" / "data" / "korean"
    korean, english = (list(read_examples(next(data.glob(f"*/{name}{end}.jsonl")))) for end in ("", "_en"))
    for ours, theirs in zip(korean, english, strict=True):
        assert (ours.question.id, ours.kind, ours.source) == (theirs.question.id, theirs.kind, theirs.source)


def test_yes_or_no_keeps_its_source_and_wordings_their_name(tmp_path: Path) -> None:
    row = {"question": "Is Paris in France?", "passage": "Anna read a book.", "yes_no": True, "same": "a"}
    path = write(tmp_path / "own.jsonl", row, {**row, "source": "knowledge"}, {**row, "source": "passage"})
    examples = list(read_examples(Path(path)))
    assert [e.source for e in examples] == [Source.PASSAGE, Source.KNOWLEDGE, Source.PASSAGE]
    assert {e.same for e in examples} == {"a"} and {e.golds for e in examples} == {("yes",)}


def test_the_schema_takes_what_is_read_and_refuses_what_is_not(tmp_path: Path) -> None:
    validation = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "kgqa" / "data" / "datasets" / "question.schema.json").read_text())
    checked = validation.Draft202012Validator(schema)
    validation.Draft202012Validator.check_schema(schema)
    files = sorted((ROOT / "training" / "data").rglob("*train/*.jsonl"))
    rows = [json.loads(line) for path in files[:12] for line in path.read_text().splitlines()[:40]]
    for row in [*schema["examples"], *rows]:
        assert not list(checked.iter_errors(row)), row
        assert list(read_examples(written(tmp_path, row)))
    for row in (
        {"passage": "x"},
        {"question": " ", "answer": "x"},
        {"question": "Who?"},
        {"question": "Who?", "choice": 0},
        {"question": "Who?", "choices": ["a", "b"], "yes_no": True},
        {"question": "Who?", "passage": 5, "answer": "x"},
        {"question": "Who?", "answers": ["x", 5]},
        {"question": "Who?", "answer": "x", "source": "web"},
    ):
        assert list(checked.iter_errors(row)), row
        with pytest.raises(InputError):
            list(read_examples(written(tmp_path, row)))


def written(folder: Path, row: object) -> Path:
    (folder / "row.jsonl").write_text(json.dumps(row) + "\n")
    return folder / "row.jsonl"


RANG = {"question": "Who rang?", "context": "On Monday Ann rang, then Bo."}
PICKED = {"question": "What did he open?", "choices": ["umbrella", "oven"]}
LABELLED = {"text": ["umbrella", "oven"], "label": ["1", "2"]}


@pytest.mark.parametrize(
    ("row", "source", "golds"),
    [
        ({**RANG, "Answer": "Ann"}, Source.PASSAGE, ("Ann",)),
        ({**RANG, "answers": {"text": ["Ann"], "answer_start": [10]}}, Source.PASSAGE, ("Ann",)),
        ({**RANG, "answers": [{"text": "Ann", "answer_start": 10}]}, Source.PASSAGE, ("Ann",)),
        ({**RANG, "answers": {"text": [], "answer_start": []}}, Source.NONE, ()),
        ({**RANG, "answers": {"text": [""], "answer_start": [-1]}}, Source.NONE, ()),
        ({**RANG, "answer": "(none)"}, Source.NONE, ()),
        ({**RANG, "answers": None, "answer": "Bo"}, Source.PASSAGE, ("Bo",)),
        ({"question": "When?", "answer": 1998}, Source.KNOWLEDGE, ("1998",)),
        ({**PICKED, "choices": LABELLED, "answerKey": "2"}, Source.CHOICE, ("oven",)),
        ({"question": "Which?", "A": "umbrella", "B": "oven", "answer": "B"}, Source.CHOICE, ("oven",)),
        (
            {"question": "Which?", "option_a": "one", "option_b": "two", "answer": "a"},
            Source.CHOICE,
            ("one",),
        ),
        ({**PICKED, "answer": 1}, Source.CHOICE, ("oven",)),
        ({**PICKED, "choice": "1"}, Source.CHOICE, ("oven",)),
        ({"question": "Is it?", "yes_no": 1}, Source.KNOWLEDGE, ("yes",)),
        ({"question": "Is it?", "yes_no": "N"}, Source.KNOWLEDGE, ("no",)),
        ({"question": "Is it?", "passage": "There is no tea.", "answer": "no"}, Source.PASSAGE, ("no",)),
        ({"question": "Is it?", "passage": "It is.", "answer": True}, Source.PASSAGE, ("yes",)),
        (
            {"question": "What did he say?", "passage": "He said no.", "answer": "no", "source": "passage"},
            "passage",
            ("no",),
        ),
    ],
)
def test_rows_in_the_shapes_that_people_have(
    tmp_path: Path, row: dict[str, object], source: Source, golds: tuple[str, ...]
) -> None:
    (example,) = read_examples(written(tmp_path, row))
    assert (example.source, example.golds) == (source, golds)
    is_question_of_yes_or_no = golds in (("yes",), ("no",)) and "source" not in row
    assert (example.yes_no_label is not None) is is_question_of_yes_or_no


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"question": "Who?", "passages": "Ann rang.", "answer": "Ann"},
            "unknown field 'passages'; did you mean 'passage'",
        ),
        ({**RANG, "answers": {"text": ["Ann"], "answer_start": [0]}}, "not at its offset"),
        ({**RANG, "answers": {"text": ["Ann"]}}, "answers are not"),
        ({**RANG, "answer": "Ann", "source": ["passage"]}, "unknown source"),
        ({"question": "Who?", "choices": 5, "choice": "1"}, "choices are not a list"),
        ({"question": "Who?", "passage": "a " * 150_000, "answer": "a"}, "at most 200,000"),
    ],
)
def test_rows_that_would_be_misread_are_refused(tmp_path: Path, row: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        list(read_examples(written(tmp_path, row)))
    assert str(refused.value).startswith(f"{tmp_path / 'row.jsonl'}:1: ")

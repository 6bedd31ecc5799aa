import json
from pathlib import Path

import pytest

from kgqa.text.datasets.json_lines import read_examples, spans_of
from kgqa.types import InputError, Source, Span


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
        ({"question": "?", "passage": "abc", "answer": "x", "source": "passage"}, "does not stand"),
        ({"question": "?", "answer": "x", "source": "book"}, "unknown source"),
        ({"question": "?", "answer": "x", "source": "none"}, "contradicts"),
        ({"question": "?", "answer": [1]}, "answers are not"),
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

import json
import os
from pathlib import Path
from typing import Any

import pytest
import zstandard

from kgqa.data.datasets import load
from kgqa.data.datasets.load import load_dataset
from kgqa.types import InputError

OPTIONS = [{"label": "A", "text": "hoe"}, {"label": "B", "text": "spade"}]
MCSCRIPT = """<data><instance id="3"><text>We heated milk in a pan.</text><questions>
<question id="0" text="In what?"><answer correct="False" id="0" text="A pot."/>
<answer correct="True" id="1" text="in a pan."/></question>
<question id="1" text="Where?"><answer correct="True" id="0" text="On the stove."/>
<answer correct="False" id="1" text="outside"/></question>
<question id="2" text="Was it hot?"><answer correct="True" id="0" text="Yes, it was."/>
<answer correct="False" id="1" text="no"/></question></questions></instance></data>"""


def put(data: Path, name: str, content: Any) -> None:
    path = data / "qa" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    path.with_name(path.name + ".zst").write_bytes(zstandard.compress(text.encode()))


def read(data: Path, name: str) -> list[Any]:
    return list(load.DATASETS[name](data))


def test_commonsenseqa_with_and_without_choices(tmp_path: Path) -> None:
    row = {"id": "x", "answerKey": "B", "question": {"stem": "Dig with what?", "choices": OPTIONS}}
    put(tmp_path, "csqa/train.jsonl", row)
    (example,) = read(tmp_path, "csqa-train")
    assert (example.question.choices, example.choice) == (("hoe", "spade"), 1)
    (example,) = read(tmp_path, "csqa-open-train")
    assert (example.question.choices, example.concepts) == ((), ("spade",))


def test_openbook_fact_is_the_passage(tmp_path: Path) -> None:
    row = {"id": "x", "fact1": "a fact", "answerKey": "A", "question": {"stem": "?", "choices": OPTIONS}}
    put(tmp_path, "openbookqa/train_complete.jsonl", row)
    assert read(tmp_path, "openbookqa-fact-train")[0].question.passage_text == "a fact"


def test_mcscript(tmp_path: Path) -> None:
    put(tmp_path, "mcscript/dev-data.xml", MCSCRIPT)
    assert [e.choice for e in read(tmp_path, "mcscript-dev")] == [1, 0, 0]


def test_squad_leaves_out_guessed_places(tmp_path: Path) -> None:
    def qa(number: int, start: int) -> dict[str, Any]:
        return {"id": f"q{number}", "question": "?", "answers": [{"text": "b", "answer_start": start}]}

    paragraph = {"context": "a b b", "qas": [qa(1, 2), qa(2, 4)]}
    put(tmp_path, "squad/train-v1.1.rebuilt.json", {"data": [{"title": "t", "paragraphs": [paragraph]}]})
    put(tmp_path, "squad/train-v1.1.uncertain_starts.tsv", "id\tn\nq2\t2\n")
    assert [e.question.id for e in read(tmp_path, "squad1-train")] == ["q1"]
    paragraph["qas"] = [qa(1, 3)]
    put(tmp_path, "squad/dev-v1.1.json", {"data": [{"paragraphs": [paragraph]}]})
    with pytest.raises(InputError, match="q1"):
        read(tmp_path, "squad1-dev")
    put(tmp_path, "squad/dev-v1.1.json", {"rows": []})
    with pytest.raises(InputError, match="format"):
        read(tmp_path, "squad1-dev")


def test_the_other_formats(tmp_path: Path) -> None:
    put(tmp_path, "qasc/dev.qasc.json", [{"query": "?", "cands": ["a", "b"], "answer": "b"}])
    put(tmp_path, "piqa/valid.jsonl", {"goal": "?", "sol1": "a", "sol2": "b"})
    put(tmp_path, "piqa/valid-labels.lst", "1\n")
    social = {"context": "c", "question": "?", "answerA": "a", "answerB": "b", "answerC": "c", "correct": "B"}
    put(tmp_path, "socialiqa/socialiqa_dev.jsonl", social)
    put(
        tmp_path,
        "cosmosqa/valid.csv",
        "id,context,question,answer0,answer1,answer2,answer3,label\n1,c,?,a,b,c,d,1\n",
    )
    arc = (
        "Please choose the correct answer to the question: Why?\n\nAnswer1: a Answer2: b\n\nAnswer format: x"
    )
    put(tmp_path, "arc/ARC-Easy.train.json", [{"instruction": arc, "answer": "answer2"}])
    for name in ("qasc-dev", "piqa-dev", "socialiqa-dev", "cosmosqa-dev", "arc-easy-train"):
        (example,) = read(tmp_path, name)
        assert example.choice == 1, name
    assert read(tmp_path, "arc-easy-train")[0].question.text == "Why?"


@pytest.mark.parametrize("name", load.DATASETS)
def test_missing_data_names_file_and_remedy(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="looked for .*training/DATA.md"):
        read(tmp_path, name)


@pytest.mark.data
@pytest.mark.skipif("KGQA_DATA" not in os.environ, reason="KGQA_DATA names no folder of data sets")
def test_published_sizes() -> None:
    data = Path(os.environ["KGQA_DATA"])
    sizes = {"squad1-train": 87_361, "squad2-dev": 11_873, "csqa-train": 8_500, "mcscript-train": 9_731}
    assert {name: len(read(data, name)) for name in sizes} == sizes


def test_natural_questions_in_either_form(tmp_path: Path) -> None:
    (tmp_path / "qed_nq").mkdir()
    squad = {
        "id": 7,
        "context": "It was Ann.",
        "question": "who ",
        "answers": [{"answer_start": 7, "text": "Ann"}],
    }
    parts = [[{"start": 7, "end": 10, "string": "Ann"}]] * 2
    qed = {
        "example_id": 7,
        "paragraph_text": "It was Ann.",
        "question_text": "who",
        "original_nq_answers": parts,
    }
    for split, row in (("train", squad), ("dev", qed)):
        (tmp_path / "qed_nq" / f"{split}.jsonl").write_text(json.dumps(row) + "\n")
    found = [list(load_dataset(f"natural-questions-{split}", tmp_path)) for split in ("train", "dev")]
    assert found[0] == found[1] and found[0][0].golds == ("Ann",)
    (tmp_path / "qed_nq" / "dev.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match="dev.jsonl:1: unexpected fields"):
        list(load_dataset("natural-questions-dev", tmp_path))


def test_sciq_shows_the_right_choice_at_changing_places(tmp_path: Path) -> None:
    row = {"question": "What melts?", "correct_answer": "ice", "support": "Ice melts."}
    row |= {"distractor1": "sand", "distractor2": "iron", "distractor3": "glass"}
    put(tmp_path, "sciq/valid.jsonl", "\n".join(json.dumps(row) for _ in range(5)))
    examples = read(tmp_path, "sciq-dev")
    assert {example.choice for example in examples} == {0, 1, 2, 3}
    assert {example.question.choices[example.choice] for example in examples} == {"ice"}


def test_tweetqa_keeps_what_stands_in_the_tweet(tmp_path: Path) -> None:
    row = {"Tweet": "Cat on the Mat!", "Question": "where", "qid": "q", "Answer": ["the mat", "a rug"]}
    put(tmp_path, "tweetqa/dev.json", [row, row | {"Answer": ["nowhere"]}])
    (example,) = read(tmp_path, "tweetqa-dev")
    assert [(span.start, span.end) for span in example.spans] == [(7, 14)]


def test_fairytaleqa_with_spans_and_with_answers_in_words_of_their_own(tmp_path: Path) -> None:
    reported = '"the king ran home , tired .","{} ?","{}",local,action,{},s\n'
    rows = reported.format("where did he run", "home .", "explicit") + reported.format(
        "how was he", "weary .", "implicit"
    )
    head = "content,question,answer1,local_or_sum,attribute,ex_or_im,story_name\n"
    put(tmp_path, "fairytaleqa/train.csv", head + rows)
    (span,) = read(tmp_path, "fairytale-train")
    assert span.golds == ("home",) and span.question.passage_text == "the king ran home, tired."
    assert [e.concepts for e in read(tmp_path, "fairytale-open-train")] == [("home",), ("weary",)]

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgqa.data.datasets import load as commonsense
from kgqa.data.datasets.load import ASKED, NEXT, each_row, load_dataset
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
        "id,question,passage,choices,answer,yes_no,kind\n"
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
        {"id": "c", "question": "Is it wet?", "passage": "It rained.", "yes_no": True},
        {"id": "d", "question": "Who rang?", "passage": "It rained.", "answers": []},
        {"id": "e", "question": "What digs?", "answers": ["trowel"]},
    ]
    assert list(load_dataset(str(table))) == list(load_dataset(write(tmp_path / "mine.jsonl", *rows)))
    for row, output in (
        ("f,Who?,,,,,", ":2: no answer; fill the column"),
        ("f,Who?,,,,perhaps,", ':2: "yes_no" is true or false'),
        ("f,,,,x,,", ":2: the question is empty"),
    ):
        table.write_text(
            f"id,question,passage,choices,answer,yes_no,kind\ng,Who?,,,x,,\n{row}\n".replace(
                "g,Who?,,,x,,\n", ""
            )
        )
        with pytest.raises(InputError, match=output):
            list(load_dataset(str(table)))


def written(tmp_path, name: str, rows) -> object:
    path = tmp_path / name
    text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    return path


def test_choices_of_both_forms(tmp_path) -> None:
    row = {
        "context": "Kim fell.",
        "question": "How is Kim?",
        "answerA": "glad",
        "answerB": "hurt",
        "answerC": "rich",
    }
    both = [row | {"label": 1}, row | {"correct": "B"}]
    found = list(each_row(commonsense.social, written(tmp_path, "s.jsonl", both)))
    assert [example.golds for example in found] == [("hurt",)] * 2
    gap = {
        "sentence": "Ian thanked Dennis since _ had helped.",
        "option1": "Ian",
        "option2": "Dennis",
        "answer": "2",
    }
    (example,) = each_row(commonsense.winogrande, written(tmp_path, "w.jsonl", [gap | {"qID": "x"}]))
    assert example.golds == ("Dennis",)
    cause = {
        "premise": "The road was wet.",
        "ask-for": "cause",
        "hypothesis1": "It rained.",
        "hypothesis2": "It sang.",
    }
    (example,) = each_row(
        commonsense.e_care, written(tmp_path, "e.jsonl", [cause | {"label": 0, "index": "1"}])
    )
    assert example.golds == ("It rained.",) and "cause" in example.question.text


def test_the_right_one_of_comve_stands_now_here_now_there(tmp_path) -> None:
    head = "Correct Statement,Incorrect Statement,Right Reason1,Confusing Reason1,Confusing Reason2\n"
    path = written(tmp_path, "c.csv", head + "He drinks milk.,He drinks apple.,solid,tasty,red\n" * 3)
    sense = list(each_row(commonsense.comve_sense, path))
    assert [example.choice for example in sense] == [0, 1, 0]
    assert all(example.golds == ("He drinks milk.",) for example in sense)
    reasons = list(each_row(commonsense.comve_reasons, path))
    assert [example.choice for example in reasons] == [0, 1, 2]
    assert all(example.golds == ("solid",) for example in reasons)


def test_statements_hold_or_do_not(tmp_path) -> None:
    (example,) = each_row(
        commonsense.csqa2, written(tmp_path, "a", [{"id": "1", "question": "Can fish fly?", "answer": "no"}])
    )
    assert example.yes_no_label is False and example.golds == ("no",)
    rows = [{"ex_id": "1", "sentence": "Rome is a city.", "label": "true"}]
    assert [e.yes_no_label for e in each_row(commonsense.creak, written(tmp_path, "b", rows))] == [True]
    rows = [{"qid": "1", "question": "Could a llama vote?", "answer": False}]
    assert [e.yes_no_label for e in each_row(commonsense.strategy, written(tmp_path, "c", rows))] == [False]


def test_what_a_premise_does_not_tell_has_no_answer(tmp_path) -> None:
    text = "premise,hypothesis,label\nA man runs.,A man moves.,entailment\nA man runs.,He is late.,neutral\n"
    found = list(
        each_row(
            commonsense.inference, written(tmp_path, "n.csv", text + "A man runs.,He sits.,contradiction\n")
        )
    )
    assert [example.golds for example in found] == [("yes",), (), ("no",)]


def test_boolq_beside_another_passage(tmp_path) -> None:
    row = {"question": "is it so", "passage": "A game.", "answer": "no-answer"}
    (example,) = each_row(
        commonsense.boolq_unanswerable, written(tmp_path, "b", [row, row | {"answer": "yes"}])
    )
    assert example.golds == () and example.question.text == "is it so?"


# KoBEST's rows become questions; what asks for nothing is left out.


FILES = {
    "BoolQ": 'ID\tText\tQuestion\tAnswer\n1\t비글은 "활동적인" 개다.\t비글은 개다.\tTrue\n',
    "COPA": "ID\tsentence\tquestion\t1\t2\tAnswer\n7\t비가 왔다.\t결과 \t땅이 젖었다.\t해가 떴다.\t1\n"
    "8\t\tquestion\t\t\tAnswer\n",
    "HellaSwag": "context\tchoice1\tchoice2\tchoice3\tchoice4\tlabel\n물을 끓인다.\t하나\t둘\t셋\t넷\t3\n",
}


def test_rows_of_kobest(tmp_path: Path) -> None:
    folder = tmp_path / "qa" / "ko" / "kobest"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / f"{name}.train.tsv").write_text(text, encoding="utf-8")
    (boolq,), (copa,), (hellaswag,) = (
        list(load_dataset(f"kobest-{name.lower()}-train", tmp_path)) for name in FILES
    )
    assert boolq.yes_no_label is True and boolq.question.passage_text == '비글은 "활동적인" 개다.'
    assert copa.question.text == ASKED["결과"] and copa.question.choices[copa.choice or 0] == "땅이 젖었다."
    assert hellaswag.question.text == NEXT and hellaswag.choice == 3


def test_tables_in_the_shapes_that_people_have(tmp_path: Path) -> None:
    (tmp_path / "letters.csv").write_text("Question,A,B,C,Answer\nWhich?,umbrella,oven,,B\n")
    (tmp_path / "lists.csv").write_text("question,choices,choice\nWhich?,\"['umbrella', 'oven']\",1\n")
    (tmp_path / "labels.csv").write_text("question;Yes_No\nIs it?;1\n")
    for name, golds in (("letters", ("oven",)), ("lists", ("oven",)), ("labels", ("yes",))):
        (example,) = load_dataset(str(tmp_path / f"{name}.csv"))
        assert example.golds == golds and example.question.choices in ((), ("umbrella", "oven"))


def test_parquet_as_datasets_of_hugging_face_export_it(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    squad = {"question": "Who?", "context": "So Ann left.", "answers": {"text": ["Ann"], "answer_start": [3]}}
    picked = {"question": "Which?", "choices": ["umbrella", "oven"], "answer": 1}
    for name, row, golds in (("squad", squad, ("Ann",)), ("picked", picked, ("oven",))):
        parquet.write_table(arrow.Table.from_pylist([row]), tmp_path / f"{name}.parquet")
        (example,) = load_dataset(str(tmp_path / f"{name}.parquet"))
        assert example.golds == golds and example.source in ("passage", "choice")

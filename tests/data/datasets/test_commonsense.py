import json

from kgqa.data.datasets import load as commonsense
from kgqa.data.datasets.load import each_row


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

"""Published sets about what everybody knows, row by row: choices, and statements that hold or do not."""

from __future__ import annotations

from typing import Any

from kgqa.types import Example, Passage, Question

Row = dict[str, Any]


def social(number: int, row: Row) -> Example:
    """Social IQa (Sap et al., 2019); its parts name the right answer by a number or by a letter."""
    choices = (row["answerA"], row["answerB"], row["answerC"])
    question = Question(row["question"], choices, Passage(row["context"]), str(number))
    return Example(question, choice=row["label"] if "label" in row else "ABC".index(row["correct"]))


def winogrande(_number: int, row: Row) -> Example:
    """WinoGrande (Sakaguchi et al., 2020): who or what stands in the gap."""
    question = Question(row["sentence"], (row["option1"], row["option2"]), None, row["qID"])
    return Example(question, choice=int(row["answer"]) - 1)


def e_care(_number: int, row: Row) -> Example:
    """e-CARE (Du et al., 2022): the likelier of two causes, or of two effects."""
    asked = {"cause": "What was the cause of this?", "effect": "What happened as a result?"}
    choices = (row["hypothesis1"], row["hypothesis2"])
    question = Question(asked[row["ask-for"]], choices, Passage(row["premise"]), row["index"])
    return Example(question, choice=row["label"])


def comve_sense(number: int, row: Row) -> Example | None:
    """ComVE, first task (Wang et al., 2020): which of two statements makes sense."""
    sense, nonsense = row["Correct Statement"].strip(), row["Incorrect Statement"].strip()
    if not (sense and nonsense):
        return None
    second = number % 2  # the right one stands first and second in turn
    choices = (nonsense, sense) if second else (sense, nonsense)
    return Example(Question("Which of these makes sense?", choices, None, str(number)), choice=second)


def comve_reasons(number: int, row: Row) -> Example | None:
    """ComVE, second task: why a statement makes no sense."""
    named = ("Right Reason1", "Confusing Reason1", "Confusing Reason2")
    right, *wrong = reasons = [row[name].strip() for name in named]
    statement, place = row["Incorrect Statement"].strip(), number % 3
    if not (statement and all(reasons)):
        return None
    choices = (*wrong[:place], right, *wrong[place:])
    question = Question("Why does this make no sense?", choices, Passage(statement), str(number))
    return Example(question, choice=place)


def csqa2(_number: int, row: Row) -> Example:
    """CommonsenseQA 2.0 (Talmor et al., 2021): statements and questions, true or not."""
    return Example(Question(row["question"], (), None, row["id"]), verdict=row["answer"] == "yes")


def creak(_number: int, row: Row) -> Example:
    """CREAK (Onoe et al., 2021): claims about things with a name, true or false."""
    return Example(Question(row["sentence"], (), None, row["ex_id"]), verdict=row["label"] == "true")


def strategy(_number: int, row: Row) -> Example:
    """StrategyQA (Geva et al., 2021): yes/no questions whose facts must be found first."""
    return Example(Question(row["question"], (), None, row["qid"]), verdict=bool(row["answer"]))


def inference(number: int, row: Row) -> Example | None:
    """SNLI and MultiNLI (Bowman et al., 2015; Williams et al., 2018): what follows from a premise, what contradicts it,
    and what it does not tell, which has no answer."""
    verdicts = {"entailment": True, "contradiction": False, "neutral": None}
    said, premise = row["hypothesis"].strip(), row["premise"].strip()
    if row["label"] not in verdicts or not (said and premise):
        return None
    return Example(Question(said, (), Passage(premise), str(number)), verdict=verdicts[row["label"]])


def boolq_unanswerable(number: int, row: Row) -> Example | None:
    """BoolQ's questions beside a passage about something else (Sulem et al., 2022)."""
    if row["answer"] != "no-answer":
        return None
    text = row["question"].strip().rstrip("?") + "?"
    return Example(Question(text, (), Passage(row["passage"]), str(number)))

"""Published sets about what everybody knows: choices, and statements that hold or do not."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

from kgqa.text.files import read_lines, rows_of
from kgqa.types import Example, Passage, Question


def _social(path: Path) -> Iterator[Example]:
    """Social IQa (Sap et al., 2019); its parts name the right answer by a number or by a letter."""
    for number, row in rows_of(path):
        choices = (row["answerA"], row["answerB"], row["answerC"])
        question = Question(row["question"], choices, Passage(row["context"]), str(number))
        yield Example(question, choice=row["label"] if "label" in row else "ABC".index(row["correct"]))


def _winogrande(path: Path) -> Iterator[Example]:
    """WinoGrande (Sakaguchi et al., 2020): who or what stands in the gap."""
    for _, row in rows_of(path):
        question = Question(row["sentence"], (row["option1"], row["option2"]), None, row["qID"])
        yield Example(question, choice=int(row["answer"]) - 1)


def _e_care(path: Path) -> Iterator[Example]:
    """e-CARE (Du et al., 2022): the likelier of two causes, or of two effects."""
    asked = {"cause": "What was the cause of this?", "effect": "What happened as a result?"}
    for _, row in rows_of(path):
        choices = (row["hypothesis1"], row["hypothesis2"])
        question = Question(asked[row["ask-for"]], choices, Passage(row["premise"]), row["index"])
        yield Example(question, choice=row["label"])


def _comve_sense(path: Path) -> Iterator[Example]:
    """ComVE, first task (Wang et al., 2020): which of two statements makes sense."""
    for number, row in enumerate(csv.DictReader(read_lines(path))):
        sense, nonsense = row["Correct Statement"].strip(), row["Incorrect Statement"].strip()
        if sense and nonsense:
            second = number % 2  # the right one stands first and second in turn
            choices = (nonsense, sense) if second else (sense, nonsense)
            yield Example(Question("Which of these makes sense?", choices, None, str(number)), choice=second)


def _comve_reasons(path: Path) -> Iterator[Example]:
    """ComVE, second task: why a statement makes no sense."""
    for number, row in enumerate(csv.DictReader(read_lines(path))):
        reasons = [row[f"{name}1"].strip() for name in ("Right Reason", "Confusing Reason")]
        reasons.append(row["Confusing Reason2"].strip())
        statement = row["Incorrect Statement"].strip()
        if statement and all(reasons):
            place = number % 3
            choices = [*reasons[1 : 1 + place], reasons[0], *reasons[1 + place :]]
            question = Question(
                "Why does this make no sense?", tuple(choices), Passage(statement), str(number)
            )
            yield Example(question, choice=place)


def _csqa2(path: Path) -> Iterator[Example]:
    """CommonsenseQA 2.0 (Talmor et al., 2021): statements and questions, true or not."""
    for _, row in rows_of(path):
        yield Example(Question(row["question"], (), None, row["id"]), verdict=row["answer"] == "yes")


def _creak(path: Path) -> Iterator[Example]:
    """CREAK (Onoe et al., 2021): claims about things with a name, true or false."""
    for _, row in rows_of(path):
        yield Example(Question(row["sentence"], (), None, row["ex_id"]), verdict=row["label"] == "true")


def _strategy(path: Path) -> Iterator[Example]:
    """StrategyQA (Geva et al., 2021): yes/no questions whose facts must be found first."""
    for _, row in rows_of(path):
        yield Example(Question(row["question"], (), None, row["qid"]), verdict=bool(row["answer"]))


def _inference(path: Path) -> Iterator[Example]:
    """SNLI and MultiNLI (Bowman et al., 2015; Williams et al., 2018): what follows from a premise, what contradicts it,
    and what it does not tell, which has no answer."""
    verdicts = {"entailment": True, "contradiction": False, "neutral": None}
    for number, row in enumerate(csv.DictReader(read_lines(path))):
        if row["label"] in verdicts and row["hypothesis"].strip() and row["premise"].strip():
            question = Question(row["hypothesis"].strip(), (), Passage(row["premise"].strip()), str(number))
            yield Example(question, verdict=verdicts[row["label"]])


def _boolq_unanswerable(path: Path) -> Iterator[Example]:
    """BoolQ's questions beside a passage about something else (Sulem et al., 2022)."""
    for number, row in rows_of(path):
        if row["answer"] == "no-answer":
            text = row["question"].strip().rstrip("?") + "?"
            yield Example(Question(text, (), Passage(row["passage"]), str(number)))


FORMATS: dict[str, Callable[[Path], Iterator[Example]]] = {
    "social": _social,
    "winogrande": _winogrande,
    "e-care": _e_care,
    "comve-sense": _comve_sense,
    "comve-reasons": _comve_reasons,
    "csqa2": _csqa2,
    "creak": _creak,
    "strategy": _strategy,
    "inference": _inference,
    "boolq-unanswerable": _boolq_unanswerable,
}
"""Form of a file -> what reads it."""

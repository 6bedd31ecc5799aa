"""KoBEST (Jang et al., 2022): Korean questions and statements written by native speakers, row by row."""

from __future__ import annotations

from typing import Any

from kgqa.types import Example, Passage, Question

ASKED = {"원인": "이 일의 원인은 무엇인가?", "결과": "그 결과 무슨 일이 일어났는가?"}
"""What COPA asks for, in a whole question."""
NEXT = "다음에 이어질 말로 알맞은 것은 무엇인가?"


def boolq(_number: int, row: dict[str, Any]) -> Example:
    """A statement that a paragraph bears out or contradicts."""
    verdict = {"TRUE": True, "FALSE": False}[row["Answer"].strip().upper()]
    return Example(Question(row["Question"], (), Passage(row["Text"]), row["ID"]), verdict=verdict)


def copa(_number: int, row: dict[str, Any]) -> Example | None:
    """The likelier of two causes, or of two effects; a row that asks for neither is left out."""
    asked = ASKED.get(row["question"].strip())
    if asked is None:
        return None
    question = Question(asked, (row["1"], row["2"]), Passage(row["sentence"]), row["ID"])
    return Example(question, choice=int(row["Answer"]) - 1)


def hellaswag(number: int, row: dict[str, Any]) -> Example:
    """How a text goes on."""
    choices = tuple(row[f"choice{place}"] for place in range(1, 5))
    return Example(Question(NEXT, choices, Passage(row["context"]), str(number)), choice=int(row["label"]))

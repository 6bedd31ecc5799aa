"""The same question as a shell command, Python code and HTTP request. No Streamlit."""

from __future__ import annotations

import json
import shlex

from kgqa.types import Question


def command_line(question: Question, graph: str = "") -> str:
    """`kgqa ask` with the question, for a POSIX shell; `graph` is the name of a file, empty for the shipped graph."""
    parts = ["kgqa", "ask", question.text]
    parts += ["--passage", question.passage_text] if question.passage else []
    parts += [word for choice in question.choices for word in ("--choice", choice)]
    parts += ["--graph", graph] if graph else []
    return shlex.join(parts)


def python(question: Question, graph: str = "") -> str:
    """The same in Python."""
    given = [repr(question.text)]
    given += [f"passage={question.passage_text!r}"] if question.passage else []
    given += [f"choices={list(question.choices)!r}"] if question.choices else []
    opened = f"graph={graph!r}" if graph else ""
    return f"import kgqa\n\nanswerer = kgqa.load({opened})\nprint(answerer.answer({', '.join(given)}).text)"


def curl(question: Question) -> str:
    """The same to a service that was started with `kgqa serve`."""
    body = {"question": question.text, "passage": question.passage_text, "choices": list(question.choices)}
    sent = json.dumps({name: value for name, value in body.items() if value}, ensure_ascii=False)
    address = "http://127.0.0.1:8600/v1/answer"
    return f"curl {address} -H 'content-type: application/json' -d {shlex.quote(sent)}"

"""The same question as a shell command, Python code and HTTP request. No Streamlit."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from kgqa.types import Question


def command_line(question: Question, sources: Sequence[str] = ()) -> str:
    """`kgqa ask` with the question, for a POSIX shell; `sources` are the graph's files or its URL, none for the shipped
    graph."""
    parts = ["kgqa", "ask", question.text]
    parts += ["--passage", question.passage_text] if question.passage else []
    parts += [word for choice in question.choices for word in ("--choice", choice)]
    parts += ["--graph", _graph(sources)] if sources else []
    return _merging(sources) + shlex.join(parts)


def python(question: Question, sources: Sequence[str] = ()) -> str:
    """The same in Python."""
    given = [repr(question.text)]
    given += [f"passage={question.passage_text!r}"] if question.passage else []
    given += [f"choices={list(question.choices)!r}"] if question.choices else []
    opened = f"graph={_graph(sources)!r}" if sources else ""
    asked = f"import kgqa\n\nanswerer = kgqa.load({opened})\nprint(answerer.answer({', '.join(given)}).text)"
    return _merging(sources, "# ") + asked


def curl(question: Question, sources: Sequence[str] = ()) -> str:
    """The same to a service that was started with `kgqa serve`, as a comment says for a graph of one's own."""
    body = {"question": question.text, "passage": question.passage_text, "choices": list(question.choices)}
    sent = json.dumps({name: value for name, value in body.items() if value}, ensure_ascii=False)
    address = "http://127.0.0.1:8600/v1/answer"
    asked = f"curl {address} -H 'content-type: application/json' -d {shlex.quote(sent)}"
    served = f"# {shlex.join(['kgqa', 'serve', '--graph', _graph(sources)])}\n" if sources else ""
    return _merging(sources, "# ") + served + asked


def _graph(sources: Sequence[str]) -> str:
    return sources[0] if len(sources) == 1 else "graph"


def _merging(sources: Sequence[str], before: str = "") -> str:
    """The command that merges several files into one graph, on a line of its own; nothing for one file."""
    merge = shlex.join(["kgqa", "graph", "import", *sources, "--out", "graph"])
    return f"{before}{merge}\n" if len(sources) > 1 else ""

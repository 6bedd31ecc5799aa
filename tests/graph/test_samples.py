"""Questions made from a graph are ones that it answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.graph.opening import open_graph
from kgqa.graph.samples import common_types, sample_questions, worded
from kgqa.types import Relation

GRAPHS = Path(__file__).parents[1] / "graphs"


@pytest.mark.parametrize(
    ("label", "question"),
    [
        ("capital", "What is the capital of X?"),
        ("has capital", "What is the capital of X?"),
        ("eats", "What does X eat?"),
        ("works for", "What does X work for?"),
        ("made by", "Who is X made by?"),
        ("is married to", "Who is X married to?"),
        ("belongs to house", "Which house does X belong to?"),
        ("took place at", "Where did X take place?"),
        ("moored at", "Where is X moored?"),
        ("afraid of", "What is X afraid of?"),
        ("number of beds", "What is the number of beds of X?"),
        ("directed", "What did X direct?"),
        ("소속", "X의 소속은 무엇인가요?"),
    ],
)
def test_worded(label: str, question: str) -> None:
    assert worded(Relation("", label), "X") == question


@pytest.mark.parametrize(
    ("label", "question"),
    [
        ("stars", "Who stars in X?"),
        ("has director", "Who is the director of X?"),
        ("director", "Who is the director of X?"),
        ("employs", "Who does X employ?"),
    ],
)
def test_of_people_it_is_asked_who(label: str, question: str) -> None:
    assert worded(Relation("", label), "X", person=True) == question


def test_dates_are_asked_for_by_when() -> None:
    assert worded(Relation("", "born on"), "X", dated=True) == "When was X born?"


NO_GRAPHS = {".json", ".jsonl", ".md", ".py", ".toml"}
FILES = sorted(path for path in GRAPHS.rglob("*.*") if path.is_file() and path.suffix not in NO_GRAPHS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_three_questions_of_any_graph(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    graph = open_graph(path)
    questions = sample_questions(graph)
    assert len(set(questions)) == 3 and all(question.endswith(("?", "요?")) for question in questions)
    assert len(sample_questions(graph, 1)) == 1


def test_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    types = common_types(open_graph(GRAPHS / "harbour.ttl"))
    assert types[0] == ("Fishing Trawler", 2)
    assert sum(count for _, count in types) == 7

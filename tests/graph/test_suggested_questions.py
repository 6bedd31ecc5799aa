"""Questions made from a graph are ones that it answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.graph.load import open_graph
from kgqa.graph.suggested_questions import common_types, suggested_questions

GRAPHS = Path(__file__).parents[1] / "graphs"


NO_GRAPHS = {".json", ".jsonl", ".md", ".py", ".toml"}
FILES = sorted(path for path in GRAPHS.rglob("*.*") if path.is_file() and path.suffix not in NO_GRAPHS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_three_questions_of_any_graph(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    graph = open_graph(path)
    questions = [question for question, _ in suggested_questions(graph)]
    assert len(set(questions)) == 3 and all(question.endswith(("?", "요?")) for question in questions)
    assert len(suggested_questions(graph, 1)) == 1


def test_of_a_small_graph_each_relation_is_asked_about_more_than_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    table = tmp_path / "table.csv"
    table.write_text("name,keeps,lives in\nOdin,bees,Norland\nInga,goats,Sudland\nPer,hens,Norland\n")
    questions = [question for question, _ in suggested_questions(open_graph(table), 15)]
    assert len(set(questions)) == len(questions) == 6
    assert len({question.split()[2] for question in questions[:2]}) == 2  # first, of different things


def test_a_truth_is_not_asked_for_like_a_thing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = tmp_path / "ferries.ttl"
    file.write_text("""@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:crosses rdfs:label "crosses" . :electric rdfs:label "is electric" . :lorn rdfs:label "the lake" .
:otter rdfs:label "Otter" ; :crosses :lorn ; :electric true .""")
    assert [question for question, _ in suggested_questions(open_graph(file))] == ["What does Otter cross?"]


def test_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    types = common_types(open_graph(GRAPHS / "harbour.ttl"))
    assert types[0] == ("Fishing Trawler", 2)
    assert sum(count for _, count in types) == 7

"""Questions made of one's own graph, and a reader fitted to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.graph.load import open_graph
from kgqa.settings import GRAPH_SUITE
from kgqa.trainer.finetuning.adapt import graph_questions
from kgqa.types import InputError


@pytest.fixture
def films(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return str(GRAPH_SUITE / "films.ttl")


def test_questions_are_about_facts_and_held_out_things_are_others(films: str) -> None:
    graph = open_graph(films)
    train, held = graph_questions(graph, 120)
    assert graph_questions(graph, 120) == (train, held)
    assert {e.kind for e in train} == {"one-hop", "reverse", "two-hop", "unanswerable"}
    edges = graph.neighbours(graph.ids(graph.names(graph.find(["Nine Winters"])[0])))
    about = set(graph.labels(edges.tail)) | set(graph.labels(edges.head))
    for example in (*train, *held):
        assert bool(example.concepts) == (example.kind != "unanswerable")
        if example.kind == "one-hop" and "Nine Winters" in example.question.text:
            assert set(example.concepts) <= about, example
    texts = {e.question.text for e in train}
    assert not texts & {e.question.text for e in held if e.kind == "one-hop"}


def test_too_small_a_graph_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "one.tsv").write_text("head\trelation\ttail\ntrowel\tmade by\tAda\n", encoding="utf-8")
    with pytest.raises(InputError, match="too few"):
        graph_questions(open_graph(str(tmp_path / "one.tsv")), 50)

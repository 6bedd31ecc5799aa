"""Questions over many graphs and edits of them: what is right, what is counted, and that the shipped suite is sound."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from kgqa.graph.load import open_graph
from kgqa.settings import GRAPH_SUITE
from kgqa.types import Answer, InputError, Item, KnowledgeGraph, Source
from training.experiments.baselines import StemOverlap
from training.experiments.graph_suite import (
    KINDS,
    ask_edits,
    ask_suite,
    facts_between,
    figures,
    is_right,
    load_edits,
    load_suite,
)

FACTS = "head\trelation\ttail\ntrowel\tused for\tdigging\ntrowel\tmade by\tOslo Works\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.tsv").write_text(FACTS, encoding="utf-8")
    rows = [
        {"id": "1", "question": "Who made the trowel?", "kind": "one-hop", "answers": ["Oslo Works"]},
        {"id": "2", "question": "What does a spade cost?", "kind": "unanswerable", "answers": []},
    ]
    edit = {
        "graph": "tools.tsv",
        "question": "Who made the trowel?",
        "add": [["trowel", "made by", "Bergen Steel"]],
        "remove": [["trowel", "made by", "Oslo Works"]],
        "before": ["Oslo Works"],
        "after": ["Bergen Steel"],
    }
    (tmp_path / "tools.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "edits.jsonl").write_text(json.dumps(edit) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("output", "answers", "right"),
    [
        ("9800.0", ["9800"], True),
        ("12,000", ["12000"], True),
        ("£2.80", ["£280"], False),
        ("1.9", ["19"], False),
        ("the Old Forge", ["Old Forge"], True),
        ("김서연", ["김서연"], True),
        ("", ["yes"], False),
        ("", [], False),
        (None, [], True),
        (None, ["no"], False),
    ],
)
def test_what_is_right(output: str | None, answers: list[str], right: bool) -> None:
    assert is_right(output, answers) is right


def stems(graph: KnowledgeGraph):
    return StemOverlap(graph).answer_many


def test_every_system_is_asked_everything(folder: Path) -> None:
    silent = {
        "silent": lambda graph: lambda questions: [Answer(q, None, Source.NONE, 0.0) for q in questions],
        "stems": stems,
    }
    results = ask_suite(load_suite(folder), silent, open_graph)
    assert figures(results, "kind") == {
        "silent": {"one-hop": (0, 1), "unanswerable": (1, 1), "all": (1, 2)},
        "stems": {"one-hop": (1, 1), "unanswerable": (1, 1), "all": (2, 2)},
    }


def test_a_graph_that_cannot_be_read_is_wrong_and_says_why(folder: Path) -> None:
    (folder / "tools.tsv").write_text("one column\n", encoding="utf-8")
    results = ask_suite(load_suite(folder), {"stems": stems}, open_graph)
    assert not any(result.right for result in results)
    assert all("tools.tsv:1" in result.problem for result in results)


def test_an_edit_moves_the_answer(folder: Path) -> None:
    (change,) = ask_edits(load_edits(folder), stems, lambda name: open_graph(folder / name))
    assert (change.before, change.after, change.right) == ("Oslo Works", "Bergen Steel", True)


@pytest.mark.parametrize("removed", [["trowel", "made by", "*"], ["*", "made by", "Oslo Works"]])
def test_a_star_strikes_whatever_stands_there(folder: Path, removed: list[str]) -> None:
    edit = json.loads((folder / "edits.jsonl").read_text(encoding="utf-8")) | {"remove": [removed]}
    (folder / "edits.jsonl").write_text(json.dumps(edit) + "\n", encoding="utf-8")
    (change,) = ask_edits(load_edits(folder), stems, lambda name: open_graph(folder / name))
    assert change.after == "Bergen Steel"


def test_facts_in_words(folder: Path) -> None:
    graph = open_graph(folder / "tools.tsv")
    (fact,) = facts_between(graph, [("Trowel", "Made By", "nobody")])
    assert (fact.triple.head, fact.triple.relation, fact.triple.tail) == ("trowel", "made by", "nobody")


@pytest.mark.parametrize(
    ("texts", "right"), [(["July", "august"], True), (["July"], False), (["July", "August", "May"], False)]
)
def test_a_list_is_right_as_a_whole(folder: Path, texts: list[str], right: bool) -> None:
    row = {"question": "In which months does it bloom?", "kind": "list", "answers": ["July", "August"]}
    (folder / "tools.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (asked,) = load_suite(folder)
    items = tuple(map(Item, texts)) if len(texts) > 1 else ()
    answer = Answer(asked.question, ", ".join(texts), Source.KNOWLEDGE, 1.0, items=items)
    (result,) = ask_suite([asked], {"it": lambda graph: lambda questions: [answer]}, open_graph)
    assert result.right is right


def test_the_graphs_in_other_vocabularies_are_sound() -> None:
    suite = load_suite(GRAPH_SUITE / "vocabularies")
    assert sorted(Counter(asked.graph for asked in suite).values()) == [20] * 6
    assert {asked.kind for asked in suite} <= set(KINDS)
    for asked in suite:
        assert bool(asked.answers) is (asked.kind != "unanswerable"), asked


@pytest.mark.parametrize(
    "line", ["[]", "{", '{"question": "Q", "kind": "odd", "answers": []}', '{"kind": "literal"}']
)
def test_what_is_no_question_is_refused_with_its_line(folder: Path, line: str) -> None:
    (folder / "tools.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"tools\.jsonl:1"):
        load_suite(folder)


def test_the_shipped_suite_is_sound() -> None:
    suite = load_suite(GRAPH_SUITE)
    assert len({asked.graph for asked in suite}) >= 12
    kinds = Counter(asked.kind for asked in suite)
    assert set(kinds) == set(KINDS) - {"list"}
    assert sum(kinds.values()) >= 330
    assert len({asked.question.id for asked in suite}) == len(suite)
    for asked in suite:
        assert bool(asked.answers) is (asked.kind != "unanswerable"), asked
        assert (asked.question.passage is not None) is (asked.kind == "with-passage"), asked
        assert asked.kind != "yes-no" or asked.answers in {("yes",), ("no",)}, asked
    edits = load_edits(GRAPH_SUITE)
    assert len(edits) >= 60
    for edit in edits:
        assert edit.graph == "everyday" or (GRAPH_SUITE / edit.graph).exists()
        assert edit.add or edit.remove
        assert not set(edit.before or ()) & set(edit.after), edit

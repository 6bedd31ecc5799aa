from __future__ import annotations

import json
from pathlib import Path

from training.experiments.same_answers import differing, drawn, question_sets


def written(path: Path, *texts: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"question": text}) + "\n" for text in texts))
    return path


def test_questions_are_drawn_evenly_over_sets_with_a_graph(tmp_path) -> None:
    few = written(tmp_path / "training/data/home.jsonl", "What is it?", "Where is it?")
    many = written(tmp_path / "tests/graphs/chess.jsonl", *(f"Who is number {n}?" for n in range(20)))
    graph = tmp_path / "tests/graphs/chess.ttl"
    graph.write_text("")
    written(tmp_path / "tests/graphs/edits.jsonl", "Which graph?")
    sets = question_sets(tmp_path)
    assert sets == {few: "everyday", many: str(graph)}
    found = drawn(sets, 10, seed=0)
    assert found == drawn(sets, 10, seed=0) != drawn(sets, 10, seed=1)
    assert {path: len(questions) for path, questions in found.items()} == {few: 2, many: 5}
    assert len(drawn(sets, 4, seed=0)) == 1  # a set costs the opening of its graph


def test_lines_that_differ_are_found(tmp_path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("a\nb\n")
    other.write_text("a\nc\nd\n")
    assert differing(one, other) == [("b", "c"), ("", "d")] and not differing(one, one)

from dataclasses import replace
from pathlib import Path

import pytest

from kgqa.graph.load import open_graph
from kgqa.qa.compute import execute_form
from kgqa.qa.render import (
    beside,
    in_full,
    likely_runners_up,
    path_sentences,
    perhaps,
    sentence,
    source_words,
)
from kgqa.types import Answer, Candidate, Evidence, EvidencePath, Passage, Question, Source, Span, Subgraph


def test_facts_in_words(digging: Subgraph) -> None:
    assert sentence(digging, 0) == "a trowel is used to plant flowers"
    path = EvidencePath((1, 2), (True, False), 1.0)
    evidence = Evidence(paths=(path,), subgraph=digging)
    assert path_sentences(evidence, path)[1] == "an excavator is used to dig foundation"


def test_a_graph_of_ones_own_is_named() -> None:
    known = Answer(Question("Who?"), "Ann", Source.KNOWLEDGE, 0.9, graph="zoo")
    assert source_words(known) == "from the graph zoo"
    assert source_words(replace(known, graph="everyday")) == "from what is commonly known"
    assert source_words(replace(known, source=Source.PASSAGE)) == "read in the passage"


def known(text: str, score: float) -> Candidate:
    return Candidate(text, Source.KNOWLEDGE, score)


def test_runners_up_share_what_the_confidence_leaves() -> None:
    candidates = (known("trowel", 0.9), known("spade", 0.3), known("hoe", 0.2), known("fork", 0.04))
    answer = Answer(Question("What?"), "trowel", Source.KNOWLEDGE, 0.9, candidates)
    shares = {candidate.text: share for candidate, share in beside(answer)}
    assert list(shares) == ["spade", "hoe"] and shares["spade"] == pytest.approx(0.1 * 0.3 / 0.54)
    assert sum(shares.values()) <= 0.1
    little = replace(answer, confidence=0.3)
    assert dict(beside(little))[candidates[1]] == pytest.approx(0.3)  # there is room for all
    assert (
        dict(beside(replace(answer, confidence=0.15)))[candidates[1]] == 0.15
    )  # none is likelier than the answer


def test_what_is_guessed_is_not_said_twice() -> None:
    answer = Answer(Question("What?"), None, Source.NONE, 0.1, (known("ladle", 0.3), known("spoon", 0.2)))
    assert perhaps(answer) == "ladle"
    assert [candidate.text for candidate, _ in beside(answer)] == ["spoon"]
    assert [candidate.text for candidate, _ in beside(answer, caution=0.0)] == ["ladle", "spoon"]


def test_a_computed_number_has_the_unit_of_its_values(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("name,salary (EUR),office\nAda,50000,Lyon\nBo,40000,Lyon\n", encoding="utf-8")
    graph = open_graph(table)
    for form, text in (
        ('(AVG "salary (eur)" (JOIN office Lyon))', "45000 EUR"),
        ("(COUNT (JOIN office Lyon))", "2"),
    ):
        assert in_full(execute_form(form, graph)) == text


def test_marks_are_no_runners_up() -> None:
    passage = "I want to build a house, so I dug."
    read = [
        Candidate(passage[a:b], Source.PASSAGE, 0.1, Span(a, b)) for a, b in ((23, 24), (23, 33), (25, 29))
    ]
    answer = Answer(
        Question("What?", (), Passage(passage)), "x", Source.KNOWLEDGE, 0.5, (known("x", 0.5), *read)
    )
    assert [candidate.text for candidate in likely_runners_up(answer)] == ["so I"]

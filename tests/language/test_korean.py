from __future__ import annotations

from dataclasses import replace

import pytest

from kgqa.graph.formats.source_files import Label
from kgqa.graph.overlay import OverlayGraph
from kgqa.graph.storage.store import GraphStore
from kgqa.language.wording import with_yes_no_words, without_particles, yes_no_words
from kgqa.qa.gloss import answered_in, labels_in
from kgqa.types import (
    Answer,
    Candidate,
    Evidence,
    Item,
    Passage,
    Question,
    Relation,
    Source,
    Span,
    Triple,
)

pytest.importorskip("kiwipiepy")

USED = "https://kgqa.org/relation/UsedFor"


@pytest.fixture
def graph():
    labels = [
        Label("urn:trowel", "trowel", "en", True),
        Label("urn:trowel", "모종삽", "ko", True),
        Label("urn:plant", "plant flowers", "en", True),
        Label("urn:plant", "꽃을 심다", "ko", True),
        Label("urn:spade", "spade", "en", True),
    ]
    facts = [Triple("urn:trowel", USED, "urn:plant"), Triple("urn:spade", USED, "urn:plant")]
    return GraphStore.from_triples(facts, labels, [Relation(USED, "used for", "is used for")])


def test_concepts_and_lists_are_said_in_korean(graph):
    trowel = Candidate("trowel", Source.KNOWLEDGE, 0.9, concept="urn:trowel")
    spade = Candidate("spade", Source.KNOWLEDGE, 0.1, concept="urn:spade")
    question = Question("꽃을 무엇으로 심니?")
    answer = Answer(question, "trowel", Source.KNOWLEDGE, 0.9, (trowel, spade), Evidence())
    assert [c.text for c in answered_in(answer, graph, "ko").candidates] == ["모종삽", "spade"]
    assert answered_in(answer, graph, "ko").text == "모종삽"
    items = (Item("trowel", "urn:trowel"), Item("spade", "urn:spade"))
    several = answered_in(replace(answer, text="trowel, spade", items=items), graph, "ko")
    assert several.text == "모종삽, spade" and several.items[0].text == "모종삽"
    computed = replace(answer, text="3", candidates=(Candidate("3", Source.KNOWLEDGE, 0.9),))
    assert answered_in(computed, graph, "ko").text == "3"
    assert (
        answered_in(replace(answer, text=None, source=Source.NONE, candidates=()), graph, "ko").text is None
    )


def test_what_has_no_korean_label_keeps_its_own(graph):
    names, own = ["urn:spade", "urn:trowel", "urn:new"], ["spade", "trowel", "new"]
    assert labels_in(graph, names, own, "ko") == ["spade", "모종삽", "new"]
    assert labels_in(OverlayGraph(graph), ["urn:trowel"], ["trowel"], "ko") == ["모종삽"]


def test_a_number_comes_with_what_it_counts() -> None:
    text = "커피는 사천오백 원이다."
    found = Candidate("사천오백", Source.PASSAGE, 0.9, span=Span(4, 8))
    question = Question("커피는 얼마니?", passage=Passage(text))
    answer = Answer(question, "사천오백", Source.PASSAGE, 0.9, (found,), Evidence(span=found.span))
    assert without_particles(answer).text == "사천오백 원"


def test_what_was_read_of_korean_is_said_without_its_particle() -> None:
    pytest.importorskip("kiwipiepy")
    text = "탑은 파리에서 세워졌다."
    question = Question("탑은 어디에서 세워졌니?", passage=Passage(text))
    told = (
        Candidate("파리에서", Source.PASSAGE, 0.6, span=Span(3, 7)),
        Candidate("파리", Source.PASSAGE, 0.3, span=Span(3, 5)),
    )
    evidence = Evidence(span=Span(3, 7))
    answer = Answer(question, "파리에서", Source.PASSAGE, 0.6, told, evidence)
    said = without_particles(answer)
    assert said.text == "파리" and said.evidence.span == Span(3, 5) and len(said.candidates) == 1
    yes = replace(answer, text="yes", candidates=(Candidate("yes", Source.PASSAGE, 0.9),))
    assert with_yes_no_words(without_particles(yes), yes_no_words("ko")).text == "네"

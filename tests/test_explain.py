from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kgqa.answerer import Answerer
from kgqa.explain import (
    Edit,
    add,
    answer_json,
    ask_again,
    edits_turtle,
    influences,
    path_sentences,
    sentence,
    source_words,
    strike,
    strike_answer,
)
from kgqa.graph.retrieval.ablation import without_edges
from kgqa.types import (
    Answer,
    Candidate,
    Evidence,
    EvidencePath,
    InputError,
    Passage,
    Question,
    Relation,
    Source,
    Subgraph,
    Triple,
)


def test_facts_in_words(digging: Subgraph) -> None:
    assert sentence(digging, 0) == "a trowel is used to plant flowers"
    path = EvidencePath((1, 2), (True, False), 1.0)
    evidence = Evidence(paths=(path,), subgraph=digging)
    assert path_sentences(evidence, path)[1] == "an excavator is used to dig foundation"


def test_a_struck_out_fact_is_gone_and_nothing_else(digging: Subgraph) -> None:
    less = without_edges(digging, [1])
    assert len(less.edges) == 2 and less.nodes == digging.nodes
    assert np.array_equal(less.edges[1], digging.edges[2])


def test_the_json_answer_has_its_stable_keys(digging: Subgraph) -> None:
    path = EvidencePath((0,), (False,), 0.5)
    best = Candidate("trowel", Source.KNOWLEDGE, 0.8, concept="ev:trowel")
    answer = Answer(
        Question("what", id="7"),
        "trowel",
        Source.KNOWLEDGE,
        0.8,
        (best,),
        Evidence(paths=(path,), subgraph=digging),
    )
    found = answer_json(answer)
    assert list(found) == [
        "id",
        "question",
        "answer",
        "source",
        "confidence",
        "candidates",
        "evidence",
        "timing_ms",
        "model",
        "graph",
    ]
    (triple,) = found["evidence"]["paths"][0]["triples"]
    assert triple["head"] == "trowel" and triple["iri"][0] == "ev:trowel"
    assert found["candidates"][0]["concept"] == "ev:trowel"


def test_influence_is_the_change_when_a_fact_is_taken_away(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    question = Question("What did I dig with?", ("trowel", "bee"), Passage("I plant flowers."))
    answer = answerer.answer(question)
    for found in influences(answerer, answer):
        assert -1 <= found.change <= 1 and found.sentence
    if answer.text == "trowel":
        assert influences(answerer, answer)
    assert pytest.approx(1.0) == sum(c.score for c in answer.candidates)


USED_FOR = Relation("http://example.org/usedFor", "used for", "is used for")


def test_what_if_there_were_no_such_thing(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    question = Question("What did I dig with?", (), Passage("I plant flowers."))
    (graph,) = answerer.retrieve(question)
    trowel = graph.labels.index("trowel")
    best = Candidate("trowel", Source.KNOWLEDGE, 0.5, concept=graph.nodes[trowel])
    answer = Answer(question, "trowel", Source.KNOWLEDGE, 0.5, (best,), Evidence(subgraph=graph))
    edits = strike_answer(answer)
    assert edits and all("trowel" in edit.labels and not edit.added for edit in edits)
    after = ask_again(answerer, question, edits)
    assert "trowel" not in [c.text for c in after.candidates]
    back = [Edit(e.triple, e.relation, e.labels) for e in edits]  # what is struck and added again is there
    restored = ask_again(answerer, question, [*edits, *back])
    assert "trowel" in restored.evidence.subgraph.labels


def test_no_fact_near_an_answer_has_no_influence(
    model_folder: Path, tools_file: Path, digging: Subgraph
) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    best = Candidate("a spoon", Source.CHOICE, 0.6)  # the facts are there, but none leads to it
    question = Question("What did I dig with?", ("a spoon", "a fork"))
    answer = Answer(question, best.text, best.source, 0.6, (best,), Evidence(subgraph=digging))
    assert influences(answerer, answer) == []


def test_words_of_a_fact_mean_the_graphs_concepts(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    edit = add(answerer, "Excavator", USED_FOR, "a <purple> thing")
    assert edit.triple.head == "http://example.org/excavator"
    assert edit.triple.tail.startswith("urn:kgqa:added:") and "<" not in edit.triple.tail
    with pytest.raises(InputError, match="both ends"):
        add(answerer, " ", USED_FOR, "excavator")
    question = Question("What did I dig with?", (), Passage("I plant flowers."))
    answer = ask_again(answerer, question, [edit, add(answerer, "excavator", USED_FOR, "plant flowers")])
    said = [sentence(answer.evidence.subgraph, e) for e in range(len(answer.evidence.subgraph.edges))]
    assert "excavator is used for plant flowers" in said
    assert "excavator is used for plant flowers" not in [
        sentence(g, e) for g in answerer.retrieve(question) for e in range(len(g.edges))
    ]


def test_edits_are_turtle_that_a_parser_reads(digging: Subgraph) -> None:
    import rdflib

    evil = Edit(Triple("x:a> . <y", "p", "x:b"), Relation("p", "p"), ('say "hi"\n\\', "b"))
    read = rdflib.Graph().parse(data=edits_turtle([evil, strike(digging, 0)]), format="turtle")
    assert len(read) == 3 + 4
    assert any(str(o) == 'say "hi"\n\\' for o in read.objects())


def test_a_graph_of_ones_own_is_named() -> None:
    known = Answer(Question("Who?"), "Ann", Source.KNOWLEDGE, 0.9, graph="zoo")
    assert source_words(known) == "from the graph zoo"
    assert source_words(replace(known, graph="everyday")) == "from what is commonly known"
    assert source_words(replace(known, source=Source.PASSAGE)) == "read in the passage"

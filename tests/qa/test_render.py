from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kgqa.graph.load import open_graph
from kgqa.qa.answerer import Answerer
from kgqa.qa.compute import execute_form
from kgqa.qa.render import (
    Edit,
    FactAttribution,
    add,
    answer_json,
    attributions_json,
    beside,
    edited_facts,
    edits_turtle,
    evidence_turtle,
    in_full,
    json_lines,
    likely_runners_up,
    path_sentences,
    perhaps,
    remove,
    remove_answer,
    sentence,
    source_words,
)
from kgqa.types import (
    Answer,
    Candidate,
    Evidence,
    EvidencePath,
    InputError,
    Item,
    Passage,
    Question,
    Relation,
    Source,
    Span,
    Subgraph,
    Triple,
)


def test_facts_in_words(digging: Subgraph) -> None:
    assert sentence(digging, 0) == "a trowel is used to plant flowers"
    path = EvidencePath((1, 2), (True, False), 1.0)
    evidence = Evidence(paths=(path,), subgraph=digging)
    assert path_sentences(evidence, path)[1] == "an excavator is used to dig foundation"


def test_the_sense_in_a_name_tells_a_material_from_a_thing(digging: Subgraph) -> None:
    labels = ("plant flowers", "build house", "iron", *digging.labels[3:])
    for name, sentence_of_it in (("ev:iron_metal", "iron is used to"), ("ev:iron", "an iron is used to")):
        named = replace(digging, labels=labels, nodes=(*digging.nodes[:2], name, *digging.nodes[3:]))
        assert sentence(named, 0) == f"{sentence_of_it} plant flowers"


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
        "reason",
        "care",
        "candidates",
        "items",
        "evidence",
        "timing_ms",
        "model",
        "graph",
    ]
    (triple,) = found["evidence"]["paths"][0]["triples"]
    assert triple["head"] == "trowel" and triple["iri"][0] == "ev:trowel"
    assert found["candidates"][0]["concept"] == "ev:trowel"
    (line,) = json_lines([answer])
    assert line.endswith("\n") and json.loads(line) == json.loads(json.dumps(found))
    (attribution,) = attributions_json(answer, [FactAttribution(0, "a fact", 0.25)])
    assert attribution == {"sentence": "a fact", "change": 0.25, "iri": list(attribution["iri"])}
    assert attribution["iri"][0] == "ev:trowel"


def test_several_things_are_told_each_with_its_facts_or_its_place(digging: Subgraph) -> None:
    first, second = EvidencePath((0,), (False,), 0.5), EvidencePath((2,), (False,), 0.4)
    items = (Item("trowel", "ev:trowel", path=first), Item("excavator", "ev:excavator", path=second))
    best = Candidate("trowel", Source.KNOWLEDGE, 0.8, concept="ev:trowel")
    answer = Answer(
        Question("what"),
        "trowel, excavator",
        Source.KNOWLEDGE,
        0.8,
        (best,),
        Evidence(paths=(first,), subgraph=digging),
        items=items,
    )
    found = answer_json(answer, full=True)
    brief = answer_json(answer)
    size = found["evidence"]["subgraph"]["size"]
    assert brief["evidence"].pop("subgraph") == {"nodes": [], "edges": [], "size": size}
    assert brief["evidence"].items() <= found["evidence"].items() and brief["items"] == found["items"]
    assert [item["text"] for item in found["items"]] == ["trowel", "excavator"]
    assert found["items"][1]["path"]["triples"][0]["iri"][0] == "ev:excavator"
    assert {"ev:trowel", "ev:excavator"} <= {node["iri"] for node in found["evidence"]["subgraph"]["nodes"]}
    assert answer.best == "trowel" and not answer.runners_up
    spans = answer_json(
        Answer(Question("what"), "a and b", Source.PASSAGE, 0.5, items=(Item("a", span=Span(0, 1)),))
    )
    assert spans["items"] == [{"text": "a", "concept": None, "span": [0, 1], "path": None}]


USED_FOR = Relation("http://example.org/usedFor", "used for", "is used for")


def test_what_if_there_were_no_such_thing(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    question = Question("What did I dig with?", (), Passage("I plant flowers."))
    (graph,) = answerer.retrieve(question)
    trowel = graph.labels.index("trowel")
    best = Candidate("trowel", Source.KNOWLEDGE, 0.5, concept=graph.nodes[trowel])
    answer = Answer(question, "trowel", Source.KNOWLEDGE, 0.5, (best,), Evidence(subgraph=graph))
    edits = remove_answer(answer)
    assert edits and all("trowel" in edit.labels and not edit.added for edit in edits)
    after = answerer.ask_again(question, edits)
    assert "trowel" not in [c.text for c in after.candidates]
    back = [Edit(e.triple, e.relation, e.labels) for e in edits]  # what is removed and added again is there
    restored = answerer.ask_again(question, [*edits, *back])
    assert "trowel" in restored.evidence.subgraph.labels


def test_words_of_a_fact_mean_the_graphs_concepts(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    edit = add(answerer.linker, "Excavator", USED_FOR, "a <purple> thing")
    assert edit.triple.head == "http://example.org/excavator"
    assert edit.triple.tail.startswith("urn:kgqa:added:") and "<" not in edit.triple.tail
    with pytest.raises(InputError, match="a head and a tail"):
        add(answerer.linker, " ", USED_FOR, "excavator")
    question = Question("What did I dig with?", (), Passage("I plant flowers."))
    answer = answerer.ask_again(
        question, [edit, add(answerer.linker, "excavator", USED_FOR, "plant flowers")]
    )
    output = [sentence(answer.evidence.subgraph, e) for e in range(len(answer.evidence.subgraph.edges))]
    assert "excavator is used for plant flowers" in output
    assert "excavator is used for plant flowers" not in [
        sentence(g, e) for g in answerer.retrieve(question) for e in range(len(g.edges))
    ]


def test_of_two_edits_of_one_fact_the_later_holds(digging: Subgraph) -> None:
    gone = remove(digging, 0)
    back = Edit(gone.triple, gone.relation, gone.labels)
    assert [list(map(len, edited_facts(edits))) for edits in ([gone], [gone, back])] == [[0, 1], [1, 0]]


def test_edits_are_turtle_that_a_parser_reads(digging: Subgraph) -> None:
    import rdflib

    evil = Edit(Triple("x:a> . <y", "p", "x:b"), Relation("p", "p"), ('say "hi"\n\\', "b"))
    read = rdflib.Graph().parse(data=edits_turtle([evil, remove(digging, 0)]), format="turtle")
    assert len(read) == 3 + 4
    assert any(str(o) == 'say "hi"\n\\' for o in read.objects())


def test_the_facts_of_an_answer_are_turtle_too(digging: Subgraph) -> None:
    import rdflib

    best = Candidate("trowel", Source.KNOWLEDGE, 0.8, concept="ev:trowel")
    evidence = Evidence(paths=(EvidencePath((0,), (False,), 0.5),), subgraph=digging)
    answer = Answer(Question("what"), "trowel", Source.KNOWLEDGE, 0.8, (best,), evidence)
    assert len(rdflib.Graph().parse(data=evidence_turtle(answer, [0]), format="turtle")) == 4


def test_a_value_of_the_evidence_is_a_literal(digging: Subgraph) -> None:
    import rdflib

    three = '"3"^^<http://www.w3.org/2001/XMLSchema#integer>'
    evidence = Evidence(subgraph=replace(digging, nodes=(three, *digging.nodes[1:])))
    answer = Answer(Question("what"), "3", Source.KNOWLEDGE, 0.8, (), evidence)
    read = rdflib.Graph().parse(data=evidence_turtle(answer, [0]), format="turtle")
    assert len(read) == 3 and rdflib.Literal(3) in set(read.objects())

from dataclasses import replace

from apps.graph_view import near_edges, picked_edges, quote, to_dot
from kgqa.answering.evidence.paths import answer_nodes
from kgqa.answering.presentation.answer_json import shown_edges
from kgqa.types import Answer, Candidate, Evidence, EvidencePath, Item, Question, Source, Subgraph


def answered(graph: Subgraph) -> Answer:
    best = Candidate("excavator", Source.KNOWLEDGE, 0.9, concept="ev:excavator")
    evidence = Evidence(paths=(EvidencePath((1, 2), (True, False), 0.5),), subgraph=graph)
    return Answer(Question("what"), "excavator", Source.KNOWLEDGE, 0.9, (best,), evidence)


def test_the_path_comes_first_and_is_bold(digging: Subgraph) -> None:
    answer = answered(digging)
    assert shown_edges(answer)[:2] == [1, 2] and answer_nodes(answer) == {3}
    dot = to_dot(answer, 30)
    assert dot.count("penwidth=3") == 2 and '"excavator"' in dot


def test_few_nodes_are_shown(digging: Subgraph) -> None:
    assert len(shown_edges(answered(digging), limit=3)) == 2


def test_labels_stay_text(digging: Subgraph) -> None:
    evil = 'x"]; n9 [label="<script>'
    dot = to_dot(answered(replace(digging, labels=(evil, *digging.labels[1:]))), 30)
    assert quote(evil)[1:-1].replace('\\"', "").count('"') == 0 and dot.count("digraph") == 1


def test_the_path_alone_and_one_fact_between_two_concepts(digging: Subgraph) -> None:
    answer = answered(digging)
    assert picked_edges(answer, 0) == [1, 2]
    twice = replace(digging, edges=digging.edges[[0, 1, 2, 2]], weights=digging.weights[[0, 1, 2, 2]])
    assert len(picked_edges(answered(twice), 30)) == len(picked_edges(answer, 30))


def test_long_labels_are_wrapped_and_cut() -> None:
    said = quote("a " * 200)
    assert said.count("\\n") == 2 and said.endswith('…"')


def test_an_answer_that_is_no_concept_has_facts_around_it_too(digging: Subgraph) -> None:
    read = Candidate("the ground", Source.PASSAGE, 0.9)
    answer = Answer(
        Question("what"), read.text, Source.PASSAGE, 0.9, (read,), Evidence(subgraph=digging), {}, "", ""
    )
    assert near_edges(answer, 30) and picked_edges(answer, 30) and "->" in to_dot(answer, 9)
    nothing = Answer(Question("what"), None, Source.NONE, 0.9)
    assert near_edges(nothing, 30) == []


def test_the_path_runs_from_what_was_said_to_the_answer(digging: Subgraph) -> None:
    """The second fact is walked from its tail to its head: it is laid out that way, with its arrow as it is stored."""
    said = to_dot(answered(digging), 30)
    assert "n1 -> n4 [" in said and "n4 -> n3 [" in said and "dir=back" in said.partition("n4 -> n3")[2]
    assert "rankdir=LR" in said and "rankdir=TB" in to_dot(answered(digging), 30, narrow=True)
    assert said.count("penwidth=2.5") == 3  # the concepts of the path stand out


def test_of_several_things_each_has_its_path(digging: Subgraph) -> None:
    paths = EvidencePath((0,), (False,), 0.9), EvidencePath((2,), (False,), 0.5)
    items = tuple(
        Item(label, concept=name, path=path)
        for label, name, path in zip(
            ("trowel", "excavator"), ("ev:trowel", "ev:excavator"), paths, strict=True
        )
    )
    answer = replace(answered(digging), items=items, text="trowel, excavator")
    assert picked_edges(answer, 0) == [0, 2]
    assert to_dot(answer, 30).count("penwidth=3") == 2

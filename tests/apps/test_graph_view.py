from dataclasses import replace

from apps.graph_view import MAX_REMOVED, ghosts_of, near_edges, picked_edges, quote, to_dot
from kgqa.qa.evidence import answer_nodes
from kgqa.qa.render import remove, shown_edges
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
    output = quote("a " * 200)
    assert output.count("\\n") == 2 and output.endswith('…"')


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
    output = to_dot(answered(digging), 30)
    assert "n1 -> n4 [" in output and "n4 -> n3 [" in output and "dir=back" in output.partition("n4 -> n3")[2]
    assert "rankdir=LR" in output and "rankdir=TB" in to_dot(answered(digging), 30, narrow=True)
    assert output.count("penwidth=2.5") == 3  # the concepts of the path stand out


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


def test_of_many_facts_that_are_gone_those_between_what_is_drawn_come_first(digging: Subgraph) -> None:
    gone = [remove(digging, edge) for edge in range(len(digging.edges))]
    there = replace(digging, edges=digging.edges[:0], weights=digging.weights[:0])
    edits = [*(replace(e, triple=replace(e.triple, head=f"x:{n}")) for n, e in enumerate(gone)), gone[0]]
    ends = {gone[0].triple.head, gone[0].triple.tail}
    found = ghosts_of(there, edits, ends)
    assert len(found) == MAX_REMOVED and next(iter(found)) == len(gone)
    far, near = (
        to_dot(replace(answered(digging), evidence=Evidence(subgraph=there)), 0, removed=e)
        for e in (edits[:1], gone[:1])
    )
    assert "style=dashed" in far and "constraint=false" not in far and "dashed" in near

from dataclasses import replace

import numpy as np
import pytest

from kgqa.deletion import answer_paths, by_deletion, deletion_test, falls, probability, rivals, targets
from kgqa.types import (
    Answer,
    Candidate,
    Evidence,
    EvidencePath,
    NodeRole,
    Passage,
    Question,
    Relation,
    Source,
    Subgraph,
)

TROWEL = Candidate("trowel", Source.KNOWLEDGE, 0.5, concept="ev:trowel")


@pytest.fixture
def garden(digging: Subgraph) -> Subgraph:
    """The digging subgraph with a second way to the trowel and two facts elsewhere."""
    more = np.array([[2, 0, 1], [3, 0, 1], [4, 0, 0]], dtype=np.int32)
    return replace(
        digging,
        edges=np.concatenate([digging.edges, more]),
        weights=np.append(digging.weights, [1.0, 1.0, 1.0]).astype(np.float32),
    )


class Weighing:
    """An answerer whose answer is as sure as the facts it has of some that matter."""

    def __init__(self, graph: Subgraph, matters: dict[tuple[int, int, int], float], shown: int) -> None:
        self.graph, self.matters, self.shown = graph, matters, shown

    def as_ways(self, *_: object) -> None:
        return None

    def with_edits(self, _added, struck) -> "Weighing":
        struck = {fact.triple for fact in struck}
        kept = [edge for edge in range(len(self.graph.edges)) if self.graph.triple(edge) not in struck]
        edges, weights = self.graph.edges[kept], self.graph.weights[kept]
        return Weighing(replace(self.graph, edges=edges, weights=weights), self.matters, self.shown)

    def retrieve(self, question: Question) -> list[Subgraph]:
        return [self.graph]

    def read(self, questions, subgraphs) -> list[Answer]:
        answers = []
        for question, (graph,) in zip(questions, subgraphs, strict=True):
            weight = sum(self.matters.get(tuple(edge), 0.0) for edge in graph.edges.tolist())
            best = replace(TROWEL, score=0.1 + weight)
            paths = (EvidencePath((self.shown,), (False,), 1.0),)
            answers.append(
                Answer(
                    question, "trowel", Source.KNOWLEDGE, 0.5, (best,), Evidence(paths=paths, subgraph=graph)
                )
            )
        return answers

    def answer(self, question: Question) -> Answer:
        return self.read([question], [[self.graph]])[0]


def test_the_shown_path_is_held_against_all_paths_of_its_size(garden: Subgraph) -> None:
    matters = {(2, 0, 0): 0.5, (2, 0, 1): 0.2}
    questions = [Question("what did i dig with")]
    assert deletion_test(Weighing(garden, matters, shown=0), questions) == [1.0]
    assert deletion_test(Weighing(garden, matters, shown=3), questions) == [0.0]
    far = {(2, 0, 0): 0.2, (3, 0, 4): -0.9, (2, 0, 1): 0.1}
    assert deletion_test(Weighing(garden, far, shown=0), questions) == [0.0]  # a fact elsewhere matters more


def test_rivals_have_the_size_of_the_shown_path_and_are_not_it(garden: Subgraph) -> None:
    answer = Weighing(garden, {}, shown=0).answer(Question("what"))
    found = rivals(answer, answer.evidence.paths[0])
    assert (3,) in found and (0,) not in found and all(len(steps) == 1 for steps in found)
    longer = EvidencePath((2, 4), (True, True), 1.0)
    assert all(len(steps) == 2 and set(steps) != {2, 4} for steps in rivals(answer, longer))


def test_paths_are_ordered_by_what_their_deletion_changes(garden: Subgraph) -> None:
    reader = Weighing(garden, {(2, 0, 0): 0.4, (2, 0, 1): 0.1}, shown=3)
    answer = reader.answer(Question("what did i dig with"))
    assert [path.steps for path in by_deletion(reader, answer, [garden]).evidence.paths] == [(0,), (3,)]
    long = replace(answer, question=Question("what", passage=Passage("dig " * 10_000)))
    assert by_deletion(reader, long, [garden]) == long


def test_only_the_chosen_choice_loses_facts_beside_one_other(digging: Subgraph) -> None:
    seen = []

    class Choosing:
        def read(self, questions, subgraphs) -> list[Answer]:
            assert all(question.choices == ("b", "a") for question in questions)
            seen.extend([len(graph.edges) for graph in group] for group in subgraphs)
            return [
                Answer(q, "b", Source.CHOICE, 0.5, (Candidate("b", Source.CHOICE, 0.5),)) for q in questions
            ]

    question = Question("what", ("a", "b", "c"))
    best = Candidate("b", Source.CHOICE, 0.5)
    answer = Answer(question, "b", Source.CHOICE, 0.5, (best,), Evidence(subgraph=digging))
    assert falls(Choosing(), answer, [digging] * 3, [[0], [0, 1]]) == [0.0, 0.0]  # type: ignore[arg-type]
    assert seen == [[3, 3], [2, 3], [1, 3]]


def test_a_choice_given_twice_has_no_rival(digging: Subgraph) -> None:
    class Choosing:
        def read(self, questions, subgraphs) -> list[Answer]:
            assert all(
                len(q.choices) == len(group) == 1 for q, group in zip(questions, subgraphs, strict=True)
            )
            return [
                Answer(q, "b", Source.CHOICE, 1.0, (Candidate("b", Source.CHOICE, 1.0),)) for q in questions
            ]

    best = Candidate("b", Source.CHOICE, 1.0)
    answer = Answer(
        Question("what", ("b", "b")), "b", Source.CHOICE, 1.0, (best,), Evidence(subgraph=digging)
    )
    assert falls(Choosing(), answer, [digging] * 2, [[0]]) == [0.0]  # type: ignore[arg-type]


def test_a_path_that_gives_no_reason_is_shown_only_for_want_of_another(digging: Subgraph) -> None:
    relations = (Relation("x/UsedFor", "used for"), Relation("x/DistinctFrom", "distinct from"))
    apart = replace(
        digging,
        relations=relations,
        edges=np.array([[2, 1, 0], [2, 0, 3], [0, 0, 3]], dtype=np.int32),
        weights=np.ones(3, dtype=np.float32),
        roles=np.array([0, 3, 3, 3, 3], dtype=np.int32),
    )
    assert [path.steps for path in answer_paths(TROWEL, apart)] == [(2, 1)]
    alone = replace(apart, edges=apart.edges[:1], weights=apart.weights[:1])
    assert [path.steps for path in answer_paths(TROWEL, alone)] == [(0,)]
    long = replace(apart, relations=(Relation("x/HasProperty", "has property"), relations[0]))
    assert [path.steps for path in answer_paths(TROWEL, long)] == [(0,)]  # not: both have the same property


def test_what_the_answer_is_in_the_graph(digging: Subgraph) -> None:
    assert targets(TROWEL, digging) == [2] and targets(replace(TROWEL, concept="ev:no"), digging) == []
    chosen = replace(digging, roles=np.array([0, 1, 2, 2, 3], dtype=np.int32))
    assert targets(Candidate("x", Source.CHOICE, 1.0), chosen) == [2, 3]
    assert NodeRole.CHOICE in chosen.roles
    assert [path.steps for path in answer_paths(TROWEL, digging)] == [(0,)]
    answer = Answer(Question("q"), "trowel", Source.KNOWLEDGE, 0.5, (TROWEL,))
    assert probability(answer, TROWEL) == 0.5 and probability(answer, replace(TROWEL, text="spade")) == 0.0

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kgqa.qa.evidence import (
    MAX_PATHS,
    answer_nodes,
    answer_paths,
    candidate_paths,
    is_shared,
    sentence_around,
    targets,
)
from kgqa.types import (
    Answer,
    Candidate,
    Evidence,
    EvidencePath,
    NodeRole,
    Question,
    Relation,
    Source,
    Span,
    Subgraph,
)

TROWEL = Candidate("trowel", Source.KNOWLEDGE, 0.5, concept="ev:trowel")


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
    long = replace(apart, relations=(Relation("HasProperty", "has property"), relations[0]))
    assert [path.steps for path in answer_paths(TROWEL, long)] == [(0,)]  # not: both have the same property


def test_what_the_answer_is_in_the_graph(digging: Subgraph) -> None:
    assert targets(TROWEL, digging) == [2] and targets(replace(TROWEL, concept="ev:no"), digging) == []
    chosen = replace(digging, roles=np.array([0, 1, 2, 2, 3], dtype=np.int32))
    assert targets(Candidate("x", Source.CHOICE, 1.0), chosen) == [2, 3]
    assert NodeRole.CHOICE in chosen.roles
    assert [path.steps for path in answer_paths(TROWEL, digging)] == [(0,)]
    answer = Answer(Question("q"), "trowel", Source.KNOWLEDGE, 0.5, (TROWEL,), Evidence(subgraph=digging))
    assert answer_nodes(answer) == {2} and not answer_nodes(replace(answer, source=Source.NONE))


def test_a_path_is_shared_where_its_last_fact_is_stated_of_another_also_the_other_way_round(digging) -> None:
    edges = [[2, 0, 1], [3, 0, 1], [2, 0, 0], [1, 1, 2], [1, 1, 3], [0, 1, 2]]
    graph = replace(digging, edges=np.array(edges, dtype=np.int32), weights=np.ones(6, dtype=np.float32))
    trowel_builds, trowel_plants = EvidencePath((0,), (False,), 1.0), EvidencePath((2,), (False,), 1.0)
    assert is_shared(trowel_builds, graph, 3) and not is_shared(trowel_plants, graph, 3)
    turned = graph.only(np.array([0, 2, 3, 4, 5]))  # the excavator's use is stated from the house alone
    assert is_shared(trowel_builds, turned, 3)
    assert not is_shared(EvidencePath((0,), (False,), 1.0), graph.only(np.array([0, 2, 4, 5])), 3)


def test_a_path_over_another_candidate_is_shared(digging) -> None:
    """A spoon is not told from the ice cream scoop by what the scoop is."""
    edges = np.array([[2, 0, 3], [3, 0, 4], [0, 0, 4], [1, 0, 4]], dtype=np.int32)
    roles = np.array([NodeRole.PASSAGE, NodeRole.PASSAGE, 3, 3, 3], dtype=np.int32)
    graph = replace(digging, edges=edges, weights=np.ones(4, dtype=np.float32), roles=roles)
    over = EvidencePath((1, 0), (True, True), 1.0)
    assert is_shared(over, graph, 3) and not is_shared(over, graph, 1)


def steps(graph: Subgraph) -> list[tuple[int, ...]]:
    return [path.steps for path in candidate_paths(TROWEL, graph, "what")]


def test_a_path_begins_at_what_is_mentioned_or_is_a_fact_near_the_question(digging: Subgraph) -> None:
    """The trowel, node 2, is used for planting flowers, which is mentioned, and for digging, which is not."""
    edges = np.array([[2, 0, 0], [2, 0, 4], [1, 0, 4]], dtype=np.int32)
    roles = np.array([NodeRole.QUESTION, 3, 3, 3, 3], dtype=np.int32)
    graph = replace(digging, edges=edges, weights=np.ones(3, dtype=np.float32), roles=roles)
    assert steps(graph) == [(0,)]
    graph = replace(graph, roles=np.array([NodeRole.QUESTION, NodeRole.PASSAGE, 3, 3, 3], dtype=np.int32))
    assert steps(graph) == [(0,), (2, 1)]  # building a house involves digging: so the text leads there
    assert candidate_paths(TROWEL, graph, "what")[1].forward == (True, False)
    assert (1,) in steps(replace(graph, near=np.array([0.0, 0.6, 0.0], dtype=np.float32)))


def test_no_path_runs_over_a_vague_fact_or_a_shared_property(digging: Subgraph) -> None:
    edges = np.array([[2, 0, 0], [2, 1, 4], [0, 1, 4]], dtype=np.int32)
    relations = (Relation("x/DistinctFrom", "distinct from"), Relation("HasProperty", "has property"))
    roles = np.array([NodeRole.QUESTION, 3, 3, 3, 3], dtype=np.int32)
    graph = replace(
        digging, edges=edges, weights=np.ones(3, dtype=np.float32), relations=relations, roles=roles
    )
    assert steps(graph) == []


def test_no_path_states_a_property_that_a_label_names(digging: Subgraph) -> None:
    labels = ("clean", "sharp trowel", "trowel", *digging.labels[3:])
    relations = (Relation("/r/UsedFor", "used for"), Relation("/r/HasProperty", "has property"))
    roles = np.array([3, 3, 0, 0, 3], dtype=np.int32)
    for adjective, steps in (("clean", [(0, 1)]), ("sharp", [])):
        graph = replace(
            digging,
            labels=(adjective, *labels[1:]),
            relations=relations,
            edges=np.array([[1, 0, 3], [1, 1, 0]], dtype=np.int32),
            weights=np.ones(2, dtype=np.float32),
            roles=roles,
        )
        quality = Candidate(adjective, Source.KNOWLEDGE, 0.5, concept=graph.nodes[0])
        assert [path.steps for path in candidate_paths(quality, graph, "what")] == steps


def test_there_are_only_so_many(digging: Subgraph) -> None:
    count = MAX_PATHS + 5
    graph = Subgraph(
        nodes=("ev:trowel", *map(str, range(count))),
        labels=("trowel", *map(str, range(count))),
        roles=np.array([3, *[NodeRole.QUESTION] * count], dtype=np.int32),
        scores=np.ones(count + 1, dtype=np.float32),
        edges=np.array([[0, 0, 1 + n] for n in range(count)], dtype=np.int32),
        weights=np.ones(count, dtype=np.float32),
        relations=digging.relations,
    )
    assert len(steps(graph)) == MAX_PATHS
    assert candidate_paths(replace(TROWEL, concept="ev:no"), graph, "what") == []


def test_the_sentence_around_a_span_is_quoted() -> None:
    text = 'It was late. "The driver rang Dr. Bo," he said. Then they left.\nAll slept'
    at = text.index("he said")
    whole = sentence_around(text, Span(at, at + 7))
    assert text[whole.start : whole.end].endswith("he said.")
    at = text.index("late")
    assert sentence_around(text, Span(at, at + 4)) == Span(0, len("It was late."))
    at = text.index("left.\nAll")
    assert text[slice(*sentence_around(text, Span(at, at + 9)))] == "Then they left.\nAll slept"
    assert sentence_around(text, Span(0, len(text))) == Span(0, len(text))

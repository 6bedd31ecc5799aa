from dataclasses import replace

import numpy as np

from kgqa.qa.evidence import (
    answer_nodes,
    answer_paths,
    is_shared,
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

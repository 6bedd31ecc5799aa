from dataclasses import replace

import numpy as np

from kgqa.qa.evidence import MAX_PATHS, candidate_paths
from kgqa.types import Candidate, NodeRole, Relation, Source, Subgraph

TROWEL = Candidate("trowel", Source.KNOWLEDGE, 0.5, concept="ev:trowel")


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

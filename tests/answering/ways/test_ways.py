import numpy as np
from ship import said

from kgqa.answering.ways.features import way_features
from kgqa.answering.ways.ways import between_in, ways
from kgqa.types import Link, NodeRole, Relation, Subgraph


def test_ways_have_one_fact_or_two_and_begin_at_what_is_named() -> None:
    found = {(way.steps, way.ends) for way in ways(said("Who is the captain of the Gull?", "Gull"))}
    assert (((0, True),), (1,)) in found and (((0, True), (1, True)), (2,)) in found
    assert all(0 not in ends for _, ends in found)


def test_no_way_ends_at_what_only_stands_between_facts() -> None:
    labels = ("Gull", "building of the Gull", "Ada Moss", "offers 1", "900")
    asked = Subgraph(
        ("x:gull", "x:event", "x:ada", "x:offers#1", '"900"'),
        labels,
        np.array([int(NodeRole.QUESTION), *[int(NodeRole.OTHER)] * 4], dtype=np.int32),
        np.full(5, 0.5, dtype=np.float32),
        np.array([(1, 0, 0), (1, 1, 2), (3, 2, 0), (3, 3, 4)], dtype=np.int32),
        np.ones(4, dtype=np.float32),
        tuple(Relation(name, name) for name in ("produced", "carried out by", "item offered", "price")),
        (Link(NodeRole.QUESTION, 14, 18, 0),),
    )
    assert between_in(asked, [0]) == {1, 3}
    found = ways(asked)
    assert sorted(labels[end] for way in found for end in way.ends) == ["900", "Ada Moss"]
    assert way_features("Who built the Gull?", asked, found).far.tolist() == [0, 0]

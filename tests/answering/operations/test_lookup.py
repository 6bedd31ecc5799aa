from pathlib import Path

import pytest

from kgqa.answering.operations.lookup import edge_of, members_of, rows_of, with_facts
from kgqa.graph.opening import open_graph
from kgqa.types import KnowledgeGraph, NodeRole, Subgraph


@pytest.fixture
def graph(tmp_path: Path) -> KnowledgeGraph:
    path = tmp_path / "team.tsv"
    facts = [
        "head relation tail",
        "Ann is_a nurse",
        "nurse is_a_kind_of worker",
        "Bo is_a nurse",
        "Ann knows Bo",
    ]
    path.write_text("".join(f.replace(" ", "\t").replace("_", " ") + "\n" for f in facts), encoding="utf-8")
    return open_graph(path)


def entity(graph: KnowledgeGraph, name: str) -> int:
    return int(graph.find([name])[0][0])


def test_a_subgraph_grows_by_facts(graph: KnowledgeGraph) -> None:
    ann = entity(graph, "ann")
    rows = rows_of(graph, [ann])
    first = with_facts(Subgraph(), graph, rows[:1])
    both = with_facts(first, graph, rows)
    assert both.nodes[: len(first.nodes)] == first.nodes and len(both.edges) == len(rows)
    assert both.roles[0] == NodeRole.OTHER and len(both.weights) == len(both.edges)
    assert [both.triple(edge_of(both, graph, row)).head for row in rows] == ["Ann"] * 2


def test_members_of_a_kind_are_of_narrower_kinds_too(graph: KnowledgeGraph) -> None:
    members = {row.head for row in members_of(graph, [entity(graph, "worker")])}
    assert members == {entity(graph, "ann"), entity(graph, "bo")}

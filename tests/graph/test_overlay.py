import numpy as np
import pytest

from kgqa.graph.linking.label_keys import XSD, literal_name
from kgqa.graph.linking.linker import Linker
from kgqa.graph.overlay import LabelledFact, OverlayGraph
from kgqa.graph.retrieval import ranking
from kgqa.graph.retrieval.subgraph import retrieve_subgraphs
from kgqa.graph.sparql import SparqlGraph
from kgqa.graph.storage.store import GraphStore
from kgqa.types import Edges, KnowledgeGraph, Label, Question, Triple

USED = "x:usedFor"


@pytest.fixture
def tools() -> GraphStore:
    return GraphStore.from_triples(
        [Triple("trowel", USED, "plant flowers"), Triple("excavator", USED, "build a house")], name="tools"
    )


def fact(head: str, tail: str, relation: str = USED) -> LabelledFact:
    return LabelledFact(Triple(head, relation, tail), (head, tail))


def output(graph: KnowledgeGraph, edges: Edges) -> set[tuple[str, str]]:
    return set(zip(graph.labels(edges.head), graph.labels(edges.tail), strict=True))


def test_edits_of_an_edited_graph_are_edits_of_the_graph_beneath(tools: GraphStore) -> None:
    first = OverlayGraph(tools, [fact("purple spoon", "plant flowers")], [fact("trowel", "plant flowers")])
    graph = OverlayGraph(first, [fact("trowel", "plant flowers"), fact("fork", "plant flowers")])
    assert graph.base is tools
    (flowers,) = graph.find(["plant flowers"])
    ends = [(name, "plant flowers") for name in ("purple spoon", "trowel", "fork")]
    assert output(graph, graph.neighbours(flowers)) == set(ends)
    fewer = OverlayGraph(graph, removed=[fact("purple spoon", "plant flowers")])
    assert output(fewer, fewer.neighbours(flowers)) == set(ends[1:])


def test_a_struck_fact_is_gone_and_an_added_one_is_there_once(tools: GraphStore) -> None:
    added = [fact("purple spoon", "plant flowers"), fact("excavator", "build a house")]
    graph = OverlayGraph(tools, added, [fact("trowel", "plant flowers"), fact("nobody", "plant flowers")])
    assert isinstance(graph, KnowledgeGraph)
    (spoon,), (flowers,), (house,) = graph.find(["Purple spoons", "plant flowers", "build a house"])
    assert graph.names(np.array([spoon, flowers], dtype=np.int32)) == ["purple spoon", "plant flowers"]
    found = graph.neighbours(np.array([flowers, house], dtype=np.int32))
    assert output(graph, found) == {("purple spoon", "plant flowers"), ("excavator", "build a house")}
    assert len(found.head) == 2 and graph.degrees(np.array([spoon], dtype=np.int32)).tolist() == [1]
    ends = np.array([spoon, flowers], dtype=np.int32)
    assert output(graph, graph.facts_among(ends, ends)) == {("purple spoon", "plant flowers")}
    assert output(tools, tools.neighbours(np.array([flowers], dtype=np.int32))) == {
        ("trowel", "plant flowers")
    }


@pytest.mark.parametrize("value", ["true", "8", "2001-05-03"])
def test_a_fact_with_a_value_can_be_struck_and_changed(value: str) -> None:
    kinds = {"true": "boolean", "8": "integer", "2001-05-03": "date"}
    name = literal_name(value, datatype=f"{XSD}{kinds[value]}")
    base = GraphStore.from_triples([Triple("x:lift", "x:has", name), Triple("x:hall", "x:has", name)])
    ends = Triple("x:lift", "x:has", name), base.labels(base.ids(["x:lift", name]))
    graph, lift = OverlayGraph(base, removed=[LabelledFact(ends[0], tuple(ends[1]))]), base.ids(["x:lift"])
    assert len(base.neighbours(lift).head) == 1 and not len(graph.neighbours(lift).head)
    back = OverlayGraph(graph, [LabelledFact(ends[0], tuple(ends[1]))])
    assert back.names(back.neighbours(lift).tail) == [name]


def test_what_an_added_fact_calls_by_another_name_is_called_so() -> None:
    labels = [Label("x:basement", "basement", preferred=True), Label("x:basement", "cellar", preferred=False)]
    base = GraphStore.from_triples([Triple("x:candle", USED, "x:basement")], labels=labels, name="house")
    added = LabelledFact(Triple("x:candle", "x:found", "x:basement"), ("candle", "cellar"))
    graph, (basement,) = OverlayGraph(base, [added]), base.find(["cellar"])
    assert graph.labels(basement) == ["cellar"] and base.labels(basement) == ["basement"]


def test_without_edits_it_is_the_graph_beneath(tools: GraphStore) -> None:
    graph = OverlayGraph(tools)
    everyone = np.arange(tools.entity_count, dtype=np.int32)
    for here, there in zip(graph.neighbours(everyone), tools.neighbours(everyone), strict=True):
        assert here.tolist() == there.tolist()
    assert graph.labels(everyone) == tools.labels(everyone) and graph.relations == tools.relations


def test_a_relation_that_the_graph_lacks_comes_with_its_fact(tools: GraphStore) -> None:
    graph = OverlayGraph(tools, [fact("trowel", "flowers", "x:eatsUp")])
    (trowel,) = graph.find(["trowel"])
    found = graph.neighbours(trowel)
    words = {graph.relations[number].label for number in found.relation.tolist()}
    assert "eats up" in words and len(graph.relations) == len(tools.relations) + 1


def test_an_edit_does_not_change_how_the_graph_is_ranked(
    tools: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = OverlayGraph(tools, [fact("purple spoon", "plant flowers"), fact("stick", "plant flowers")])
    for least in range(tools.entity_count + 3):
        monkeypatch.setattr(ranking, "_GATHERED_FROM", least)
        assert ranking.weights_for(graph) is ranking.weights_for(tools)


def test_over_an_endpoint() -> None:
    from support.garden import GARDEN
    from support.sparql_server import serve

    with serve(GARDEN) as server:
        base = SparqlGraph(server.url)
        (trowel,) = base.find(["trowel"])[0][:1]
        edges = base.neighbours(np.array([trowel], dtype=np.int32))
        names, labels = base.names, base.labels  # the trowel is the head of its facts
        head, tail = edges.head[:1], edges.tail[:1]
        relation = base.relations[int(edges.relation[0])].name
        known = LabelledFact(
            Triple(names(head)[0], relation, names(tail)[0]), (labels(head)[0], labels(tail)[0])
        )
        more = LabelledFact(Triple("x:spoon", relation, base.names(head)[0]), ("spoon", base.labels(head)[0]))
        graph = OverlayGraph(base, [more], [known])
        after = graph.neighbours(np.array([trowel], dtype=np.int32))
        assert len(after.head) == len(edges.head) and "spoon" in graph.labels(after.head)
        assert graph.is_remote and graph.entity_count is None
        spoon, ids = graph.ids(["x:spoon"]), np.append(base.ids([base.names(head)[0]]), -1)
        ends = np.append(ids[:1], spoon).astype(np.int32)
        assert len(graph.facts_among(ends, ends).head) == 1


def test_an_added_fact_is_retrieved() -> None:
    facts = [Triple("dig", "http://x/done", f"tool {i}") for i in range(6000)]
    base = GraphStore.from_triples(facts)
    added = LabelledFact(Triple("dig", "http://x/done", "urn:spoon"), ("dig", "silver spoon"))
    overlay = OverlayGraph(base, [added])
    (subgraph,) = retrieve_subgraphs(
        Question("What do people dig with?"), overlay, Linker(overlay), max_nodes=30
    )
    assert "silver spoon" in subgraph.labels

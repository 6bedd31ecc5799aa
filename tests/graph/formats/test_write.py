"""What is exported is what other programs read back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import networkx
import pytest

from kgqa.graph.formats import export_store
from kgqa.graph.formats.write import to_networkx
from kgqa.graph.storage.import_graph import import_graph
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError, Label, Triple


@pytest.fixture
def store() -> GraphStore:
    return GraphStore.from_triples(
        [
            Triple("http://x/a", "http://x/r", "http://x/b", 0.5),
            Triple("http://x/a", "http://x/s", "http://x/b", 1e12),
            Triple("http://x/a", "http://x/r", '"a "quoted" <text>"@en'),
            Triple("ice cream", "UsedFor", "eat & drink"),
            Triple('"Heroes', "rdf", '"half" open'),
            Triple("\abell", "UsedFor", "eat & drink", 0.7),
            Triple("http://x/a", "http://x#has!http://x#number", "http://x/b"),
        ],
        [Label("http://x/a", 'A "name"', "en"), Label("http://x/a", "other", "ko", preferred=False)],
    )


def test_turtle_comes_back(tmp_path: Path, store: GraphStore) -> None:
    export_store(store, tmp_path / "a.ttl")
    import_graph([tmp_path / "a.ttl"], tmp_path / "g")
    back = GraphStore.open(tmp_path / "g")
    edges = back.edges()
    weights = {
        (h, back.relations[r].name, t): float(w)
        for h, r, t, w in zip(
            back.names(edges.head), edges.relation, back.names(edges.tail), edges.weight, strict=True
        )
    }
    assert weights["http://x/a", "http://x/r", "http://x/b"] == 0.5
    assert weights["http://x/a", "http://x/s", "http://x/b"] == pytest.approx(1e12)
    assert len(weights) == 7
    assert back.labels(back.find(["ice cream", "other", "eat drink"])[0]) == ["ice cream"]
    assert {label.text for label in back.all_labels(int(back.ids(["http://x/a"])[0]))} == {
        'A "name"',
        "other",
    }


@pytest.mark.parametrize("form", ["graphml", "gexf"])
def test_xml(form: str, tmp_path: Path, store: GraphStore) -> None:
    export_store(store, tmp_path / "a", form)
    graph = getattr(networkx, f"read_{form}")(tmp_path / "a")
    assert {(about["name"], about["label"]) for _, about in graph.nodes(data=True)} >= {
        ("http://x/a", 'A "name"'),
        ("eat & drink", "eat & drink"),
        ("bell", "bell"),  # XML forbids the character before it
    }
    facts = {(about["relation"], about["label"], about["weight"]) for *_, about in graph.edges(data=True)}
    assert {("http://x/r", "r", 0.5), ("UsedFor", "used for", 0.7)} <= facts
    ids = re.findall(r'<edge [^>]*\bid="(\w+)"', (tmp_path / "a").read_text("utf-8"))
    assert graph.number_of_edges() == 7 == len(ids) == len({*ids})


def test_a_suffix_in_capitals_is_the_same(tmp_path: Path, store: GraphStore) -> None:
    export_store(store, tmp_path / "A.TTL")
    assert "@prefix" in (tmp_path / "A.TTL").read_text()


def test_gml(tmp_path: Path, store: GraphStore) -> None:
    export_store(store, tmp_path / "a.gml")
    graph = networkx.read_gml(tmp_path / "a.gml")
    assert graph.nodes["http://x/a"]["title"] == 'A "name"' and graph.nodes["\abell"]["title"] == "\abell"
    assert graph["ice cream"]["eat & drink"]["UsedFor"]["label"] == "used for"


def test_cytoscape(tmp_path: Path, store: GraphStore) -> None:
    export_store(store, tmp_path / "a.cyjs")
    graph = networkx.cytoscape_graph(json.loads((tmp_path / "a.cyjs").read_text()))
    assert graph.edges["ice cream", "eat & drink", "UsedFor"]["label"] == "used for"
    assert graph.nodes["http://x/a"]["label"] == 'A "name"'


def test_networkx(tmp_path: Path, store: GraphStore) -> None:
    export_store(store, tmp_path / "a.json")
    graph = networkx.node_link_graph(json.loads((tmp_path / "a.json").read_text()), edges="edges")
    assert networkx.utils.graphs_equal(graph, to_networkx(store))
    assert graph["ice cream"]["eat & drink"]["UsedFor"]["weight"] == 1.0
    assert graph.nodes["http://x/a"]["label"] == 'A "name"'


@pytest.mark.parametrize("form", ["adjlist", "multiline_adjlist", "edgelist", "weighted_edgelist"])
def test_lists(form: str, tmp_path: Path, store: GraphStore) -> None:
    export_store(store, tmp_path / "a", form.replace("_", "-"))
    read = getattr(networkx, f"read_{form}")
    graph = read(tmp_path / "a", delimiter="\t", create_using=networkx.MultiDiGraph, comments="%%")
    expected = to_networkx(store)
    assert set(graph) == set(expected)
    assert sorted((head, tail) for head, tail in graph.edges()) == sorted(expected.edges())
    weights = sorted(weight for *_, weight in graph.edges(data="weight", default=0))
    if form != "adjlist":
        assert weights == sorted(weight for *_, weight in expected.edges(data="weight"))


def test_names_keep_their_line(tmp_path: Path) -> None:
    store = GraphStore.from_triples([Triple("a", "r", '"two\nlines\tand more"')])
    export_store(store, tmp_path / "a.edgelist")
    graph = networkx.read_edgelist(tmp_path / "a.edgelist", delimiter="\t", create_using=networkx.DiGraph)
    assert list(graph) == ["a", r'"two\nlines\tand more"']


def test_adjacency(tmp_path: Path, store: GraphStore) -> None:
    export_store(store, tmp_path / "a", "adjacency")
    graph = networkx.adjacency_graph(json.loads((tmp_path / "a").read_text()))
    assert networkx.utils.graphs_equal(graph, to_networkx(store))


def test_pajek(tmp_path: Path, store: GraphStore) -> None:
    export_store(store, tmp_path / "a.net")
    graph = networkx.read_pajek(tmp_path / "a.net")
    assert graph.nodes["http://x/a"]["label"] == "A ”name”" and graph.number_of_edges() == 7
    assert graph.edges["ice cream", "eat & drink", 0]["label"] == "used for"


def test_latex(tmp_path: Path, store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    export_store(store, tmp_path / "a.tex")
    text = (tmp_path / "a.tex").read_text()
    assert r"{eat \char38{} drink}" in text and ", r" in text and text.count("to node") == 5
    export_store(store, tmp_path / "b.tex")
    assert (tmp_path / "b.tex").read_text() == text, "the layout is always the same"
    monkeypatch.setattr("kgqa.graph.formats.write.MOST_DRAWN", 3)
    with pytest.raises(InputError, match="at most 3 concepts"):
        export_store(store, tmp_path / "c.tex")
    assert not (tmp_path / "c.tex").exists()


def test_dot(tmp_path: Path) -> None:
    export_store(GraphStore.from_triples([Triple("a", "UsedFor", 'the "b\\', 0.5)]), tmp_path / "a.dot")
    begin, *nodes, edge, end, _ = (tmp_path / "a.dot").read_text().split("\n")
    assert begin == "digraph {" and end == "}" and edge == '0 -> 1 [label="used for", weight=0.5];'
    assert r'label="the \"b\\"' in nodes[1]


def test_unknown_form(tmp_path: Path, store: GraphStore) -> None:
    with pytest.raises(InputError, match="unknown format"):
        export_store(store, tmp_path / "a.pdf")
    with pytest.raises(InputError, match="cannot be written"):
        export_store(store, tmp_path / "missing" / "a.ttl")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_kept_unless_it_may_be_overwritten(tmp_path: Path, store: GraphStore) -> None:
    target = tmp_path / "a.ttl"
    target.write_text("mine")
    with pytest.raises(InputError, match="--overwrite"):
        export_store(store, target)
    assert target.read_text() == "mine"
    export_store(store, target, overwrite=True)
    assert "@prefix" in target.read_text()

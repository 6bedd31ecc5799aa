"""GraphStore: facts, labels and surface forms come back as they were given."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from kgqa.graph.storage import store as stores
from kgqa.graph.storage.layout import ARRAYS, MANIFEST, read_manifest, write_manifest
from kgqa.graph.storage.store import GraphStore, Residence, is_store
from kgqa.graph.storage.writer import write_store
from kgqa.types import InputError, KnowledgeGraph, Label, Relation, Triple

TRIPLES = [
    Triple("http://x/trowel", "http://x/UsedFor", "http://x/digBed", 2.0),
    Triple("http://x/excavator", "http://x/UsedFor", "http://x/digBed", 1.0),
    Triple("http://x/trowel", "http://x/IsA", "http://x/tool", 0.5),
    Triple("http://x/trowel", "http://x/IsA", "http://x/tool", 0.7),
    Triple("http://x/tool", "http://x/IsA", "http://x/tool", 0.7),
]
LABELS = [
    Label("http://x/trowel", "모종삽", "ko"),
    Label("http://x/trowel", "Trowel", "en"),
    Label("http://x/trowel", "hand shovels", "en", preferred=False),
    Label("http://x/UsedFor", "serves for", "en"),
]


@pytest.fixture
def graph() -> GraphStore:
    return GraphStore.from_triples(TRIPLES, LABELS, name="garden")


def facts(graph: GraphStore, ids: np.ndarray, limit: int | None = None) -> set[tuple[str, str, str, float]]:
    edges = graph.neighbours(ids, limit)
    names = graph.names
    return {
        (h, graph.relations[r].name, t, round(float(w), 3))
        for h, r, t, w in zip(names(edges.head), edges.relation, names(edges.tail), edges.weight, strict=True)
    }


def test_is_a_knowledge_graph(graph: GraphStore) -> None:
    assert isinstance(graph, KnowledgeGraph)
    assert (graph.entity_count, graph.edge_count) == (4, 3)
    assert graph.manifest["self_loops_dropped"] == 1


def test_neighbours_each_once_with_the_greatest_weight(graph: GraphStore) -> None:
    ids = graph.ids(["http://x/trowel", "http://x/tool", "nobody"])
    assert ids[2] == -1
    assert facts(graph, ids[:2]) == {
        ("http://x/trowel", "http://x/UsedFor", "http://x/digBed", 2.0),
        ("http://x/trowel", "http://x/IsA", "http://x/tool", 0.7),
    }


def test_limit_takes_the_heaviest(graph: GraphStore) -> None:
    trowel, bed = graph.ids(["http://x/trowel", "http://x/digBed"])
    assert {fact[3] for fact in facts(graph, np.array([trowel]), 1)} == {2.0}
    assert {fact[0] for fact in facts(graph, np.array([bed]), 1)} == {"http://x/trowel"}
    assert len(facts(graph, np.array([bed]))) == 2


def test_no_entities_no_facts(graph: GraphStore) -> None:
    assert len(graph.neighbours(np.zeros(0, dtype=np.int32)).head) == 0
    assert graph.labels(np.zeros(0, dtype=np.int32)) == []
    assert graph.find([]) == []


@pytest.mark.parametrize("surface", ["trowel", "Trowel", "모종삽", "hand shovels", "hand shovel"])
def test_find_by_any_label(graph: GraphStore, surface: str) -> None:
    assert graph.names(graph.find([surface])[0]) == ["http://x/trowel"]


def test_find_by_local_name_and_not_at_all(graph: GraphStore) -> None:
    found = graph.find(["dig bed", "digging", ""])
    assert [len(ids) for ids in found] == [1, 0, 0]
    assert graph.labels(found[0]) == ["dig bed"]


def test_exact_preferred_label_first() -> None:
    graph = GraphStore.from_triples(
        [Triple("planting", "r", str(i)) for i in range(5)] + [Triple("plant", "r", "x")]
    )
    assert graph.labels(graph.find(["plant"])[0]) == ["plant", "planting"]


def test_a_word_of_the_graphs_own_language_is_no_foreign_label() -> None:
    labels = [
        Label("p", "poison", "en"),
        Label("p", "Gift", "de"),
        Label("g", "gift", "en"),
        Label("s", "Gift", "sv"),
    ]
    graph = GraphStore.from_triples([Triple("p", "r", "g"), Triple("s", "r", "g")], labels)
    gift, poison = graph.find(["gift", "poison"])
    assert sorted(graph.names(gift)) == ["g", "s"]  # the Swedish thing has no other name
    assert list(graph.names(poison)) == ["p"]


def test_label_language(graph: GraphStore) -> None:
    assert graph.labels(graph.ids(["http://x/trowel"])) == ["Trowel"]
    korean = GraphStore.from_triples(TRIPLES, LABELS, language="ko")
    assert korean.labels(korean.ids(["http://x/trowel"])) == ["모종삽"]
    assert korean.all_labels(int(korean.ids(["http://x/trowel"])[0]))[-1].preferred is False


def test_relation_names() -> None:
    graph = GraphStore.from_triples(
        TRIPLES, LABELS, [Relation("http://x/IsA", "kind", "is a sort of", "has the kind")]
    )
    assert graph.relations[0].label == "serves for"
    assert graph.relations[1] == Relation("http://x/IsA", "kind", "is a sort of", "has the kind")


def test_degrees(graph: GraphStore) -> None:
    assert graph.degrees(graph.ids(["http://x/trowel", "http://x/tool"])).tolist() == [2, 1]


def test_blank_nodes_have_no_label() -> None:
    graph = GraphStore.from_triples([Triple("_:b1", "r", "x")])
    assert graph.labels(graph.ids(["_:b1"])) == [""]
    assert not len(graph.find(["b1"])[0])


def test_written_and_opened(tmp_path: Path) -> None:
    write_store([*LABELS, *TRIPLES], tmp_path / "g")
    graph = GraphStore.open(tmp_path / "g")
    assert is_store(tmp_path / "g")
    assert graph.name == "g"
    assert graph.hash == GraphStore.from_triples(TRIPLES, LABELS).hash
    assert len(facts(graph, np.arange(graph.entity_count))) == 3


def test_empty_graph() -> None:
    graph = GraphStore.from_triples([])
    assert graph.entity_count == graph.edge_count == 0
    assert not len(graph.find(["x"])[0])


def test_not_a_store(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="kgqa graph import"):
        GraphStore.open(tmp_path)
    write_store(TRIPLES, tmp_path / "g")
    (tmp_path / "g" / "edge_tail.bin").write_bytes(b"123")
    with pytest.raises(InputError, match="edge_tail.bin"):
        GraphStore.open(tmp_path / "g")


@pytest.mark.parametrize("key", ["name", "hash", "relations", "sizes", "checksums", "format"])
def test_a_manifest_that_lacks_something_is_damaged(tmp_path: Path, key: str) -> None:
    write_store(TRIPLES, tmp_path / "g")
    whole = read_manifest(tmp_path / "g", "")
    wrong = [{k: v for k, v in whole.items() if k != key}]
    if key in ("relations", "sizes", "checksums"):
        wrong += [{**whole, key: value} for value in ([3], {"x": 3}, 7)]
    for manifest in wrong:
        write_manifest(tmp_path / "g", manifest)
        with pytest.raises(InputError, match="import"):
            GraphStore.open(tmp_path / "g")


def all_of(graph: GraphStore) -> object:
    """Whatever a store says."""
    everyone = np.arange(graph.entity_count, dtype=np.int32)
    edges = graph.neighbours(everyone)
    output = [graph.names(everyone), graph.labels(everyone), [graph.all_labels(i) for i in everyone.tolist()]]
    found = [ids.tolist() for ids in graph.find(["trowel", "hand shovels", "digging", "tool"])]
    return [
        output,
        found,
        [part.tolist() for part in edges],
        graph.provenance(edges),
        graph.types_of(everyone).tolist(),
    ]


@pytest.mark.parametrize("name", [MANIFEST, *(f"{name}.bin" for name in ARRAYS)])
@pytest.mark.parametrize("in_memory", [False, True])
def test_no_flipped_bit_of_a_store_tells_other_facts(tmp_path: Path, name: str, in_memory: bool) -> None:
    write_store([*LABELS, *TRIPLES], tmp_path / "g")
    path = tmp_path / "g" / name
    content = path.read_bytes()
    for place in range(0, len(content), max(1, len(content) // 40)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :])
        with pytest.raises(InputError, match=r"(?s)\A[^\n]*kgqa graph import[^\n]*\Z"):
            all_of(GraphStore.open(tmp_path / "g", in_memory))


def test_a_column_is_verified_when_it_is_first_read_and_then_no_more(tmp_path: Path) -> None:
    write_store([*LABELS, *TRIPLES], tmp_path / "g")
    # described, as an import leaves it
    write_manifest(tmp_path / "g", GraphStore.open(tmp_path / "g").manifest)
    (tmp_path / "g" / "edge_weight.bin").write_bytes(bytes(12))
    graph = GraphStore.open(tmp_path / "g", remedy="fetch it again")
    assert graph.labels(graph.find(["trowel"])[0]) == ["Trowel"]  # nothing of the weights
    for _ in range(2):
        with pytest.raises(InputError, match=r"edge_weight\.bin: damaged .*; fetch it again$"):
            graph.edges()
    write_store([*LABELS, *TRIPLES], tmp_path / "g")
    graph = GraphStore.open(tmp_path / "g")
    graph.edges()
    assert graph._a["edge_tail"] is graph._a["edge_tail"]


def test_a_pipe_among_the_files_of_a_store_is_not_waited_for(tmp_path: Path) -> None:
    write_store(TRIPLES, tmp_path / "g")
    (tmp_path / "g" / "kind.bin").unlink()
    os.mkfifo(tmp_path / "g" / "kind.bin")
    with pytest.raises(InputError, match=r"kind\.bin: not a file of 0 items"):
        GraphStore.open(tmp_path / "g")


def test_facts_among_are_the_neighbours_with_both_ends_known() -> None:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 40, (600, 2)).tolist()
    triples = [Triple(f"e{a}", f"r{i % 3}", f"e{b}", 1 + i % 7) for i, (a, b) in enumerate(ends)]
    store = GraphStore.from_triples(triples)
    for limit in (None, 4):
        for size in (0, 1, 12):
            others = np.sort(rng.choice(store.entity_count, size, replace=False)).astype(np.int32)
            asked = others[::2]
            around = store.neighbours(asked, limit)
            both = np.isin(around.head, others) & np.isin(around.tail, others)
            among = store.facts_among(asked, others, limit)
            for found, wanted in zip(among, around, strict=True):
                assert found.tolist() == wanted[both].tolist()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    np.arange(1 << 20, dtype="<i4").tofile(tmp_path / "a.bin")
    return tmp_path / "a.bin"


def test_arrays_are_read_only_and_survive(path: Path) -> None:
    kept = Residence(most=1 << 20)
    array = kept.map(path, "<i4")
    kept.check()
    assert int(array.sum(dtype=np.int64)) == (1 << 20) * ((1 << 20) - 1) // 2
    kept.check()
    assert array[-1] == (1 << 20) - 1
    with pytest.raises(ValueError):
        array[0] = 1


@pytest.mark.skipif(not stores._STATM.exists(), reason="the kernel does not tell what is resident")
def test_what_weighs_is_given_back(path: Path) -> None:
    kept = Residence(most=1 << 20)
    array = kept.map(path, "<i4")
    kept.check()
    before = stores._file_pages()
    array.sum()
    assert stores._file_pages() - before > 2 << 20
    kept.check()
    assert stores._file_pages() - before < 1 << 20


def test_small_files_are_left_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Residence()
    kept.map(path, "<i4")
    monkeypatch.setattr(stores, "_file_pages", lambda: pytest.fail("asked"))
    kept.check()


def test_unknown_residence(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(stores, "_STATM", tmp_path / "none")
    kept = Residence(most=1)
    array = kept.map(path, "<i4")
    kept.check()
    assert array[3] == 3


def test_a_foreign_name_that_is_an_english_word_is_found_in_its_language_alone() -> None:
    """French "lit" is a bed and no form of "light"; what has a German name only is found by it."""
    labels = [
        Label("x:bed", "bed"),
        Label("x:bed", "lit", "fr"),
        Label("x:light", "light"),
        Label("x:made", "Made", "de"),
    ]
    graph = GraphStore.from_triples(
        [Triple("x:bed", "x:near", "x:light"), Triple("x:made", "x:near", "x:bed")], labels
    )

    def found(text: str, language: str = "") -> list[str]:
        return graph.labels(graph.find([text], language)[0])

    assert (found("lit"), found("lit", "fr"), found("Made")) == ([], ["bed"], ["Made"])


def test_a_foreign_name_is_found_beside_longer_names_with_the_word() -> None:
    """German "Tier", which is an English word too, is the animal, not a part of the name "Tier im Auto"."""
    labels = [
        Label("x:animal", "animal"),
        Label("x:animal", "Tier", "de"),
        Label("x:danger", "animal in a car"),
        Label("x:danger", "Tier im Auto", "de"),
    ]
    graph = GraphStore.from_triples([Triple("x:animal", "x:near", "x:danger")], labels)
    assert graph.labels(graph.find(["Tier"], "de")[0]) == ["animal"]

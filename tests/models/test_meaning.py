from pathlib import Path

import numpy as np
import pytest

from kgqa.assets import FACT_ENCODER, INDEXES
from kgqa.graph.linking.linker import Linker
from kgqa.graph.opening import open_graph
from kgqa.graph.overlay import Fact, OverlayGraph
from kgqa.graph.retrieval.dense import FactHits
from kgqa.graph.retrieval.retrieval import read_together, retrieve
from kgqa.graph.storage.store import GraphStore
from kgqa.models import meaning
from kgqa.models.fact_encoder import FactEncoder
from kgqa.models.meaning import facts_in_words, index_file, make_index, open_meaning
from kgqa.types import Question, Triple

FACTS = "head\trelation\ttail\ntrowel\tUsedFor\tplant flowers\nsmoker\tUsedFor\tcalm bees\nhive\tIsA\thome\n"


class Words:
    """Counts words of a text, in place of an encoder: what shares words is near."""

    fingerprint = "counting"
    words = ("flowers", "bees", "home", "hive", "trowel", "smoker", "anger")

    def encode(self, texts: list[str]) -> np.ndarray:
        counts = np.array([[text.lower().count(word) for word in self.words] for text in texts], np.float32)
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)


@pytest.fixture
def graph(tmp_path: Path, monkeypatch) -> GraphStore:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "g.tsv").write_text(FACTS, encoding="utf-8")
    opened = open_graph(tmp_path / "g.tsv")
    assert isinstance(opened, GraphStore)
    return opened


def by_meaning(question: Question, graph: GraphStore) -> list[FactHits]:
    search = open_meaning(graph, Words())
    assert search is not None
    return search(read_together(question))


def said(graph, hits) -> list[str]:
    return facts_in_words(graph, hits.edges)


def test_a_small_graph_gets_its_index_when_it_is_opened(graph) -> None:
    search = open_meaning(graph, Words())
    assert search is not None and index_file(graph, Words()).is_file()
    (hits,) = search(["What do angry bees need?"])
    assert "bees" in said(graph, hits)[0] and hits.similarity[0] > hits.similarity[1]


def test_a_large_graph_has_none_until_one_is_made(graph, monkeypatch) -> None:
    monkeypatch.setattr(meaning, "MADE_AT_ONCE", 2)
    assert open_meaning(graph, Words()) is None
    make_index(graph, Words()).save(index_file(graph, Words()))
    assert open_meaning(graph, Words()) is not None


def test_what_is_added_is_found_and_what_is_struck_out_is_not(graph) -> None:
    added = Fact(Triple("veil", "UsedFor", "anger"), ("veil", "anger"))
    (smoker, bees) = graph.names(np.concatenate([*graph.find(["smoker"]), *graph.find(["calm bees"])]))
    (relation,) = {r.name for r in graph.relations if r.label == "UsedFor" or r.name.endswith("UsedFor")}
    struck = Fact(Triple(smoker, relation, bees), ("smoker", "calm bees"))
    edited = OverlayGraph(graph, [added], [struck])
    search = open_meaning(edited, Words())
    assert search is not None
    found = said(edited, search(["anger of the bees"])[0])
    assert "anger" in found[0] and not any("bees" in fact for fact in found)


def test_retrieval_takes_what_no_word_leads_to(graph) -> None:
    question = Question("Where do the bees live?")
    linker = Linker(graph)
    without = retrieve(question, graph, linker)[0]
    (found,) = retrieve(question, graph, linker, hits=by_meaning(question, graph))
    assert "hive" not in without.labels or len(without.edges) < 3
    assert {"smoker", "calm bees"} <= set(found.labels) and len(found.near) == len(found.edges)
    assert found.near.max() > 0


def test_each_choice_is_told_the_facts_near_to_it(graph) -> None:
    question = Question("What is it for?", ("bees", "flowers"))
    found = retrieve(question, graph, Linker(graph), hits=by_meaning(question, graph))
    best = [graph_.labels[graph_.edges[graph_.near.argmax(), 0]] for graph_ in found]
    assert best == ["smoker", "trowel"]


def test_the_shipped_index_is_of_the_shipped_graph_and_encoder() -> None:
    graph = open_graph("everyday")
    assert isinstance(graph, GraphStore)
    path = index_file(graph, FactEncoder.load(FACT_ENCODER))
    assert path.parent == INDEXES, "make it anew: kgqa graph index everyday"
    assert [file.name for file in INDEXES.glob("*.faiss")] == [path.name]

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from kgqa import settings
from kgqa.graph.linking.linker import Linker
from kgqa.graph.load import open_graph
from kgqa.graph.overlay import LabelledFact, OverlayGraph
from kgqa.graph.retrieval import dense
from kgqa.graph.retrieval.dense import FactHits, FactIndex
from kgqa.graph.retrieval.subgraph import query_texts, retrieve_subgraphs
from kgqa.graph.storage.store import GraphStore
from kgqa.models import dense_retrieval
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.dense_retrieval import (
    FactEncoder,
    index_file,
    make_index,
    open_fact_encoder,
    open_fact_index,
    verbalize_facts,
)
from kgqa.models.fact_map import GlossedEncoder
from kgqa.qa.retrieve import Retriever
from kgqa.settings import FACT_ENCODER, INDEXES
from kgqa.types import InputError, Question, Triple

FACTS = "head\trelation\ttail\ntrowel\tUsedFor\tplant flowers\nsmoker\tUsedFor\tcalm bees\nhive\tIsA\thome\n"


class Words:
    """Counts words of a text, in place of an encoder: what shares words is near."""

    fingerprint = space = "counting"
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
    search = open_fact_index(graph, Words())
    assert search is not None
    return search(query_texts(question))


def output(graph, hits) -> list[str]:
    return verbalize_facts(graph, hits.edges)


def test_a_small_graph_gets_its_index_when_it_is_opened(graph) -> None:
    search = open_fact_index(graph, Words())
    assert search is not None and index_file(graph, Words()).is_file()
    (hits,) = search(["What do angry bees need?"])
    assert "bees" in output(graph, hits)[0] and hits.similarity[0] > hits.similarity[1]


def test_an_index_of_other_code_is_not_used(graph, monkeypatch, caplog) -> None:
    settings.warn_once.cache_clear()
    before = index_file(graph, Words())
    before.parent.mkdir(parents=True)
    before.touch()
    assert index_file(graph, Words()) == before and not caplog.messages
    # as if other code embedded and compressed the facts, and as if they were verbalized in another way
    for name in ("make_index", "_last_tokens", "verbalize_facts"):
        with monkeypatch.context() as other:
            other.setattr(dense_retrieval, name, dense_retrieval.index_name)
            assert index_file(graph, Words()) != before
    with monkeypatch.context() as other:
        other.setattr(FactIndex, "build", FactIndex.load)
        assert index_file(graph, Words()) != before
    monkeypatch.setattr(dense_retrieval, "inflection", dense_retrieval.fact_sentences)
    assert index_file(graph, Words()) != before
    # nor is a shipped one, and a warning says so, once
    monkeypatch.setattr(dense_retrieval, "INDEXES", before.parent)
    monkeypatch.setenv("XDG_CACHE_HOME", str(before.parent / "empty"))
    monkeypatch.setattr(dense_retrieval, "MADE_AT_ONCE", 2)
    assert open_fact_index(graph, Words()) is open_fact_index(graph, Words()) is None
    (said,) = caplog.messages
    assert "entity linking alone" in said and "kgqa graph index" in said


def test_an_edited_sentence_of_a_relation_makes_the_index_anew(graph, edit_copy) -> None:
    assert open_fact_index(graph, Words()) is not None
    before, sentence = index_file(graph, Words()), '\nUsedFor = "{A} is used {to B}"'
    edit_copy(dense_retrieval.fact_sentences, "fact_sentences.toml", sentence, sentence)
    assert index_file(graph, Words()) == before and before.is_file()
    edit_copy(
        dense_retrieval.fact_sentences, "fact_sentences.toml", sentence, sentence.replace("is used", "serves")
    )
    assert verbalize_facts(graph, graph.edges())[0] == "a trowel serves to plant flowers"
    anew = index_file(graph, Words())
    assert anew != before and not anew.is_file()
    assert open_fact_index(graph, Words()) is not None and anew.is_file()


def test_a_large_graph_has_none_until_one_is_made(graph, monkeypatch) -> None:
    monkeypatch.setattr(dense_retrieval, "MADE_AT_ONCE", 2)
    assert open_fact_index(graph, Words()) is None
    make_index(graph, Words()).save(index_file(graph, Words()))
    assert open_fact_index(graph, Words()) is not None


def test_with_the_quantizer_of_an_earlier_index_facts_keep_their_codes(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(dense, "FEW", 300)
    monkeypatch.setattr(dense, "CODE_BYTES", 4)
    vectors = np.random.default_rng(0).standard_normal((400, 16)).astype(np.float32)
    FactIndex.build(vectors).save(tmp_path / "earlier.faiss")
    earlier = FactIndex.load(tmp_path / "earlier.faiss")
    anew = FactIndex.build(vectors[50:], earlier)
    assert (len(earlier), len(anew)) == (400, 350)
    assert (anew.index.reconstruct_n(0, 350) == earlier.index.reconstruct_n(50, 350)).all()


def test_what_is_added_is_found_and_what_is_removed_is_not(graph) -> None:
    added = LabelledFact(Triple("veil", "UsedFor", "anger"), ("veil", "anger"))
    (smoker, bees) = graph.names(np.concatenate([*graph.find(["smoker"]), *graph.find(["calm bees"])]))
    (relation,) = {r.name for r in graph.relations if r.label == "UsedFor" or r.name.endswith("UsedFor")}
    removed = LabelledFact(Triple(smoker, relation, bees), ("smoker", "calm bees"))
    edited = OverlayGraph(graph, [added], [removed])
    search = open_fact_index(edited, Words())
    assert search is not None
    found = output(edited, search(["anger of the bees"])[0])
    assert "anger" in found[0] and not any("bees" in fact for fact in found)


def test_retrieval_takes_what_no_word_leads_to(graph) -> None:
    question = Question("Where do the bees live?")
    linker = Linker(graph)
    without = retrieve_subgraphs(question, graph, linker)[0]
    (found,) = retrieve_subgraphs(question, graph, linker, hits=by_meaning(question, graph))
    assert "hive" not in without.labels or len(without.edges) < 3
    assert {"smoker", "calm bees"} <= set(found.labels) and len(found.near) == len(found.edges)
    assert found.near.max() > 0


def test_each_choice_is_told_the_facts_near_to_it(graph) -> None:
    question = Question("What is it for?", ("bees", "flowers"))
    found = retrieve_subgraphs(question, graph, Linker(graph), hits=by_meaning(question, graph))
    best = [graph_.labels[graph_.edges[graph_.near.argmax(), 0]] for graph_ in found]
    assert best == ["smoker", "trowel"]


def test_the_shipped_index_is_of_the_shipped_graph_and_encoder() -> None:
    graph = open_graph("everyday")
    assert isinstance(graph, GraphStore)
    path = index_file(graph, FactEncoder.load(FACT_ENCODER))
    assert path.parent == INDEXES, "make it anew: kgqa graph index everyday --out graph_data/facts"
    assert [file.name for file in INDEXES.glob("*.faiss")] == [path.name]


class German(Words):
    """Understands German too, in the space of `Words`."""

    fingerprint, space = "german", "counting"
    dictionary = {"Bienen": "bees", "beruhigen": "calm", "Blumen": "flowers"}

    def encode(self, texts: list[str]) -> np.ndarray:
        return super().encode([" ".join(self.dictionary.get(w, w) for w in text.split()) for text in texts])


def test_questions_in_other_languages_find_facts_by_the_multilingual_encoder(graph) -> None:
    question = Question("Womit kann ich Bienen beruhigen?")

    def near(retriever: Retriever) -> float:
        return retriever.find(question)[0].near.max(initial=0.0)

    by_labels = Retriever(graph, InputConfig(multilingual=True), encoder=Words())
    of_any = Retriever(graph, InputConfig(multilingual=True), encoder=Words(), question_encoder=German())
    assert near(by_labels) == 0 and near(of_any) > 0.5
    assert "smoker" in of_any.find(question)[0].labels
    assert near(of_any.with_edits()) > 0.5
    assert near(Retriever(graph, InputConfig(), encoder=Words(), question_encoder=German())) == 0


def test_a_gloss_is_added_to_the_vector_of_a_text(graph) -> None:
    glossed = GlossedEncoder(
        German(), Words(), lambda texts: ["smoker" if "Bienen" in text else "" for text in texts]
    )
    with_gloss, without = glossed.encode(["Bienen", "Blumen"])
    assert with_gloss @ Words().encode(["smoker"])[0] > 0.3 and np.allclose(
        without, German().encode(["Blumen"])[0]
    )
    assert np.allclose(np.linalg.norm([with_gloss, without], axis=1), 1)


def test_vectors_are_unit_and_do_not_depend_on_what_is_read_beside(tokenizer, encoder) -> None:
    torch.manual_seed(0)
    reads = FactEncoder(encoder.eval(), tokenizer)
    texts = ["trowel", "a trowel is used to plant flowers in the garden", "bee"]
    together = reads.encode(texts)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.allclose(together[1], reads.encode(texts[1:2])[0], atol=1e-5)
    assert np.allclose(together[2], reads.encode(texts[2:])[0], atol=1e-5)


def test_of_a_long_text_the_end_is_read(tokenizer, encoder) -> None:
    reads = FactEncoder(encoder.eval(), tokenizer)
    long = "bee " * 300
    first, second = reads.encode([long + "trowel", long + "hive"])
    assert not np.allclose(first, second, atol=1e-4)


@pytest.mark.parametrize("card", ["", "[1]", '{"checksums": 1}', "[" * 100_000])
def test_a_damaged_card_is_told_in_one_line(tmp_path: Path, card: str) -> None:
    for path in (settings.MODELS / settings.FACT_ENCODER).iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "retriever.json").unlink()
    (tmp_path / "retriever.json").write_text(card)
    with pytest.raises(InputError, match=r"(?s)\A[^\n]*copy the (folder|checkpoint) again\Z"):
        FactEncoder.load(tmp_path)


def test_the_shipped_encoder_may_be_missing_and_another_may_not(tmp_path: Path, monkeypatch, caplog) -> None:
    settings.warn_once.cache_clear()
    monkeypatch.setattr(settings, "MODELS", tmp_path)
    monkeypatch.setattr(settings, "entry_points", lambda **_: ())
    assert open_fact_encoder("") is None
    assert open_fact_encoder(settings.FACT_ENCODER) is None
    assert "kgqa-facts is not installed" in caplog.messages[0]
    with pytest.raises(InputError, match="not an encoder"):
        open_fact_encoder(str(tmp_path / "mine"))

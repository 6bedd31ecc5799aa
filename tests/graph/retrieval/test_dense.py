from pathlib import Path

import numpy as np
import pytest

from kgqa.graph.retrieval import dense
from kgqa.graph.retrieval.dense import FactHits, FactIndex, fused_ranks, nearest_concepts
from kgqa.types import Edges, InputError


def vectors(count: int, size: int = 96) -> np.ndarray:
    drawn = np.random.default_rng(0).normal(size=(count, size)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def test_the_nearest_fact_comes_first_and_again_from_disk(tmp_path) -> None:
    facts = vectors(50)
    index = FactIndex.build(facts)
    row, cosine = index.search(facts[[7, 3]], 5)
    assert row[:, 0].tolist() == [7, 3] and np.allclose(cosine[:, 0], 1, atol=1e-2)
    index.save(tmp_path / "new" / "facts.faiss")
    again = FactIndex.load(tmp_path / "new" / "facts.faiss", 50)
    assert np.array_equal(again.search(facts[[7, 3]], 5)[0], row)


def test_many_facts_are_quantised_and_found_all_the_same(monkeypatch) -> None:
    monkeypatch.setattr(dense, "FEW", 1_000)
    facts = vectors(1_200)
    row, _ = FactIndex.build(facts).search(facts[:200], 3)
    assert (row[:, 0] == np.arange(200)).mean() > 0.95


def test_an_index_of_another_graph_or_a_damaged_one_is_refused(tmp_path) -> None:
    path = tmp_path / "facts.faiss"
    FactIndex.build(vectors(5)).save(path)
    with pytest.raises(InputError, match="5 facts, the graph has 6"):
        FactIndex.load(path, 6)
    whole = path.read_bytes()
    for broken in (b"", whole[:40], whole[:-1], whole + b"\0"):
        path.write_bytes(broken)
        with pytest.raises(InputError, match="(not an index|damaged).*remove it, and it is made again"):
            FactIndex.load(path, 5)
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        with pytest.raises(InputError, match="damaged"):
            FactIndex.load(path, 5)
    path.unlink()
    with pytest.raises(InputError, match="not an index"):
        FactIndex.load(path, 5)


def test_a_concept_is_as_near_as_its_best_fact() -> None:
    edges = Edges(
        *(np.array(column, np.int32) for column in ([1, 2], [0, 0], [5, 1])), np.ones(2, np.float32)
    )
    near = nearest_concepts(
        FactHits(edges, np.array([0.9, 0.4], np.float32)), np.array([1, 2, 5, 9], np.int32)
    )
    assert np.allclose(near, [0.9, 0.4, 0.9, 0.0])


def test_ranks_of_both_count() -> None:
    fused = fused_ranks([np.array([0.9, 0.5, 0.0, 0.1]), np.array([0.0, 0.8, 0.7, 0.0])])
    assert fused.argmax() == 1 and fused[1] < 1 and fused[2] > 0
    assert fused[3] < fused[0]


def test_a_disk_that_is_full_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import faiss

    def full(*_: object) -> None:
        raise RuntimeError("Error in fwrite:\nNo space left")

    monkeypatch.setattr(faiss, "write_index", full)
    with pytest.raises(InputError, match="Error in fwrite.*make room"):
        FactIndex(None).save(tmp_path / "facts.faiss")
    assert list(tmp_path.iterdir()) == []

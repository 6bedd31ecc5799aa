from pathlib import Path

import numpy as np
import pytest

from kgqa.graph.retrieval.ablation import no_facts
from kgqa.trainer.data import mixture
from kgqa.trainer.data.mixture import cache_key, cached_subgraphs
from kgqa.types import Example, InputError, Link, NodeRole, Question, Relation, Subgraph


def graph(name: str) -> Subgraph:
    return Subgraph(
        nodes=(f"ex:{name}", "ex:dig"),
        labels=(name, "dig"),
        roles=np.array([1, 0], dtype=np.int32),
        scores=np.array([0.5, 1.0], dtype=np.float32),
        edges=np.array([[0, 0, 1]], dtype=np.int32),
        weights=np.array([2.0], dtype=np.float32),
        relations=(Relation("ex:UsedFor", "used for", "is used for"),),
        links=(Link(NodeRole.QUESTION, 0, 3, 1),),
    )


def test_what_is_read_equals_what_was_found(tmp_path: Path) -> None:
    examples = [Example(Question("dig?")), Example(Question("with?", ("a", "b")))]
    found = [[graph("trowel")], [graph("spade"), Subgraph()]]
    key = cache_key(examples, "hash", "n=10")
    lookup = iter(found)
    first = cached_subgraphs(examples, tmp_path, key, lambda _: next(lookup))
    second = cached_subgraphs(examples, tmp_path, key, lambda _: [])
    assert [len(group) for group in second] == [1, 2]
    for a, b in zip(sum(first, []), sum(second, []), strict=True):
        assert (a.nodes, a.labels, a.links, a.relations) == (b.nodes, b.labels, b.links, b.relations)
        assert a.triples == b.triples and np.allclose(a.scores, b.scores) and (a.roles == b.roles).all()


def test_subgraphs_are_read_one_by_one_and_changed_on_the_way(tmp_path: Path) -> None:
    examples = [Example(Question(str(i))) for i in range(3)]
    found = iter([[graph("trowel")], [], [graph("spade")]])
    stored = cached_subgraphs(examples, tmp_path, "k", lambda _: next(found), change=lambda g: no_facts(g))
    assert len(stored) == 3 and stored[1] == [] and stored[-1][0].labels == ("spade", "dig")
    assert len(stored[2][0].edges) == 0
    with pytest.raises(IndexError):
        stored[3]
    again = cached_subgraphs(examples, tmp_path, "k", lambda _: [])
    assert len(again[2][0].edges) == 1


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "k.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match=r"k\.safetensors.*delete"):
        cached_subgraphs([], tmp_path, "k", lambda _: [])


def test_the_key_follows_the_content() -> None:
    one, two = [Example(Question("a"))], [Example(Question("b"))]
    assert cache_key(one, "g", "s") == cache_key(one, "g", "s")
    keys = {
        cache_key(one, "g", "s"),
        cache_key(two, "g", "s"),
        cache_key(one, "h", "s"),
        cache_key(one, "g", "t"),
    }
    assert len(keys) == 4


def test_the_key_follows_the_code_and_tables_of_retrieval(monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache_key([], "g")
    monkeypatch.setattr(mixture, "retrieval", mixture.linking)  # as if its text were another
    assert cache_key([], "g") != before

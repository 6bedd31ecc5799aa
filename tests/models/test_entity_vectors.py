from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from kgqa.graph.storage.store import GraphStore
from kgqa.models.entity_vectors import METHODS, EntityVectors, load_entities, train_entities
from kgqa.types import InputError, Relation, Subgraph, Triple

NEXT = np.array([[0, 0, 1]], dtype=np.int32)


@pytest.fixture(scope="module")
def ring() -> GraphStore:
    """Sixty concepts in a ring: everything follows one thing and precedes another."""
    facts = [Triple(f"n{i}", "next", f"n{(i + 1) % 60}") for i in range(60)]
    return GraphStore.from_triples([*facts, *(Triple(t.tail, "back", t.head) for t in facts)], name="ring")


@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_and_is_kept(method: str, ring: GraphStore, tmp_path: Path) -> None:
    losses: list[float] = []
    vectors, figures = train_entities(
        ring, method, size=16, epochs=30, batch=32, progress=lambda _, loss: losses.append(loss)
    )
    assert losses[-1] < losses[0] and figures["held_out"] == 2 and 0 <= figures["hits@10"] <= 1
    assert vectors.size == 16 and vectors.about["graph"] == "ring"
    vectors.save(tmp_path / "kge" / "entities.safetensors")
    again = load_entities(tmp_path / "kge")
    names = ["n3", "nowhere", "n59"]
    assert torch.equal(again.look_up(names), vectors.look_up(names)) and again.about == vectors.about
    assert again.look_up(names)[1].abs().sum() == 0 and again.look_up(names)[0].abs().sum() > 0
    assert list(again.relations) == ["back", "next"] or list(again.relations) == ["next", "back"]
    facts = Subgraph(
        nodes=("n3", "n4", "n40", "nowhere"),
        labels=("n3", "n4", "n40", "nowhere"),
        edges=np.array([[0, 0, 1], [0, 1, 2], [0, 0, 3]], dtype=np.int32),
        relations=tuple(Relation(name, name) for name in ("next", "other")),
    )
    likely = again.plausibility(facts)
    assert likely[1] == likely[2] == 1, "an unknown relation, an unknown thing"
    assert 0 < likely[0] < 1 and torch.equal(likely, vectors.plausibility(facts))
    right = [
        Subgraph(nodes=(f"n{i}", f"n{(i + 1) % 60}"), labels=("", ""), edges=NEXT, relations=facts.relations)
        for i in range(60)
    ]
    wrong = [replace(graph, nodes=(f"n{i}", f"n{(i + 30) % 60}")) for i, graph in enumerate(right)]
    reported, untold = (
        torch.cat([again.plausibility(g) for g in graphs]).mean() for graphs in (right, wrong)
    )
    assert reported > 0.8 and reported > untold + 0.05


def test_what_cannot_be_used_is_said(ring: GraphStore, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="transe, distmult"):
        train_entities(ring, "node2vec")
    with pytest.raises(InputError, match="even"):
        train_entities(ring, "rotate", size=7)
    with pytest.raises(InputError, match="graph embed"):
        load_entities(tmp_path)

    (tmp_path / "entities.safetensors").write_bytes(b"no")
    with pytest.raises(InputError, match="damaged"):
        load_entities(tmp_path)


def test_no_names_no_vectors() -> None:
    assert EntityVectors(["a"], np.ones((1, 4), np.float16), {}).look_up([]).shape == (0, 4)

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from kgqa.qa import reasons as module
from kgqa.qa.evidence import candidate_paths
from kgqa.qa.reasons import path_features, reasons
from kgqa.types import Candidate, EvidencePath, Question, Source, Subgraph

TROWEL = Candidate("trowel", Source.KNOWLEDGE, 0.5, concept="ev:trowel")
ASKED = Question("What do I plant flowers and build a house with?")


def encode(texts: Sequence[str]) -> np.ndarray:
    """Vectors by which what is said of flowers is near the question."""
    found = np.array([[1.0, "house" in text and "flowers" not in text] for text in texts], dtype=np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.fixture
def garden(digging: Subgraph) -> Subgraph:
    """The trowel is used for planting flowers and for building a house, both of which are mentioned."""
    edges = np.array([[2, 0, 1], [2, 0, 0]], dtype=np.int32)
    roles = np.array([0, 0, 3, 3, 3], dtype=np.int32)
    return replace(digging, edges=edges, weights=np.ones(2, dtype=np.float32), roles=roles)


def test_a_path_nearer_to_what_is_asked_comes_first_with_how_likely_it_is_taken(
    garden: Subgraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = {
        "worded": {"bias": -4.0, "near_answered": 5.0},
        "plain": {"bias": 1.0, "shared_words": -1.0},
        "paths": {"longer": 0.1},
    }
    monkeypatch.setattr(module, "_weights", lambda: weights)
    (first,) = reasons(TROWEL, ASKED, garden, encode, is_open_world=True)
    assert first.steps == (1,) and first.score == pytest.approx(1 / (1 + np.exp(-1)))
    closed = reasons(TROWEL, ASKED, garden, encode, is_open_world=False)
    assert [path.steps for path in closed] == [(1,), (0,)] and closed[1].score < 0.5
    assert not reasons(TROWEL, ASKED, garden, None, is_open_world=True)  # each shares two words


def test_every_weight_is_that_of_a_feature_and_plain_ones_need_no_encoder(garden: Subgraph) -> None:
    paths = candidate_paths(TROWEL, garden, ASKED.text)
    for table, encoder in (("worded", encode), ("plain", None)):
        found = path_features(paths, TROWEL, ASKED, garden, encoder)
        assert set(module._weights()[table]) == {"bias", *found}
        assert all(values.shape == (2,) for values in found.values())


def test_no_path_no_reason(garden: Subgraph) -> None:
    assert reasons(replace(TROWEL, concept="ev:no"), ASKED, garden, None, is_open_world=False) == []


def test_what_names_the_answer_and_comparisons_that_nobody_asked_for_are_seen(garden: Subgraph) -> None:
    labels = ("blow a whistle", "midnight", "whistle", *garden.labels[3:])
    brighter = replace(
        garden.relations[0], name="ev:brighter", label="brighter than", words="is brighter than"
    )
    edges = np.array([[2, 0, 0], [2, 1, 1]], dtype=np.int32)
    graph = replace(garden, labels=labels, relations=(garden.relations[0], brighter), edges=edges)
    paths = [EvidencePath((edge,), (False,), 1.0) for edge in (0, 1)]
    whistle = replace(TROWEL, text="whistle")

    found = path_features(paths, whistle, Question("What did the referee use?"), graph)
    assert found["circular"].tolist() == [1, 0] and found["compares"].tolist() == [0, 1]
    asked = path_features(paths, whistle, Question("Which is brighter, the whistle or midnight?"), graph)
    assert asked["compares"].tolist() == [0, 0]


def test_a_feeling_at_the_end_of_two_facts_is_seen(garden: Subgraph) -> None:
    names = ("ev:usedFor", "https://kgqa.org/relation/HasEmotion", "https://kgqa.org/relation/HasTime")
    relations = tuple(replace(garden.relations[0], name=name, label=name) for name in names)
    edges = np.array([[0, 0, 1], [1, 1, 2], [1, 2, 2]], dtype=np.int32)
    graph = replace(garden, relations=relations, edges=edges, weights=np.ones(3, dtype=np.float32))
    steps = [(0, 1), (0, 2), (1,)]
    paths = [EvidencePath(edges, (True,) * len(edges), 1.0) for edges in steps]
    assert path_features(paths, TROWEL, ASKED, graph)["last_quality"].tolist() == [1, 0, 0]

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kgqa.graph.linking.fuzzy import NearLabels, TimedLinker, fuzzy_linker, letter_vectors
from kgqa.graph.linking.linker import Linker
from kgqa.graph.load import open_graph
from kgqa.graph.retrieval.subgraph import retrieve_subgraphs
from kgqa.graph.storage.store import GraphStore
from kgqa.types import Question, Triple


@pytest.fixture
def store() -> GraphStore:
    labels = ["umbrella", "excavator", "hammer", "thermometer", "refrigerator", "rain", "dig a foundation"]
    return GraphStore.from_triples(Triple(label, "IsA", "thing") for label in labels)


def test_vectors_count_runs_of_letters_within_one_text():
    one, two, both = letter_vectors(["ab", "cd", "abcd"])
    assert one.sum() == 3 + 2 + 1  # " a" "ab" "b ", " ab" "ab ", " ab "
    assert letter_vectors(["ab"])[0].tolist() == one.tolist()
    assert (one @ both) > 0 and both.sum() == 5 + 4 + 3
    assert letter_vectors([]).shape == (0, 512)


@pytest.mark.parametrize(
    ("slip", "label"),
    [
        ("umbrela", "umbrella"),
        ("excavater", "excavator"),
        ("hamer", "hammer"),
        ("thermomether", "thermometer"),
        ("refridgerator", "refrigerator"),
    ],
)
def test_a_slip_is_near_its_label(store, slip, label):
    (near,) = NearLabels(store)([slip])
    assert store.labels(np.array([near[0][0]])) == [label]
    assert 0.5 <= near[0][1] < 1


def test_known_words_and_nonsense_are_near_nothing(store):
    assert NearLabels(store)(["hams", "zxqv", "x3", ""]) == [[], [], [], []]
    assert NearLabels(store)([]) == []


def test_a_graph_too_large_or_without_a_count_has_no_near_labels(store):
    assert NearLabels(store, most=3)(["umbrela"]) == [[]]
    assert NearLabels(SimpleNamespace(entity_count=None))(["umbrela"]) == [[]]
    empty = GraphStore.from_triples([])
    assert NearLabels(empty)(["umbrela"]) == [[]]


def test_a_slip_is_retrieved_with_less_weight_than_a_match(store):
    linker = Linker(store, nearest=NearLabels(store))
    subgraph = retrieve_subgraphs(Question("the umbrela and the hammer"), store, linker)[0]
    score = dict(zip(subgraph.labels, subgraph.scores.tolist(), strict=True))
    assert 0.5 < score["umbrella"] < score["hammer"]


def test_the_time_that_linking_takes_is_noted(tools_file: Path) -> None:
    plain = fuzzy_linker(open_graph(tools_file))
    linker, texts = TimedLinker(plain), ["I need a trowel"]
    assert linker.link_many(texts) == plain.link_many(texts) and linker.seconds > 0

from pathlib import Path

import numpy as np
import pytest

from kgqa.models.vectors.word_vectors import FILE, WordVectors, load_words
from kgqa.types import InputError


def test_vectors_are_kept(vectors: WordVectors, tmp_path: Path) -> None:
    vectors.save(tmp_path / "words" / FILE)
    again = load_words(tmp_path / "words")
    assert again.lemmas == vectors.lemmas and again.about == {"made": "by hand"} and again.size == 8
    assert np.array_equal(again.vectors, vectors.vectors) and np.array_equal(again.weights, vectors.weights)


def test_a_label_is_the_mean_of_its_telling_words(vectors: WordVectors) -> None:
    garden, trowel = vectors.of_label("garden"), vectors.of_label("The Garden Trowels")
    assert trowel @ garden > 0.9 * np.linalg.norm(trowel) * np.linalg.norm(garden)
    assert not vectors.of_label("zyzzyva").any() and not vectors.of_label("").any()


def test_frequent_words_weigh_nothing_and_unknown_ones_all(vectors: WordVectors) -> None:
    weights = vectors.weights[vectors.rows(["the", "trowel", "zyzzyva"])]
    assert weights == pytest.approx([0.0, 0.625, 1.0])


def test_neighbours_are_of_the_same_topic(vectors: WordVectors) -> None:
    assert {word for word, _ in vectors.nearest("Flowers", 3)} <= {"plant", "flower", "trowel", "garden"}
    assert vectors.nearest("zyzzyva") == []


def test_a_missing_or_damaged_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="kgqa words"):
        load_words(tmp_path)
    (tmp_path / FILE).write_bytes(b"no tensors")
    with pytest.raises(InputError, match="damaged"):
        load_words(tmp_path)

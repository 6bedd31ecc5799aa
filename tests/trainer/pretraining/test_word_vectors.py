from pathlib import Path

import numpy as np
import pytest

from kgqa.trainer.pretraining.word_vectors import WordsRecipe, learn_words
from kgqa.types import InputError

GARDEN = ["plant the flower with a trowel", "the trowel digs the garden", "flowers grow in the garden"]
HOUSE = ["build the house with a crane", "the crane lifts the roof", "the roof covers the house"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [line for number in range(200) for line in (GARDEN[number % 3], HOUSE[number % 3])]
    (tmp_path / "talk.txt").write_text("\n".join(lines))
    return tmp_path


def recipe(folder: Path, **settings) -> WordsRecipe:
    given = {"folder": str(folder), "sources": {"talk.txt": 1.0}, "size": 8, "subsample": 1.0, **settings}
    return WordsRecipe(**given)


def test_a_text_is_found_without_its_ending(folder: Path) -> None:
    named, bare = (
        learn_words(recipe(folder, sources={name: 1.0}), lambda items, _name: items)
        for name in ("talk.txt", "talk")
    )
    assert named.lemmas == bare.lemmas and (named.vectors == bare.vectors).all()


def test_words_of_one_topic_are_near(folder: Path) -> None:
    vectors = learn_words(recipe(folder), lambda items, _name: items)
    unit = {
        w: vectors.of_label(w) / np.linalg.norm(vectors.of_label(w)) for w in ("trowel", "garden", "roof")
    }
    assert unit["trowel"] @ unit["garden"] > unit["trowel"] @ unit["roof"] + 0.3
    assert "the" in vectors.lemmas and "grow" in vectors.lemmas


def test_the_same_recipe_gives_the_same_bits(folder: Path) -> None:
    one, other = (learn_words(recipe(folder, subsample=1e-2), lambda items, _name: items) for _ in range(2))
    assert np.array_equal(one.vectors, other.vectors) and one.lemmas == other.lemmas


def test_facts_are_read_as_often_as_asked(folder: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "facts.tsv").write_text("UsedFor\tshears\thedge\n" * 1)
    vectors = learn_words(
        recipe(folder, graphs={str(tmp_path / "facts.tsv"): 6}, sources={"talk.txt": 0.5}),
        lambda items, _: items,
    )
    assert {"shears", "hedge"} & set(vectors.lemmas) or {"shear", "hedge"} <= set(vectors.lemmas)


def test_too_little_text_is_said(folder: Path) -> None:
    with pytest.raises(InputError, match="give more text"):
        learn_words(recipe(folder, size=100, vocabulary=200), lambda items, _name: items)
    with pytest.raises(InputError, match="no such text file"):
        learn_words(recipe(folder, sources={"nothing": 1.0}), lambda items, _name: items)

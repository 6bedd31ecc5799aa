"""Keys of labels."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa.graph.linking.label_keys import (
    PART,
    XSD,
    base_key,
    default_label,
    hash_keys,
    keys_of,
    part_keys,
    plain_key,
)
from kgqa.graph.linking.normalize import normalise


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("http://x.org/a#IceCream", "Ice Cream"),
        ("http://x.org/a#iceCream", "ice cream"),
        ("http://x/P108_has_produced", "has produced"),
        ("http://x/E22_Human-Made_Object", "Human Made Object"),
        ("http://x/K%C3%B6ln", "Köln"),
        (f'"true"^^<{XSD}boolean>', "yes"),
        (f'"2020-02-29T00:00:00Z"^^<{XSD}dateTime>', "29 February 2020"),
        ("/c/en/ice_cream/n", "ice cream"),
        ("ice_cream", "ice cream"),
        ("and/or", "and/or"),
        ('"white"', "white"),
        ('"blanc"@fr', "blanc"),
        ("_:b1", ""),
    ],
)
def test_default_label(name: str, label: str) -> None:
    assert default_label(name) == label


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["The", "planting", "Flowers", "a", "3rd", "e12", "ice-cream", "don't"])))
def test_base_key_is_normalise(tokens: list[str]) -> None:
    text = " ".join(tokens)
    assert base_key(plain_key(text)) == normalise(text)


def test_hash_keys_are_the_same_everywhere() -> None:
    assert hash_keys(["dig"]).tolist() == hash_keys(["x", "dig"]).tolist()[1:]
    assert hash_keys(["dig"])[0] != hash_keys(["digs"])[0]
    assert len(hash_keys([])) == 0


def test_brackets_and_parts() -> None:
    found = ["the glass orchard film", "glass orchard film", "the glass orchard", "glass orchard"]
    assert keys_of("The Glass Orchard (film)") == found
    parts = [key.removeprefix(PART) for key in part_keys("Marie Skłodowska Curie")]
    assert parts == ["marie", "skłodowska", "curie"]
    assert part_keys("The Glass Orchard (film)") and part_keys("Duke of York")
    assert not part_keys("salt glaze") and not part_keys("(film)")


def test_a_long_name_of_brackets_and_blanks_takes_linear_time() -> None:
    begin = time.process_time()
    for text in ("(" * 50_000, "a " * 30_000 + "(", " " * 70_000 + ")", "a" + " " * 70_000 + "b()c)"):
        part_keys(text), keys_of(text)
    assert time.process_time() - begin < 2


@pytest.mark.parametrize(
    ("label", "keys"),
    [
        ("Solaris (film)", ["solaris film", "solaris"]),
        ("(film)", ["film"]),
        ("f(x)(y)", ["f x y", "f x"]),
        ("x (b) c)", ["x b c"]),
        ("Rome (x (b))", ["rome x b"]),
        ("the", ["the"]),
        ("planting e12", ["planting e12", "plant e12"]),
        ("!", []),
    ],
)
def test_keys_of_labels(label: str, keys: list[str]) -> None:
    assert keys_of(label) == keys

"""Keys of labels."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa.graph.normalising import normalise
from kgqa.graph.surfaces import base_key, default_label, hash_keys, plain_key


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("http://x.org/a#IceCream", "ice cream"),
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

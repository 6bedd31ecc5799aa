"""Keys of labels."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa.graph.linking.label_keys import (
    PART,
    base_key,
    default_label,
    default_labels,
    hash_keys,
    other_base_keys,
    part_keys,
    plain_key,
    plain_keys,
    without_brackets,
)
from kgqa.graph.linking.literals import XSD
from kgqa.graph.linking.normalising import normalise


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


NAMES = st.sampled_from(
    ["http://x/P1_aB", "http://x/a%20B", "http://x/offers#1"]
    + ["http://x/IceCream", "http://x/a_b-c#", "http://x/e12/", "x:y", "http://x/é  f", "a\nb"]
)


@settings(max_examples=50, deadline=None)
@given(st.lists(NAMES, max_size=4), st.lists(st.text(max_size=8), max_size=4))
def test_many_at_once_as_one_by_one(names: list[str], texts: list[str]) -> None:
    assert default_labels(names) == [default_label(name) for name in names]
    assert plain_keys(texts) == [plain_key(text) for text in texts]


def test_other_base_keys() -> None:
    assert other_base_keys(["the", "planting e12", "plant", "the dig"]) == ([1, 3], ["plant e12", "dig"])


def test_hash_keys_are_the_same_everywhere() -> None:
    assert hash_keys(["dig"]).tolist() == hash_keys(["x", "dig"]).tolist()[1:]
    assert hash_keys(["dig"])[0] != hash_keys(["digs"])[0]
    assert len(hash_keys([])) == 0


def test_brackets_and_parts() -> None:
    texts = ["The Glass Orchard (film)", "salt glaze", "Marie Skłodowska Curie", "(film)", "Duke of York"]
    assert without_brackets(texts) == ([0, 0], ["the glass orchard", "glass orchard"])
    assert [key.removeprefix(PART) for i, key in zip(*part_keys(texts), strict=True) if i == 2] == [
        "marie",
        "skłodowska",
        "curie",
    ]
    assert set(part_keys(texts)[0]) == {0, 2, 4}


def test_a_long_name_of_brackets_and_blanks_takes_linear_time() -> None:
    begin = time.process_time()
    for text in ("(" * 50_000, "a " * 30_000 + "(", " " * 70_000 + ")", "a" + " " * 70_000 + "b()c)"):
        part_keys([text]), without_brackets([text])
    assert time.process_time() - begin < 2


@pytest.mark.parametrize(
    ("label", "keys"),
    [
        ("Solaris (film)", ["solaris"]),
        ("(film)", []),
        ("f(x)(y)", ["f x"]),
        ("a (b) c)", []),
        ("Rome (a (b))", []),
    ],
)
def test_brackets_at_the_end_are_left_out(label: str, keys: list[str]) -> None:
    assert without_brackets([label])[1] == keys

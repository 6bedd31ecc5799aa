import pytest

from kgqa.types import Triple
from kgqa.verbalize.fact_sentences import corpus_sentence, corpus_templates, filled, verbalize_triple


@pytest.mark.parametrize(
    ("head", "relation", "tail", "sentence"),
    [
        (
            "plant flowers",
            "https://kgqa.org/relation/HasInstrument",
            "trowel",
            "to plant flowers, people use a trowel",
        ),
        ("dig", "AtLocation", "construction site", "people dig at the construction site"),
        ("sink", "AtLocation", "kitchen", "a sink is found in the kitchen"),
        ("wedding", "HasClothing", "suit", "for a wedding, people wear a suit"),
        ("trowel", "/r/UsedFor", "dig a hole", "a trowel is used to dig a hole"),
        ("trowel", "UsedFor", "digging", "a trowel is used for digging"),
        ("build a house", "HasAgent", "builder", "a builder builds a house"),
        ("open a bottle", "AtLocation", "kitchen", "people open a bottle in the kitchen"),
        ("water bottle", "AtLocation", "kitchen", "a water bottle is found in the kitchen"),
        ("water the plants", "HasTime", "early morning", "people water the plants in the early morning"),
        ("tuxedo", "HasA", "bow tie", "a tuxedo has a bow tie"),
        ("throw a party", "HasMaterial", "empty bottle", "to throw a party, people need an empty bottle"),
        ("empty the bin", "AtLocation", "kitchen", "people empty the bin in the kitchen"),
        ("bonus", "Causes", "happy", "a bonus leads to being happy"),
        ("sad", "Causes", "cry", "being sad leads to crying"),
        ("friendly", "Antonym", "rude", "friendly is the opposite of rude"),
        ("scissors", "MadeOf", "metal", "scissors are made of metal"),
        (
            "not wake the baby",
            "HasSubevent",
            "close the door",
            "not waking the baby involves closing the door",
        ),
    ],
)
def test_facts_are_said_as_people_say_them(head: str, relation: str, tail: str, sentence: str) -> None:
    assert verbalize_triple(head, relation, "??", tail) == sentence


def test_an_unknown_relation_is_said_in_its_own_words() -> None:
    assert verbalize_triple("smoker", "http://example.org/calms", "calms", "bees") == "smoker calms bees"


@pytest.mark.parametrize("relation", sorted(corpus_templates()))
def test_every_wording_says_head_and_tail(relation: str) -> None:
    for choice in range(len(corpus_templates()[relation])):
        output = corpus_sentence(Triple("xtrowel", relation, "ydig"), choice).lower()
        assert "xtrowel" in output and "ydig" in output and output[-1] == "."


def test_what_tells_a_label_from_another_is_not_said() -> None:
    assert filled("{A} / {B}", "crane (machine)", "{A}") == "crane / {A}"

import pytest

from kgqa.verbalize.shown_facts import shown_fact


@pytest.mark.parametrize(
    ("head", "relation", "tail", "sentence"),
    [
        ("rejected", "CausesDesire", "cry", "being rejected makes people want to cry"),
        ("late for school", "HasEmotion", "nervous", "being late for school makes people feel nervous"),
        ("on fire", "CausesDesire", "call for help", "being on fire makes people want to call for help"),
        ("safe", "AtLocation", "wall", "a safe is found on the wall"),
        ("red", "IsA", "color", "red is a kind of color"),
        ("freeze", "AtLocation", "freezer", "people freeze things in the freezer"),
        ("zipper gets stuck", "HasEmotion", "annoyed", "a zipper getting stuck makes people feel annoyed"),
        ("shoes do not fit", "Causes", "blister", "shoes not fitting leads to a blister"),
        ("cannot sleep", "Causes", "tired", "not being able to sleep leads to being tired"),
        ("grandmother is dying", "HasEmotion", "sad", "a grandmother dying makes people feel sad"),
        ("autumn leaves fall", "HasTime", "autumn", "autumn leaves falling comes in autumn"),
        ("customer orders", "AtLocation", "restaurant", "customer orders are found at the restaurant"),
        ("person who cannot walk", "HasA", "cane", "a person who cannot walk has a cane"),
        ("before sleep", "HasSubevent", "brush teeth", "the time before sleep involves brushing teeth"),
        ("dog", "Desires", "meat", "a dog wants meat"),
        ("child", "Desires", "play", "a child wants to play"),
        ("relax", "HasMaterial", "hammock", "to relax, people need a hammock"),
        ("compete", "HasAgent", "siblings", "siblings compete"),
        ("not pay", "HasAgent", "miser", "a miser does not pay"),
        ("be hungry", "HasTime", "noon", "people are hungry at noon"),
        ("wet towel", "SuitedTo", "fever", "a wet towel is right for a fever"),
        ("ski", "HasClothing", "ski boots", "to ski, people wear ski boots"),
        ("coin slot", "PartOf", "machine", "a coin slot is part of a machine"),
        ("clatter", "CreatedBy", "drop a tray", "a clatter comes from dropping a tray"),
        ("shelf", "CreatedBy", "carpenter", "a shelf is made by a carpenter"),
        ("Han River", "HasProperty", "wide", "the Han River is wide"),
        ("lunch", "HasTime", "noon", "lunch comes at noon"),
    ],
)
def test_what_a_person_reads_is_english(head: str, relation: str, tail: str, sentence: str) -> None:
    """States, clauses, verbs without their object and other kinds of labels, each in a form that fits."""
    assert shown_fact(head, relation, "??", tail) == sentence

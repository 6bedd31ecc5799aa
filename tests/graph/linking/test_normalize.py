from kgqa.graph.linking.normalize import is_known, normalise, split_local_name, verb_bases, words


def test_inflections_and_articles_fall_together() -> None:
    assert normalise("Planting the flowers") == normalise("plant flowers") == "plant flower"
    assert normalise("dug a hole") == normalise("dig the hole")


def test_only_articles_still_give_a_key() -> None:
    assert normalise("The") == "the"


def test_words_carry_character_ranges() -> None:
    assert words("It's raining.") == [("it's", 0, 4), ("raining", 5, 12)]


def test_local_names_are_split() -> None:
    assert split_local_name("http://example.org/tools#usedForDigging") == "used for digging"
    assert split_local_name("/c/en/ice_cream") == "ice cream"


def test_ing_forms_may_be_verbs() -> None:
    assert "build" in verb_bases("building") and "bake" in verb_bases("baking")
    assert "cut" in verb_bases("cutting")
    assert verb_bases("ring") == verb_bases("house") == verb_bases("ing") == ()


def test_things_are_not_taken_for_verbs() -> None:
    assert normalise("a saw") == "saw" != normalise("see")
    assert normalise("rake the leaves") == "rake leaf"


def test_known_words_are_those_of_english():
    assert is_known("shovels") and not is_known("umbrela")

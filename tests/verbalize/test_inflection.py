import pytest

from kgqa.verbalize import inflection


@pytest.mark.parametrize(
    ("verb", "past", "gerund", "third"),
    [
        ("dig", "dug", "digging", "digs"),
        ("stop", "stopped", "stopping", "stops"),
        ("open", "opened", "opening", "opens"),
        ("tie", "tied", "tying", "ties"),
        ("dye", "dyed", "dyeing", "dyes"),
        ("carry", "carried", "carrying", "carries"),
        ("play", "played", "playing", "plays"),
        ("wash", "washed", "washing", "washes"),
        ("fix", "fixed", "fixing", "fixes"),
        ("plan", "planned", "planning", "plans"),
        ("quit", "quit", "quitting", "quits"),
        ("strike", "struck", "striking", "strikes"),
        ("have", "had", "having", "has"),
        ("picnic", "picnicked", "picnicking", "picnics"),
        ("patrol", "patrolled", "patrolling", "patrols"),
        ("reset", "reset", "resetting", "resets"),
        ("undo", "undid", "undoing", "undoes"),
        ("moo", "mooed", "mooing", "moos"),
    ],
)
def test_verbs(verb: str, past: str, gerund: str, third: str) -> None:
    assert (inflection.past(verb), inflection.gerund(verb), inflection.third(verb)) == (past, gerund, third)


@pytest.mark.parametrize(
    ("noun", "article", "plural"),
    [
        ("trowel", "a trowel", "trowels"),
        ("excavator", "an excavator", "excavators"),
        ("uniform", "a uniform", "uniforms"),
        ("hour", "an hour", "hours"),
        ("scissors", "scissors", "scissors"),
        ("toy box", "a toy box", "toy boxes"),
        ("kitchen knife", "a kitchen knife", "kitchen knives"),
        ("garden soil", "garden soil", "garden soil"),
        ("umbrella", "an umbrella", "umbrellas"),
        ("ukulele", "a ukulele", "ukuleles"),
        ("ewe", "a ewe", "ewes"),
        ("fisherman", "a fisherman", "fishermen"),
        ("human", "a human", "humans"),
        ("quiz", "a quiz", "quizzes"),
        ("glass of water", "a glass of water", "glasses of water"),
    ],
)
def test_nouns(noun: str, article: str, plural: str) -> None:
    assert inflection.with_article(noun) == article
    assert inflection.plural(noun) == plural


def test_participles() -> None:
    verbs = ("build", "forget", "paint", "strike", "undo", "write")
    assert [inflection.participle(v) for v in verbs] == [
        "built",
        "forgotten",
        "painted",
        "struck",
        "undone",
        "written",
    ]


def test_prepositions() -> None:
    assert [inflection.time_phrase(t) for t in ("spring", "night", "morning", "birthday", "storm")] == [
        "in spring",
        "at night",
        "in the morning",
        "on a birthday",
        "during a storm",
    ]
    assert [inflection.place_phrase(p) for p in ("home", "beach", "kitchen")] == [
        "at home",
        "on the beach",
        "in the kitchen",
    ]

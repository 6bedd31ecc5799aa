"""Comparatives and superlatives of English adjectives, participles of verbs."""

from __future__ import annotations

from kgqa.data.synthetic.inflection import past

_SHORT = 6
"""Letters of adjectives that are compared by their ending."""
_GRADES = {
    "good": ("better", "best"),
    "bad": ("worse", "worst"),
    "many": ("more", "most"),
    "much": ("more", "most"),
    "few": ("fewer", "fewest"),
}


def comparative(adjective: str) -> str:
    """The comparative of an adjective.

    >>> [comparative(adjective) for adjective in ("high", "big", "good", "expensive")]
    ['higher', 'bigger', 'better', 'more expensive']
    """
    return _GRADES[adjective][0] if adjective in _GRADES else _grade(adjective, "er", "more")


def superlative(adjective: str) -> str:
    """The superlative of an adjective.

    >>> [superlative(adjective) for adjective in ("high", "heavy", "bad", "famous")]
    ['highest', 'heaviest', 'worst', 'most famous']
    """
    return _GRADES[adjective][1] if adjective in _GRADES else _grade(adjective, "est", "most")


def _grade(adjective: str, ending: str, word: str) -> str:
    if len(adjective) > _SHORT or " " in adjective or adjective.endswith("ous"):
        return f"{word} {adjective}"
    return past(adjective).removesuffix("ed") + ending


_PARTICIPLES = dict(
    pair.split(":")
    for pair in [
        "be:been",
        "become:become",
        "begin:begun",
        "bite:bitten",
        "blow:blown",
        "break:broken",
        "choose:chosen",
        "come:come",
        "do:done",
        "draw:drawn",
        "drink:drunk",
        "drive:driven",
        "eat:eaten",
        "fall:fallen",
        "fly:flown",
        "freeze:frozen",
        "give:given",
        "go:gone",
        "grow:grown",
        "hide:hidden",
        "know:known",
        "lie:lain",
        "ride:ridden",
        "ring:rung",
        "rise:risen",
        "run:run",
        "see:seen",
        "shake:shaken",
        "show:shown",
        "shrink:shrunk",
        "sing:sung",
        "sink:sunk",
        "speak:spoken",
        "steal:stolen",
        "swear:sworn",
        "swim:swum",
        "take:taken",
        "tear:torn",
        "throw:thrown",
        "wake:woken",
        "wear:worn",
        "weave:woven",
        "write:written",
    ]
)


def participle(verb: str) -> str:
    """The past participle of a verb.

    >>> participle("write"), participle("build"), participle("paint")
    ('written', 'built', 'painted')
    """
    return _PARTICIPLES.get(verb) or past(verb)

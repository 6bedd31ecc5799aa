"""Relations as questions: "lives in" gives "Where does Odin live?"."""

from __future__ import annotations

from collections.abc import Callable

from kgqa.types import Relation
from kgqa.verbalize.inflection import is_known, lemma
from kgqa.verbalize.korean import is_korean, korean_question


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PREPOSITIONS = _set(
    "of in on at by to from with for into under as about after near through than over against"
)
_ALONE = _PREPOSITIONS | _set(
    "above behind before below beneath beside between beyond inside opposite outside within without"
)
"""Prepositions that are a relation by themselves: "What is it near?"."""
_PASTS = _set(
    "took went wrote came became gave began grew flew drew knew won sang fell rose ran drove rode spoke stole chose "
    "swam wore threw ate drank saw woke sank shook"
)
"""Past forms that are not participles."""
_BASES = {
    "rose": "rise",
    "spoke": "speak",
    "stole": "steal",
    "won": "win",
    "left": "leave",
    "felt": "feel",
    "saw": "see",
    "crosses": "cross",
    "fixes": "fix",
    "mixes": "mix",
}
"""Base forms of past forms that are also nouns or adjectives, and of verbs whose base form simplemma does not know."""
_MODALS = _set("can could may must should will would")
_DONE_ALONE = _set(
    "live die retire end begin start happen occur arrive depart reign appear act star compete participate belong "
    "graduate study work serve play move travel perform debut resign collaborate stand lie fall rise sleep meet "
    "fight take"
)
"""Verbs without an object: before a preposition they are not passive, and the question is where or when."""
_DONE_TO = _set("study work serve play move perform act meet fight take")
"""Those of `_DONE_ALONE` that take an object if no preposition follows."""
_DONE_IN = _set("star act appear compete participate play perform serve believe specialize result")
"""Verbs followed by "in" and something that is not a place."""
_STATES = _set("named called titled nicknamed dubbed awarded nominated")
"""Participles that ask what: "What was Odin named?"."""
_PLACED = _set("located situated based headquartered buried born moored")
"""Participles that ask where, without a preposition: "Where is Odin based?"."""
_OF_ONE = _set(
    "kind type sort member child son daughter sister brother friend neighbour neighbor "
    "translation pupil student resident citizen subsidiary"
)
_OF_THE = _set("capital home author owner head leader centre center wife husband mother father")
"""Nouns before "of" that take a definite article ("the capital of"); those of `_OF_ONE` take "a"."""
_NO_PEOPLE = _set(
    "place birthplace city country town location capital language date year age population currency"
)
"""Relations whose value is never a person, even if a place is called Florence."""
_NO_VERBS = _set("has is was does this address class species status business headquarters series news")
"""Words that end in "s" like the third person of a verb or a plural, but are treated as neither."""
_PLURALS = _set(
    "members scissors trousers pliers tongs pages parts names titles parents steps sources languages children people"
)
"""Plurals that look like the third person of a verb, are irregular, or have no singular."""
_NO_BASES = _set("born close set on in at")
"""Words that look like a verb, but are not one before a preposition: born in, close to."""
_MEASURES = _set("weighs costs measures lasts holds takes")
"""Verbs before an amount, which are not plurals of counted things: not "How many weighs"."""
_CASTS = _set("star stars starring actor cast features")
"""Relations from a work to its actors: "Who stars in Low Tide?"."""

_LIMITS = {"from": "begin", "since": "begin", "to": "end", "until": "end", "till": "end"}
"""Relations to the day on which something begins or ends."""

QuestionWording = Callable[[Relation, str, bool, bool], str]
"""Makes the question for the tail of a relation, given the relation, the head's label, and whether the tail is a date
or a person."""


def relation_question(
    relation: Relation, about: str, dated: bool = False, person: bool = False, number: bool = False
) -> str:
    """A question for the tail of a relation, formed from the relation's label; `dated`, `person` and `number` state
    what the tail is.

    >>> relation_question(Relation("", "lives in"), "Odin"), relation_question(Relation("", "has capital"), "Norland")
    ('Where does Odin live?', 'What is the capital of Norland?')
    >>> relation_question(Relation("", "crosses"), "Otter")
    'What does Otter cross?'
    >>> relation_question(Relation("", "stars"), "Low Tide", person=True)
    'Who stars in Low Tide?'
    >>> relation_question(Relation("", "directed"), "Helena"), relation_question(Relation("", "live in"), "bees")
    ('What did Helena direct?', 'Where do bees live?')
    >>> relation_question(Relation("", "died in"), "Odin"), relation_question(Relation("", "born"), "Odin", dated=True)
    ('Where did Odin die?', 'When was Odin born?')
    >>> relation_question(Relation("", "date to"), "Loan 7", dated=True)
    'When did Loan 7 end?'
    >>> relation_question(Relation("", "can"), "a bird")
    'What can a bird do?'
    >>> relation_question(Relation("", "copies in stock"), "Emma", number=True)
    'How many copies in stock does Emma have?'
    """
    words = (relation.label if " or " in relation.words else relation.words or relation.label).split()
    if is_korean(relation.label):
        return korean_question(Relation("", relation.label), about, dated, person)
    who = "Who" if person and not _NO_PEOPLE & {word.lower() for word in words} else "What"
    question = (_when(words, about) if dated else "") or _worded(words, about, who, number)
    if about.islower() and _is_plural(about.split()[-1]):
        for one, several in (("does", "do"), ("is", "are"), ("was", "were")):
            question = question.replace(f" {one} {about}", f" {several} {about}")
    return question


def _when(words: list[str], about: str) -> str:
    """A question with "when"; empty if the relation's label names the date itself ("opening date")."""
    tied = len(words) > 1 and words[-1].lower() in {"on", "in", "at"}
    if limit := _LIMITS.get(" ".join(words).lower().removeprefix("date ")):
        return f"When did {about} {limit}?"
    first, *rest = words[:-1] if tied else words
    first = first.lower()
    verb, others = _verb(first), " ".join(["", *rest])
    if first in {"is", "are", "was", "were"} and (rest or tied):
        return f"When was {about}{others}?"
    if first in _MODALS:
        return ""
    if _is_third(first):
        return f"When does {about} {verb}{others}?"
    if first in _PASTS or (_is_past(first) and verb in _DONE_ALONE):
        return f"When did {about} {verb}{others}?"
    if tied or ((_is_past(first) or _is_participle(first)) and not rest):
        return f"When was {about} {first}{others}?"
    return ""


def _worded(words: list[str], about: str, who: str, number: bool) -> str:
    """A question with another question word than "when"."""
    first, last, rest, several = words[0].lower(), words[-1].lower(), words[1:], len(words) > 1
    verb, tied = _verb(first), several and last in _PREPOSITIONS
    if number and _is_plural(first) and first not in _MEASURES:
        return f"How many {' '.join(words)} does {about} have?"
    if who == "Who" and first in _CASTS and not several:
        return f"Who stars in {about}?"
    if last in {"since", "until"}:
        return " ".join([last.title(), "when is", about, *words[:-1]]) + "?"
    if not several and first in _ALONE:
        return f"Where is {about}?" if first in {"in", "at", "inside"} else f"{who} is {about} {first}?"
    if first in {"is", "are", "was", "were"} and several:
        return _asked(f"{first} {about}", rest, who)
    if first in _MODALS:
        return _asked(f"{first} {about}", rest or ["do"], who)
    if first in {"has", "have"}:
        return f"{who} is the {' '.join(rest)} of {about}?" if rest else f"What does {about} have?"
    if not several and first in _PLACED:
        return f"Where {'was' if first == 'born' else 'is'} {about} {first}?"
    if not several and (first in _STATES or _is_participle(first)):
        return f"Who was {about} {first} by?" if who == "Who" else f"What was {about} {first}?"
    if first in _PASTS or (_is_past(first) and (not tied or verb in _DONE_ALONE)):
        return _asked(f"did {about} {verb}", rest, who)
    if _is_third(first):
        return _asked(f"does {about} {verb}", rest, who)
    if tied:
        if last not in ("of", "by", "as") and _is_base(first):
            return _asked(f"does {about} {first}", rest, who)
        article = ["a"] if first in _OF_ONE else ["the"] if first in _OF_THE else []
        return _asked(
            f"{'was' if first == 'born' else 'is'} {about}", [*(article if last == "of" else []), *words], who
        )
    ends = (place for place, word in enumerate(words) if place and word in _ALONE)
    verb = "are" if _is_plural(words[next(ends, len(words)) - 1]) else "is"
    return f"{who} {verb} the {' '.join(words)} of {about}?"


def _verb(word: str) -> str:
    """The base form of a verb."""
    return _BASES.get(word) or lemma(word)


def _is_past(word: str) -> bool:
    """Whether a word is a past form and nothing else: named, built; not written or red."""
    return _verb(word) != word and word.endswith(("t", "d", "made"))


def _is_participle(word: str) -> bool:
    """Whether a word is a participle that is not also a past form: written, sung."""
    return word == "born" or (
        lemma(word) != word
        and word.endswith(("n", "ung", "unk", "um", "done"))
        and word not in _PASTS | _PLURALS
    )


def _is_third(word: str) -> bool:
    """Whether a word is the third person of a verb: eats; not members."""
    return (
        word.endswith("s")
        and word not in _NO_VERBS | _PLURALS
        and lemma(word) != word
        and _has_gerund(lemma(word))
    )


def _is_plural(word: str) -> bool:
    """Whether a word may be a noun's plural: bees, children."""
    return word in _PLURALS or (
        word.endswith("s") and not word.endswith("ss") and word not in _NO_VERBS and lemma(word) != word
    )


def _is_base(word: str) -> bool:
    """Whether a word is the base form of a verb, as in lowerCamelCase names (liveIn)."""
    return word not in _NO_BASES and lemma(word) == word and _has_gerund(word)


def _has_gerund(word: str) -> bool:
    stems = (word, word.removesuffix("e"), word + word[-1], word.removesuffix("ie") + "y")
    return any(is_known(f"{stem}ing") for stem in stems)


def _asked(begun: str, rest: list[str], who: str) -> str:
    """The question with the verb phrase `begun`, for what would follow `rest`."""
    does, verb = begun.startswith("d"), begun.rpartition(" ")[2]
    if rest and rest[-1] not in _PREPOSITIONS and does:
        return " ".join(["Which", rest[-1], begun, *rest[:-1]]) + "?"  # "belongs to house": which house
    if rest[-1:] in (["in"], ["at"]) and not (does and verb in _DONE_IN):
        return " ".join(["Where", begun, *rest[:-1]]) + "?"
    if does and not rest and verb in _DONE_ALONE - _DONE_TO:
        return f"Where {begun}?"
    if [verb, *rest] == ["serve", "to"] or rest == ["used", "to"]:
        rest = [*rest, "do"]
    who = "Who" if rest[-1:] == ["by"] or rest[:1] == ["married"] else who
    return " ".join([who, begun, *rest]) + "?"

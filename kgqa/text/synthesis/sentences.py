"""A fact as a person would say it: "to plant flowers, people use a trowel"."""

from __future__ import annotations

import re
from functools import lru_cache

from kgqa.text.synthesis.inflection import PAST, gerund, is_mass, is_plural, third, with_article
from kgqa.text.synthesis.templates import place_phrase, time_phrase

_VERBS = """
act add adopt announce answer apply argue arrive ask assemble attach attend attract avoid bake balance bathe block boil
book borrow bow breathe brush bully bury calculate call calm cancel care carry carve celebrate change charge chase cheat
check cheer chew chop clean clear click climb clip close coin collect colour comb comfort commit commute compare
complain conduct congratulate connect contact control cook cool copy correct count cover crack cross crush cure dance
decide decorate defend defrost defuse delete deliver deposit design digest dip direct discover dive donate drain dress
cry drill drop dry dust dye earn educate empty end enjoy enter entertain erase escape evacuate examine exchange exercise
explain explore fasten fence fertilize fetch file fill film filter fix flatten flip float flow fold follow force
forecast fry furnish gather generate glue gnaw grate greet grill guard guide haggle hammer harvest heat help hem herd
hike hire honk honor hug hunt imitate improve inflate inform install interview introduce iron issue join jump kick kill
knead knock label land launch learn level lick lift listen live load lock look loosen manage mark massage measure melt
memorize mend milk mine miss mix moisturize mop move nod obey oil open operate order organise pack paddle paint park
pass patch patrol peel perform pick pin pitch plan plant plaster play please plow pluck plug point poke polish pollinate
post pour practice praise preheat prepare preserve press pretend prevent print protect prove prune pry pull pump punch
punish push quench question queue race raise rake reach receive recommend record recycle reduce register reheat remember
remind remove renovate rent repair repeat report rescue reserve reset rest restart return reuse review reward rinse
roast rob roll rule sail sand satisfy save scan scare scoop score scrape scratch screw scrub seal search season serve
share sharpen shave shelter shop shorten shout shovel shred shuffle sift sign skate skip slow smell smooth soak soften
solder solve soothe sort sound spill spray squeeze squirt stack stain staple start stay steam steer stir stop store
straighten strain strip study support surprise survive swallow swat talk tap taste tease test thank tidy tie tighten
toast touch tow track train transfer transplant transport travel treat trim try tune turn type unclog unlock unpack use
vaccinate vacuum varnish visit volunteer wag wait walk want warm warn wash watch water wax weigh welcome weld whip
whiten wipe wish work worship worry wrap
"""
_ALSO_NOUNS = """
book bow clean clear control cook cool copy cover cut drain drill dry dust empty feed fence file film fly glue guard
guide harvest iron lift light lock look massage milk oil open pack paint park pick plant plaster play plug post record
report rescue rest score scrub seal search set shop sign sleep sound spray spring staple surprise swallow swim swing
tape test tie tow train travel try vacuum warm wash watch water work cross race answer dance exercise hammer label
land level mine mop pin pitch plan point pump punch question review roll rule sand screw season shelter shovel steam
stop store study support taste toast track transport ring saw wind wound lead run ride hit cast stick bear drink show
"""
_NEVER_NOUNS = """
breathe build bury carry carve celebrate chew climb commute complain decorate dig eat explore feel freeze gnaw grow hang
hear honk join kneel learn melt mix overeat oversleep pay plow pour rinse rise see sharpen shave shoot shout sing sit
cry soften speak stir think unpack varnish wait write
"""
_ADJECTIVES = """
abandoned absorbent addictive adopted adventurous afraid alive amused angry annoyed anxious artificial ashamed
athletic awkward beneficial blinding bloody blunt bored boring bossy brave broken busy calm carefree careful careless
charming cheap cheated cheerful childish clean comfortable comforted comforting competent complicated confident
confused conscious contagious correct cosy crooked crowded cruel curious damp dangerous dark dead deceitful delicious
desperate destructive determined difficult dirty disappointed discouraged discouraging disgusted disgusting disliked
domestic drunk dry dusty early educated educational elastic elegant embarrassed embarrassing empty encouraging
energetic enlightened enthusiastic envious excellent excited exciting experienced faithful false fat fatal fireproof
flammable flexible fluffy focused foreign fragile fragrant friendly frustrated full funny gloomy grateful greasy
greedy grumpy guilty happy hard-working harmful harmless healthy heartbroken heavy helpless hidden hideous homesick
honest hopeful horrified hot humble humid hungry hurried ill illegal illiterate impatient incompetent incomplete
incurable independent indifferent inexperienced infinite inflatable innocent insecure insincere interested interesting
jealous joyful lazy literate lonely loose loud loved lovesick loving lucky mature mild miserable moldy motivated moved
muddy naked nauseous nervous nocturnal noisy nostalgic offended old opaque painful painless panicked peaceful perfect
persistent playful pleasant pointed poisonous poor popular pregnant pretty prickly proud punctual refreshed refreshing
relaxed relaxing reliable relieved remarkable rested restless rich romantic rotten rude rusty sad safe satisfied
scarce scared scary sensible sensitive severe shiny shocked shy sick silly sleepy slender slippery snowy sober soft
spicy startled steady stingy strange stressed stressful strong stubborn sudden sufficient surprised suspicious
tasteless temporary terrible thankful thirsty thrilled tidy tired tiring torn touched triumphant trusting ugly
uncomfortable unconscious undecided uneasy unfaithful unfriendly unhappy unhealthy unlucky unpaid unpopular
unpredictable unreliable unsatisfied unsure upset useful useless vain violent warm waterproof weak weird wet wise
witty wobbly wonderful woolly worried wrinkled wrong
"""
_AFTER_A_VERB = re.compile(
    r"(?:a|an|the|one's|your|my|some|something|someone|somebody|people|children|each|all|and|up|down|out|off|on|in|into|"
    r"at|to|for|over|under|away|back|with|from|by|around|across|through|together|well|fast|slowly|alone)$"
)
_TEMPLATES = {
    "UsedFor": "{A} is used {to B}",
    "IsA": "{A} is a kind of {b}",
    "AtLocation": "people {a} {at B}|{A} is found {at B}",
    "CapableOf": "{A} can {b}",
    "PartOf": "{A} is part of {B}",
    "HasA": "{A} has {B}",
    "MadeOf": "{A} is made of {b}",
    "HasProperty": "{A} is {b}",
    "Causes": "{A} leads to {B}",
    "CausesDesire": "{A} makes people want to {b}",
    "HasPrerequisite": "{A} comes after {B}",
    "HasSubevent": "{A} involves {B}",
    "HasFirstSubevent": "{A} begins with {B}",
    "HasLastSubevent": "{A} ends with {B}",
    "MotivatedByGoal": "people {a} {to B}|{A} is meant {to B}",
    "Desires": "{A} wants {to B}",
    "LocatedNear": "{A} is near {B}",
    "Antonym": "{a} is the opposite of {b}",
    "SimilarTo": "{A} is similar to {B}",
    "DistinctFrom": "{A} is not {B}",
    "CreatedBy": "{A} is made by {B}",
    "HasInstrument": "{to A}, people use {B}",
    "HasAgent": "{B} {does A}|{B} takes part in {A}",
    "HasMaterial": "{to A}, people need {B}",
    "HasClothing": "{to A}, people wear {B}",
    "HasTime": "people {a} {when B}|{A} comes {when B}",
    "HasEmotion": "{A} makes people feel {b}",
    "SuitedTo": "{A} is right for {B}",
}
"""By ConceptNet's and the everyday graph's names. A and B are head and tail as nouns; of two wordings the first is for
heads that are deeds."""
_MANY = {"is": "are", "has": "have", "wants": "want", "comes": "come", "makes": "make", "leads": "lead"}
_SINGULAR = re.compile(rf"\b({'|'.join(_MANY)})\b")
_TAIL_DEEDS = frozenset("UsedFor MotivatedByGoal HasSubevent Desires CausesDesire CapableOf".split())  # noqa: SIM905
_HEAD_DEEDS = frozenset("HasInstrument HasAgent HasMaterial MotivatedByGoal HasSubevent".split())  # noqa: SIM905


def say_fact(head: str, relation: str, words: str, tail: str) -> str:
    """The fact in a sentence without capital or full stop.

    Args:
        head, tail: labels of the concepts.
        relation: the relation's name, an IRI or plain; by its last part the wording is chosen.
        words: the relation in words, for relations of any other graph: "smoker calms bees".

    >>> say_fact("plant flowers", "https://kgqa.org/relation/HasInstrument", "is done with", "trowel")
    'to plant flowers, people use a trowel'
    """
    template = _TEMPLATES.get(name := re.split(r"[/#:]", relation)[-1])
    if template is None:
        return f"{head} {words} {tail}"
    deed, noun = _is_deed(head, name in _HEAD_DEEDS), _is_deed(tail, name in _TAIL_DEEDS)
    named = {
        label: f"being {label}" if label in _adjectives() else with_article(label) for label in (head, tail)
    }
    first, _, second = template.partition("|")
    chosen = first if deed or not second else second
    verb, _, rest = head.partition(" ")
    forms = {
        "a": head,
        "b": tail,
        "A": _doing(head) if deed else named[head],
        "B": _doing(tail) if noun else named[tail],
        "to A": f"to {head}" if deed else f"for {named[head]}",
        "to B": f"to {tail}" if noun else f"for {tail if tail.endswith('ing') else named[tail]}",
        "does A": f"{third(verb)} {rest}".strip(),
        "at B": place_phrase(tail),
        "when B": time_phrase(tail),
    }
    said = re.sub(r"\{([^}]+)\}", lambda match: forms[match.group(1)], chosen)
    if deed or not is_plural(head) or not chosen.lower().startswith("{a}"):
        return said
    return _SINGULAR.sub(lambda match: _MANY[match.group()], said, count=1)


def as_kind(label: str) -> str:
    """A label as what something is a kind of: dig -> digging.

    >>> as_kind("dig"), as_kind("hand tool")
    ('digging', 'hand tool')
    """
    return _doing(label) if _is_deed(label, False) else label


@lru_cache
def _adjectives() -> frozenset[str]:
    return frozenset(_ADJECTIVES.split())


@lru_cache
def _verbs() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    return (
        frozenset(_VERBS.split()) | frozenset(PAST),
        frozenset(_ALSO_NOUNS.split()),
        frozenset(_NEVER_NOUNS.split()),
    )


def _is_deed(label: str, expected: bool) -> bool:
    """Whether a label is what somebody does: plant flowers, dig; not a water bottle, nor a paint brush."""
    first, _, rest = label.removeprefix("not ").partition(" ")
    verbs, nouns, never_nouns = _verbs()
    if first not in verbs:
        return False
    if expected or (first not in nouns if rest else first in never_nouns):
        return True
    following = rest.split()
    return bool(following) and (
        bool(_AFTER_A_VERB.match(following[0])) or is_plural(rest) or (len(following) == 1 and is_mass(rest))
    )


def _doing(label: str) -> str:
    negated = "not " if label.startswith("not ") else ""
    verb, _, rest = label.removeprefix("not ").partition(" ")
    return f"{negated}{gerund(verb)} {rest}".strip()

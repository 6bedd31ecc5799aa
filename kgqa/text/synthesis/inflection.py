"""English word forms for made sentences: tenses, plurals and articles of short everyday phrases."""

from __future__ import annotations

import re
from functools import lru_cache

_PAST_FORMS = """
    be:was arise:arose awake:awoke babysit:babysat beat:beat become:became begin:began bend:bent bet:bet
    bind:bound bite:bit bleed:bled blow:blew break:broke breed:bred bring:brought broadcast:broadcast
    build:built burst:burst buy:bought cast:cast catch:caught choose:chose cling:clung come:came
    cost:cost creep:crept cut:cut deal:dealt dig:dug do:did draw:drew drink:drank drive:drove eat:ate
    fall:fell feed:fed feel:felt fight:fought find:found fit:fit flee:fled fling:flung fly:flew
    forbid:forbade forget:forgot forgive:forgave freeze:froze get:got give:gave go:went grind:ground
    grow:grew hang:hung have:had hear:heard hide:hid hit:hit hold:held hurt:hurt keep:kept kneel:knelt
    knit:knitted know:knew lay:laid lead:led leave:left lend:lent let:let lie:lay light:lit lose:lost
    make:made mean:meant meet:met mow:mowed overcome:overcame pay:paid put:put quit:quit read:read
    rid:rid ride:rode ring:rang rise:rose run:ran saw:sawed say:said see:saw seek:sought sell:sold
    send:sent set:set sew:sewed shake:shook shear:sheared shed:shed shine:shone shoot:shot show:showed
    shrink:shrank shut:shut sing:sang sink:sank sit:sat sleep:slept slide:slid slit:slit sow:sowed
    speak:spoke speed:sped spend:spent spin:spun spit:spat split:split spread:spread spring:sprang
    stand:stood steal:stole stick:stuck sting:stung stink:stank strike:struck string:strung
    strive:strove swear:swore sweep:swept swell:swelled swim:swam swing:swung take:took teach:taught
    tear:tore tell:told think:thought throw:threw tread:trod understand:understood undo:undid
    upset:upset wake:woke wear:wore weave:wove weep:wept wet:wet win:won wind:wound withdraw:withdrew
    write:wrote rewind:rewound rewrite:rewrote rebuild:rebuilt retell:retold overeat:overate
    oversleep:overslept unwind:unwound repay:repaid remake:remade foresee:foresaw
"""
_PLURAL_FORMS = """
    child:children man:men woman:women person:people foot:feet tooth:teeth goose:geese mouse:mice
    sheep:sheep fish:fish deer:deer knife:knives wife:wives leaf:leaves loaf:loaves shelf:shelves
    half:halves wolf:wolves thief:thieves scarf:scarves calf:calves life:lives potato:potatoes
    tomato:tomatoes ox:oxen hero:heroes
"""
_DOUBLING = """
    admit babysit begin commit control equip forget kidnap occur outfit permit prefer program refer
    regret rerun rewrap transfer unclog unplug unwrap unzip
"""
_MASS_NOUNS = """
    advice air anger art baggage bait batter beef beer bleach blood brass bread butter cardboard cash
    cement cereal chalk change charcoal cheese chocolate clay cloth clothing coffee compost concrete
    cotton cream darkness data denim deodorant detergent dirt dough dust earth electricity equipment
    fabric feed fertiliser fertilizer fire firewood floss flour fog foil food fruit fuel furniture
    garbage garlic gas gasoline glass glue gold grass gravel gravy grease hair happiness hay heat help
    homework honey housework ice information ink jam jewellery jewelry juice ketchup knowledge leather
    lightning lotion love luggage lumber makeup meat medicine metal milk money mortar mud mulch music
    mustard news noise oil paint paper pasta perfume petrol plaster plastic pork rain rice rubber
    rubbish rust sadness salt sand sauce shampoo silk silver smoke snow soap software soil soup steel
    stone straw sugar sunlight sunscreen sunshine tea thunder timber toothpaste topsoil traffic trash
    vinegar water wax weather wind wine wood wool yarn
"""
PAST = dict(pair.split(":") for pair in _PAST_FORMS.split())
_PLURAL = dict(pair.split(":") for pair in _PLURAL_FORMS.split())
_DOUBLED = frozenset(_DOUBLING.split())
_MASS = frozenset(_MASS_NOUNS.split())
_ONE_SYLLABLE = re.compile(r"^[^aeiou]*(?:qu)?[aeiou][bdgklmnprtvz]$")


@lru_cache(maxsize=50_000)
def past(verb: str) -> str:
    """Simple past of a verb: dig -> dug, hurry -> hurried, stop -> stopped."""
    if verb in PAST:
        return PAST[verb]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ied"
    return _double(verb) + "ed"


@lru_cache(maxsize=50_000)
def gerund(verb: str) -> str:
    """Present participle of a verb: dig -> digging, tie -> tying, make -> making."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and verb != "be":
        return verb[:-1] + "ing"
    return _double(verb) + "ing"


@lru_cache(maxsize=50_000)
def third(verb: str) -> str:
    """Third person singular of a verb: dig -> digs, wash -> washes, carry -> carries."""
    if verb in {"be", "have"}:
        return {"be": "is", "have": "has"}[verb]
    return "goes" if verb == "go" else "does" if verb == "do" else _with_s(verb)


@lru_cache(maxsize=50_000)
def plural(noun: str) -> str:
    """Plural of a noun or noun phrase by its last word: toy box -> toy boxes, knife -> knives."""
    kind, of, rest = noun.partition(" of ")
    if of:
        return (_with_s(kind) if is_mass(kind) else plural(kind)) + of + rest
    if is_mass(noun):
        return noun
    head, _, last = noun.rpartition(" ")
    if not is_plural(last):
        last = _PLURAL.get(last) or _with_s(last)
    return f"{head} {last}".strip()


def is_plural(noun: str) -> bool:
    """Whether a noun (or a phrase, by its last word) looks plural: scissors, children."""
    last = noun.rsplit(" ", 1)[-1]
    return last in _PLURAL.values() or (last.endswith("s") and not last.endswith(("ss", "us", "is")))


def is_mass(noun: str) -> bool:
    """Whether a noun takes no article in the singular: water, garden soil."""
    return " of " not in noun and noun.rsplit(" ", 1)[-1] in _MASS


def with_article(noun: str) -> str:
    """A noun as it is met for the first time: a trowel, an excavator, water, scissors, the sea."""
    if re.match(r"(?:a|an|the|some|someone|something|your|my)\b", noun) or is_plural(noun) or is_mass(noun):
        return noun
    if noun[:1].isupper():
        return noun
    silent = noun.startswith(("hour", "honest", "heir", "honour", "honor"))
    like_you = re.match(r"(?:uni(?!n|m)|use|usu|eu|one\b|once|ur[aei]|ut[ei])", noun)
    return ("an " if silent or (noun[:1] in "aeiou" and not like_you) else "a ") + noun


def _with_s(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _double(verb: str) -> str:
    if verb in _DOUBLED or _ONE_SYLLABLE.match(verb):
        return verb + verb[-1]
    return verb + "k" if verb.endswith("ic") else verb

"""Function words of English: what links to nothing by itself, and what may stand inside a concept."""

from __future__ import annotations

from kgqa.graph.linking.normalising import ARTICLES

# The Snowball English list, with question words, modals and contractions.
_STOP = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves what which who whom whose where when why how this
that these those am is are was were be been being have has had having do does did doing done would should
could ought will shall can may might must a an the and but if or because as until while of at by for with
about against between into through during before after above below to from up down in out on off over
under again further then once here there all any both each few more most other some such no nor not only
own same so than too very just also ever else however since though although yet per via us
s t d ll m re ve don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't cannot couldn't
shouldn't hasn't haven't hadn't mustn't let's i'm you're he's she's it's we're they're i've you've we've
they've i'd you'd he'd she'd we'd they'd i'll you'll he'll she'll we'll they'll that's who's what's
here's there's when's where's why's how's
"""
_PARTICLES = """
about across along apart around aside away back by down forward in off on out over through together up
"""
_SUBJECTS = """
i you he she it we they who to will would can could should must may might let please
"""
_PASSIVE = """
am is are was were be been being has have had get gets got i you he she we they just that
"""
_DETERMINERS = "this that these those all both each few more most some such no very own same"

ABBREVIATIONS = frozenset("no nr nos vol op ch pt fig st mt dr mr mrs ms prof rev jr sr".split())  # noqa: SIM905
"""The point behind these ends no sentence where a name goes on: "No. 418", "St. Mary"."""
INDEFINITE = frozenset("what which whose many much a an any some every each no other another".split())  # noqa: SIM905
"""A noun behind these is what is asked for, or any thing of a kind, and none that is known."""
STOP_WORDS = frozenset(_STOP.split())
"""Link to nothing by themselves."""
PARTICLES = frozenset(_PARTICLES.split())
"""May end a concept: "dig up"."""
OPENERS = frozenset({"be", "do", "have"})
"""Base forms that may begin a concept: "have fun", "be happy"."""
SUBJECTS = frozenset(_SUBJECTS.split())
"""A verb is to be expected after these."""
PASSIVE = frozenset(_PASSIVE.split())
"""Between an object and the verb that follows it: "flowers were planted", "the hole that I dug"."""
DETERMINERS = ARTICLES | frozenset(_DETERMINERS.split())
"""Between a verb and its object: "plant all those lovely flowers"."""
OBJECT_PRONOUNS = frozenset({"it", "them", "one"})
"""Stand for a thing named before."""

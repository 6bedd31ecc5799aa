"""Who did what to whom, where a passage states an event by one verb and a question asks for it by the converse: "Ajax
beat Lyon. Who lost?"

Clauses of both are parsed by the frames of `roles.toml` (Fillmore, 1982): with each verb, the table tells the role of
the subject, of the objects and of the phrases with prepositions. A question is a clause with a gap. The answer is the
phrase that has this role in the only such event that the passage states.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise, permutations, takewhile
from pathlib import Path
from typing import NamedTuple

from kgqa.graph.linking.label_keys import MONTHS
from kgqa.graph.linking.normalize import lemma
from kgqa.language.overlap import PRESENT, content
from kgqa.types import NO, YES, Span
from kgqa.verbalize.inflection import gerund, past

THING = "thing"
"""The role of what is sold, taught or won, in every frame."""
_GAP = "Gap"
"""Stands in a question's clause for what it asks for."""


class Pattern(NamedTuple):
    """A clause of a frame: the role of its subject, and prepositions (none for objects) and role of what follows."""

    subject: str
    verbs: frozenset[str]
    """A particle follows its verb: "knock out"."""
    arguments: tuple[tuple[tuple[str, ...], str], ...]


class Frame(NamedTuple):
    """Verbs for one kind of event with two parties."""

    name: str
    within: str
    """The frame that its events are also events of, with the parties in the same order: to sell is to give."""
    parties: tuple[str, str]
    things: frozenset[str]
    """The only things that its verbs are about, if any: to lose a match, not a key."""
    one_way: bool
    """Whether an event excludes the reverse, so that questions are answered by no."""
    patterns: tuple[Pattern, ...]
    verbs: frozenset[str]
    forms: Mapping[str, str]
    """Verbs without particles, by themselves and their -ing form."""


class Phrase(NamedTuple):
    """A noun phrase; the span is that of its name, if one is in apposition: "her teacher, Ada"."""

    text: str
    span: Span = Span(0, 0)
    preposition: str = ""


class Clause(NamedTuple):
    """A verb with its phrases."""

    verb: str
    subject: Phrase | None
    phrases: tuple[Phrase, ...]
    text: str
    is_passive: bool
    is_finite: bool
    """Whether it states that something happens or happened."""


class Event(NamedTuple):
    """Who has which role."""

    roles: Mapping[str, Phrase]
    rest: tuple[Phrase, ...] = ()
    """What else is said of it."""
    text: str = ""
    """The clause that states it."""


@lru_cache(maxsize=1)
def _table() -> tuple[dict[str, frozenset[str]], tuple[Frame, ...]]:
    """The lists of words and the frames of the table."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    lists = {name: frozenset(line.split()) for name, line in table.pop("words").items()}
    frames = []
    for name, row in table.items():
        patterns = tuple(_pattern(clause, lists["prepositions"]) for clause in row["clauses"])
        verbs = frozenset(verb for pattern in patterns for verb in pattern.verbs)
        forms = {form: verb for one in verbs for verb in [one.split()[0]] for form in (verb, gerund(verb))}
        first, second = row["parties"].split()
        things = _content(row.get("things", ""))
        within, one_way = row.get("within", ""), row.get("one_way", False)
        frames.append(Frame(name, within, (first, second), things, one_way, patterns, verbs, forms))
    return lists, tuple(frames)


def _pattern(clause: str, prepositions: frozenset[str]) -> Pattern:
    subject, verbs, *rest = clause.split()
    arguments: list[tuple[tuple[str, ...], str]] = []
    before: tuple[str, ...] = ()
    for word in rest:
        if set(word.split("/")) <= prepositions:
            before = tuple(word.split("/"))
        else:
            arguments.append((before, word))
            before = ()
    return Pattern(subject, frozenset(verbs.replace("_", " ").split("/")), tuple(arguments))


def _is_in(word: str, name: str) -> bool:
    """Whether a word is in a list of the table."""
    return word.lower() in _table()[0][name]


# Clauses.

_TOKEN = re.compile(r"[^\W_]+(?:[-’'.&][^\W_]+)*(?:['’](?!\w))?|[.,;:!?()\"“”–—]")
_SENTENCE = re.compile(r"(?<!\b\w)(?<!\b[MD]r)(?<!\bMrs)(?<!\bSt)[.!?][\"'”’)]*\s+|\n+|;\s+")
_HELPERS = ("auxiliaries", "passive", "modals", "adverbs")
LONGEST = 40
"""Maximum number of words of a question, and on either side of a verb."""
MOST = 20
"""Maximum number of clauses of a sentence that have a verb of one frame."""
Tokens = Sequence[re.Match[str]]


def _is_name(word: str) -> bool:
    return word[0].isupper()


def _is_break(word: str) -> bool:
    """Whether a token ends a clause: punctuation or a conjunction."""
    return not word[0].isalnum() or _is_in(word, "conjunctions")


def _phrases(text: str, tokens: Tokens) -> list[Phrase]:
    """The noun phrases of some tokens of a text, up to the end of the clause."""
    found: list[Phrase] = []
    begin, end, before, last = -1, -1, "", ""
    for n, token in enumerate(tokens):
        word, behind = token[0], tokens[n + 1 :]
        is_open = begin >= 0
        is_described = is_open and _is_in(text[begin:end].split()[0], "determiners")
        if word == "," and is_described and (name := _apposed(behind)):
            return [*found, Phrase(text[begin : name.end], name, before)]
        is_linked = is_open and (word.lower() == "of" or (word.lower() == "and" and _joins(last, behind)))
        if not is_linked:
            if _is_break(word) or (is_open and _is_in(word, "subjects")):  # "the tug it came to save"
                break
            begins = _begins(word, last) if is_open else True
            is_preposition = _is_in(word, "prepositions")
            is_adverb = _is_in(word, "adverbs") and not (is_open and _is_in(last, "determiners"))
            if is_open and (begins or is_preposition or is_adverb):
                found.append(Phrase(text[begin:end], Span(begin, end), before))
                begin, before = -1, ""
            if is_preposition or is_adverb:
                before, last = word.lower() if is_preposition else "", word
                continue
            begin, end = token.start() if begin < 0 else begin, token.end()
        last = word
    return [*found, Phrase(text[begin:end], Span(begin, end), before)] if begin >= 0 else found


def _begins(word: str, last: str) -> bool:
    """Whether a word begins a noun phrase although it follows the word of another one: "lent Ada a book"."""
    if _GAP in (word, last):
        return True
    if last.lower() in ("and", "of") or _is_in(last, "determiners"):
        return False
    is_owner = last.endswith(("'s", "’s", "s'", "s’"))
    after_name = _is_name(last) and not _is_name(word) and not is_owner and not _is_in(word, "in_names")
    return after_name or _is_in(word, "determiners")


def _joins(last: str, behind: Tokens) -> bool:
    """Whether an "and" joins two noun phrases, not two clauses, by the word before it and the tokens behind it."""
    texts = (token[0] for token in behind)
    words = list(takewhile(lambda word: not _is_break(word) and not _is_in(word, "prepositions"), texts))
    if words and _is_in(words[0], "determiners"):
        return len(words) < 4 and (len(words) == len(behind) or behind[len(words)][0] in ".!?")
    return bool(words) and all(map(_is_name, [last, *words]))


def _apposed(behind: Tokens) -> Span | None:
    """The name that follows the comma of an apposition: "her old teacher, Ada"."""
    names = list(takewhile(lambda token: token[0][0].isupper(), behind))
    after = [token[0].lower() for token in behind[len(names) : len(names) + 2]]
    is_closed = not after or after[0] in ".!?" or (after[0] == "," and after[1:] not in (["and"], ["or"]))
    return Span(names[0].start(), names[-1].end()) if names and is_closed else None


def _verb(word: str, frame: Frame) -> str | None:
    """The verb of the frame that a word is a form of."""
    forms = (word.lower(), PRESENT.get(word.lower(), ""), lemma(word.lower()))
    return next((frame.forms[form] for form in forms if form in frame.forms), None)


def _clauses(text: str, frame: Frame, is_passive: bool = False) -> Iterator[Clause]:
    """The clauses of a sentence with a verb of the frame."""
    tokens = list(_TOKEN.finditer(text))
    for n, token in enumerate(tokens):
        verb = _verb(token[0], frame)
        if verb is None:
            continue
        start, rest = n, tokens[n + 1 : n + 1 + LONGEST]
        earliest = max(0, n - LONGEST)
        while start > earliest and (
            any(_is_in(tokens[start - 1][0], name) for name in _HELPERS)
            or tokens[start - 1][0].endswith("ly")
        ):
            start -= 1
        helpers = [other[0] for other in tokens[start:n]]
        begin = start
        while begin > earliest and not _is_break(tokens[begin - 1][0]):
            begin -= 1
        near = takewhile(lambda other: not _is_break(other[0]), rest[:6])
        particle = next((other for other in near if f"{verb} {other[0].lower()}" in frame.verbs), None)
        if particle:
            verb, rest = f"{verb} {particle[0].lower()}", [other for other in rest if other is not particle]
        elif verb not in frame.verbs or (rest and _is_in(rest[0][0], "particles")):
            continue
        found = tuple(_phrases(text, rest))
        base, passive = verb.split()[0], any(_is_in(word, "passive") for word in helpers)
        is_gerund = token[0].lower() == gerund(base)
        is_bare = token[0].lower() == base != past(base)
        is_modal = any(_is_in(word, "modals") for word in helpers)
        yield Clause(
            verb,
            _subject(text, tokens, begin, start),
            found,
            text[tokens[begin].start() : max(token.end(), *(phrase.span.end for phrase in found), 0)],
            is_passive or (passive and not is_gerund),
            not (is_bare or is_modal) and (passive or not is_gerund),
        )


def _subject(text: str, tokens: Tokens, begin: int, end: int) -> Phrase | None:
    """The noun phrase before a verb, if it is one alone and its clause states a fact."""
    if any(_is_in(tokens[begin][0], name) for name in ("auxiliaries", "passive", "modals")):  # "Had Ada won"
        return None
    before = [token[0].lower() for token in tokens[max(0, begin - 2) : begin]]
    if before and before[-1].isalnum() and not _is_in(before[-1], "factive"):
        return None
    if before[-1:] == ["and"] and before[0].isalnum():  # "Ada and Rik beat"
        return None
    if begin < end and _is_in(tokens[begin][0], "openings"):  # "Last night Ada beat"
        begin += 1 + (begin + 1 < end and _is_in(tokens[begin + 1][0], "times"))
    found = _phrases(text, tokens[begin:end])
    bare = [phrase for phrase in found if not phrase.preposition]
    if len(bare) == 1:
        first, last = bare[0].span.start, found[-1].span.end
        name, _, verb = bare[0].text.rpartition(" ")
        is_verb = name and any(_verb(verb, frame) for frame in _table()[1])  # "Ada paid rent to Rik"
        return None if is_verb else Phrase(text[first:last], Span(first, last))
    if len(found) == 1:  # "In the final Ada beat"
        named = re.search(r"\b(?:[A-Z][\w'’-]+ ?)+$", found[0].text)
        if named and not _is_name(found[0].text):
            return Phrase(named[0], Span(found[0].span.start + named.start(), found[0].span.end))
    return None


def _events(clause: Clause, frame: Frame) -> Iterator[Event]:
    """The events that a clause may state, by the patterns that it fits."""
    for pattern in frame.patterns:
        if clause.verb not in pattern.verbs:
            continue
        arguments, subject, objects = list(pattern.arguments), pattern.subject, 0
        if clause.is_passive:
            objects = next((n for n, (before, _) in enumerate(arguments) if not before), -1)
            if objects < 0:
                continue
            arguments.append((("by",), subject))
            subject = arguments.pop(objects)[1]
        roles, rest = {subject: clause.subject} if clause.subject else {}, list(clause.phrases)
        for before, role in arguments:
            fits = (phrase for phrase in rest if phrase.preposition in (before or ("",)))
            if (phrase := next(fits, None)) is not None:
                rest.remove(phrase)
                roles[role] = phrase
        bare = [role for before, role in pattern.arguments if not before]
        is_whole = all(role in roles for role in bare if len(bare) > 1 or role != THING)
        is_infinitive = (("to",), THING) not in arguments or (THING in roles and not _is_named(roles[THING]))
        thing = roles[THING].text if THING in roles else "it"
        is_meant = not frame.things or thing in (_GAP, "it", "them") or _content(thing) & frame.things
        if is_whole and is_infinitive and is_meant:
            yield Event(roles, tuple(rest), clause.text)


def _is_named(phrase: Phrase | None) -> bool:
    """Whether a phrase names somebody: no pronoun, no infinitive."""
    if phrase is None or not content(phrase.text):
        return False
    first = phrase.text.split()[0]
    return not _is_in(first, "pronouns") and (_is_name(first) or _is_in(first, "determiners"))


# What a passage states.

_REPORTED = re.compile(
    r"\b(?:said|says?|think\w*|thought|claim\w*|according|rumou?r\w*|dream\w*|dreamt|pretend\w*|believ\w+|told|tells?"
    r"|report\w*|alleg\w+|heard|guess\w*|hop(?:e|ed|es|ing)|wish\w*|expect\w*|if|whether|unless|except|suppos\w*"
    r"|other way|reverse|instead|until|till|hardly|scarcely|barely|film|novel)\b|[?\"“”]",
    re.IGNORECASE,
)
"""Words of sentences that somebody says, or that are hypothetical."""
_DENIED = re.compile(
    r"\b(?:not?|nobody|none|never|neither|any\w*|would|could|might|may|want\w*|plan\w*|until|till|almost|nearly"
    r"|tr(?:y|ied|ies|ying)|fail\w*|refus\w+|offer\w*|promis\w+|should|must|will|can|shall)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words of clauses that state no definite fact."""
_SHARED = re.compile(r",? and (?:(?:[A-Z][\w'’-]* )+(?:in|on|at)|by|to|from)\b")
"""Begins a second event with the same verb: "given by Ada to Rik, and by Rik to Uma"."""


def _stated(passage: str, frame: Frame) -> tuple[Event, Span] | None:
    """The only event of the frame that a passage states, and its sentence; None if there may be another one."""
    found: list[tuple[Event, Span]] = []
    cuts = [0, *(match.end() for match in _SENTENCE.finditer(passage)), len(passage)]
    for start, end in pairwise(cuts):
        sentence = passage[start:end].rstrip()
        events: list[Event] = []
        for other in _table()[1]:
            is_of_frame = frame.name in (other.name, other.within)
            clauses = list(islice(_clauses(sentence, other), MOST + 1)) if is_of_frame else []
            if len(clauses) > MOST:
                return None
            for clause in clauses:
                told = _told(clause, other)
                is_certain = clause.is_finite and not _DENIED.search(clause.text)
                after = sentence.partition(clause.text)[2]
                if len(told) > 1 or (told and (not is_certain or _SHARED.match(after))):
                    return None
                if not told and other is frame and _is_mention(clause, frame):
                    return None
                parties = dict(zip(other.parties, frame.parties, strict=True))
                for event in told:
                    roles = {
                        parties.get(role, role): phrase._replace(
                            span=Span(*(at + start for at in phrase.span))
                        )
                        for role, phrase in event.roles.items()
                    }
                    events.append(Event(roles, (), event.text))
        if events and _REPORTED.search(sentence):
            return None
        found += [(event, Span(start, start + len(sentence))) for event in events]
    return found[0] if len(found) == 1 else None


def _told(clause: Clause, frame: Frame) -> list[Event]:
    """The events that a clause states between two named parties, one for each pair, by the patterns that fit best."""
    has_two = any(
        clause.verb in pattern.verbs and sum(not before for before, _ in pattern.arguments) > 1
        for pattern in frame.patterns
    )
    may_be_two = has_two and any(  # "taught Ada French"
        " " in phrase.text and all(map(_is_name, phrase.text.split()))
        for phrase in clause.phrases
        if not phrase.preposition
    )
    named = [
        event
        for event in _events(clause, frame)
        if all(_is_named(event.roles.get(party)) for party in frame.parties)
        and (THING in event.roles or not may_be_two)
    ]
    least = min((len(event.rest) for event in named), default=0)
    pairs = {
        tuple(event.roles[p] for p in frame.parties): event for event in named if len(event.rest) == least
    }
    return list(pairs.values())


def _is_mention(clause: Clause, frame: Frame) -> bool:
    """Whether a clause without two named parties may be about such an event too: "He lost"; but not "He got up"."""
    return not _is_in(clause.verb.split()[0], "ambiguous") or any(
        party in event.roles and event.roles[party] is not clause.subject
        for event in _events(clause, frame)
        for party in frame.parties
    )


# What a question asks for.

_WHO = re.compile(
    r"(?:(?:so|and|but|then|well|ok|hey),? )?(?:(?P<before>to|from|by|against|of|for|with|under) )?"
    r"(?P<who>whom?|(?:which|what)(?: of (?:them|the two|these|those)| (?!did|does|do|was|were|is|has|had|have)[\w-]+))"
    r"(?P<is>['’]s)? (?P<rest>.+)",
    re.IGNORECASE,
)
_POLAR = re.compile(
    r"(?:(?:so|and|but|then),? )?(?:(?P<be>was|were|is|are)|did|does|do|has|have|had) (?P<rest>.+)",
    re.IGNORECASE,
)
_CLEFT = re.compile(r"it (.+?) (?:that|who) (.+)", re.IGNORECASE)
_OTHER = re.compile(
    r"\b(?:not|never|nor|neither|how|why|when|where|only|first|second|third|last|next|end|ended|finally|afterwards|now|or"
    r"|and|nobody|anybody|anyone|originally|before|after|still|already|else|want\w*|will|would|could|should|must|ever)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
"""Words of questions that ask for something other than who has a role."""


_PRESENT = re.compile(r"\b(?:is|are|does|do)\b|^who (?!was\b)\w+s\b", re.IGNORECASE)
"""Words of questions about what holds now, while a passage tells what happened."""


def _asked(question: str, frame: Frame) -> list[Event]:
    """The events that a question may ask for; what it asks for is a gap, unless it is a yes/no question."""
    text = question.strip().rstrip("?. ")
    if len(text.split()) > LONGEST or _OTHER.search(text) or (not frame.one_way and _PRESENT.search(text)):
        return []
    if polar := _POLAR.fullmatch(text):
        rest, is_passive = polar["rest"], bool(polar["be"])
        if cleft := _CLEFT.fullmatch(rest):
            return _parsed(f"{cleft[1]} {cleft[2]}", frame)
        return _parsed(rest, frame, is_passive)
    found = _WHO.fullmatch(text)
    if found is None:
        return []
    rest, before = ("is " if found["is"] else "") + found["rest"], found["before"] or ""
    first, _, inverted = rest.partition(" ")
    is_passive = first.lower() in ("is", "are", "was", "were")
    is_auxiliary = is_passive or _is_in(first, "auxiliaries")
    if first.lower() in ("has", "have", "had"):  # "Who had a letter from Ada?"
        is_auxiliary = any(_verb(word, frame) for word in inverted.split())
    head, _, _ = inverted.partition(" ")
    is_subject = not is_auxiliary or head.lower() in ("been", "being")
    if not before and (is_subject or (head and _verb(head, frame))):
        return _parsed(f"{_GAP} {rest}", frame)
    if is_subject or (not before and re.fullmatch(r"(?:which|what) \w+", found["who"], re.IGNORECASE)):
        return []  # "Which exam did Ada pass?"
    return _parsed(f"{inverted} {before} {_GAP}", frame, is_passive)


def _parsed(text: str, frame: Frame, is_passive: bool = False) -> list[Event]:
    """The events that the clause of a question may ask for; a gap without preposition may stand anywhere."""
    found = [clause for clause in _clauses(text, frame, is_passive) if clause.subject]
    if not found or len(found) > 2 or re.search(r"\bto [a-z]+ ", text.partition(found[-1].verb)[0]):
        return []
    clause = found[-1]
    has_gap = any(phrase.text == _GAP and not phrase.preposition for phrase in clause.phrases)
    orders = permutations(clause.phrases) if has_gap and len(clause.phrases) < 5 else [clause.phrases]
    return [event for order in orders for event in _events(clause._replace(phrases=tuple(order)), frame)]


# The answer.


def answer(question: str, passage: str) -> tuple[str, Span] | None:
    """The answer to a question about a role ("yes", "no" or the party asked for), and where the passage states it; None
    if the question asks for no role, or the passage does not state it.

    >>> answer("Who lost the final?", "Ajax beat Lyon in the final.")
    ('Lyon', Span(start=10, end=14))
    >>> answer("Did Lyon win?", "Ajax beat Lyon in the final.")
    ('no', Span(start=0, end=28))
    """
    found = {role for frame in _table()[1] for role in _roles(question, passage, frame)}
    return found.pop() if len(found) == 1 else None


def _roles(question: str, passage: str, frame: Frame) -> Iterator[tuple[str, Span]]:
    """The answers by one frame."""
    asked = _asked(question, frame)
    told = _stated(passage, frame) if asked else None
    if told is None:
        return
    event, sentence = told
    thing = event.roles[THING].text if THING in event.roles and not frame.things else event.text
    words = f"{event.text} game match contest" if frame.things else event.text
    for claim in asked:
        gap = next((role for role, phrase in claim.roles.items() if phrase.text == _GAP), None)
        parties = {
            role: phrase for role, phrase in claim.roles.items() if role in frame.parties and role != gap
        }
        is_about = THING not in claim.roles or _has(words if frame.things else thing, claim.roles[THING])
        if not is_about or not all(phrase.preposition and _has(words, phrase) for phrase in claim.rest):
            continue
        straight = all(_is_same(phrase, event.roles[role]) for role, phrase in parties.items())
        if gap in frame.parties:
            span = event.roles[gap].span
            is_who = frame.one_way or _is_somebody(event.roles[gap])
            is_named = any(_is_same(phrase, event.roles[gap], "") for phrase in parties.values())
            if straight and is_who and not is_named:
                yield passage[slice(*span)], span
        elif gap is None and parties and frame.one_way:
            other = dict(zip(frame.parties, reversed(frame.parties), strict=True))
            crossed = all(_is_same(phrase, event.roles[other[role]]) for role, phrase in parties.items())
            if straight != crossed:
                yield YES if straight else NO, sentence


_NOBODY = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|" + "|".join(MONTHS) + r"|\d", re.IGNORECASE
)


def _is_somebody(phrase: Phrase) -> bool:
    """Whether a phrase may name a person: a name, or "her brother"; not "the shelf" or "Monday"."""
    first = phrase.text.split()[0]
    return (_is_name(first) or _is_in(first, "owners")) and not _NOBODY.search(phrase.text)


def _is_same(asked: Phrase, told: Phrase, pronoun: str = "the other") -> bool:
    """Whether all words of a question's phrase are in one of the passage."""
    return asked.text.lower() == pronoun or (bool(content(asked.text)) and _has(told.text, asked))


def _has(text: str, phrase: Phrase) -> bool:
    """Whether a text has all content words of a phrase."""
    known = _content(text)
    return all(forms & known for word in phrase.text.split() if (forms := _content(word)))


def _content(text: str) -> frozenset[str]:
    """Content words; a compound is one word: a semi-final is no final."""
    return frozenset(content(text.replace("-", "")))

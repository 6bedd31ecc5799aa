"""Features of ways: what the words of a question say for and against each way that it may mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgqa.answering.ways.ways import Way, between_in, kinds_in, mentioned_in, middle_of, sources_of
from kgqa.graph.linking.function_words import STOP_WORDS
from kgqa.graph.linking.normalising import lemma, words
from kgqa.graph.linking.person_names import people
from kgqa.graph.meanings import is_by, is_kind
from kgqa.graph.retrieval.question_types import asked
from kgqa.language.overlap import overlap
from kgqa.language.relations import MEASURES, NOUNS, is_oblique, nouns_of
from kgqa.language.values import value_asked
from kgqa.types import Link, NodeRole, Relation, Subgraph

MOST_NAMES = 5
"""Ends of a way whose names are looked at."""
_ASKS_KIND = re.compile(r"\b(?:kinds?|types?|sorts?|class|category|genus)\b", re.IGNORECASE)
_ASKS_WHAT = re.compile(
    r"^what (?:is|are) [^?]*(?<! for)(?<! of)(?<! with)(?<! from)(?<! in)\??$", re.IGNORECASE
)

_ROLE_OF = re.compile(
    r"^(.*)\bthe ([\w' -]+?) (of|from|in|at|on|by|with|for|that|which|who|whom|whose|where)\b([\w' -]*)$",
    re.IGNORECASE,
)
_REDUCED = re.compile(r"^(.*)\bthe ([\w-]+) (?:the )?$", re.IGNORECASE)
_BY = re.compile(r"\b(?:is|are|was|were|been)\b.*\bby (?:the )?$", re.IGNORECASE)
_DOER_OF = re.compile(
    r"\b(?:the \w+(?:er|or) of|(?:that|which|who) (?!is |are |was |were |has |had |the |an? )\w+) (?:the )?$",
    re.IGNORECASE,
)
_ITS_DOER = re.compile(r"['’]s \w+(?:er|or)\b", re.IGNORECASE)
_ADVERB = re.compile(r"\W*(?:where|when|why|how)\b", re.IGNORECASE)
_DOES = re.compile(r"\b(?:do|does|did) (?:the )?$", re.IGNORECASE)
_DONE_TO = re.compile(
    r"(?:who|what|which \w+) (?!is |are |was |were |has |had )\w+ (?:the )?$", re.IGNORECASE
)
_ASKING = re.compile(r"\b(?:what|which|whose) [\w-]+(?= (?:do|does|did|is|are|was|were)\b)", re.IGNORECASE)
_NOUN_ASKED = re.compile(r"\b(?:what|which) ([\w-]+)", re.IGNORECASE)
_BESIDE = re.compile(r"\b(?:what|which)\s+(?:[\w-]+\s+){0,2}$", re.IGNORECASE)
_PLACES = frozenset({"location", "located", "place", "address"})
_OWN = re.compile(r"['’]s ([\w' -]+)")
_WHERE_IS = re.compile(r"\s*where (?:is|are|was|were)\b", re.IGNORECASE)
_RELATIVE = frozenset({"that", "which", "who", "whom", "whose", "where"})


class WayFeatures(NamedTuple):
    """What a way's words say for it, each (W,)."""

    shared: NDArray[np.float64]
    """Share of its relations' words that the question says, 0 to 1."""
    covers: NDArray[np.float64]
    """Share of the question's words that the relations, or the kind of the ends, say, 0 to 1."""
    far: NDArray[np.float64]
    """Whether it has two facts."""
    to_kind: NDArray[np.float64]
    """Whether it ends at a kind: 1 where none is asked for, -1 where one is."""
    fits: NDArray[np.float64]
    """Whether it ends at things of the kind that the question mentions: 1, or -1 where it mentions another."""
    value: NDArray[np.float64]
    """Whether it ends at the kind of value that is asked for, a date or an amount: 1, or -1 where it does not, or where
    a person or place is asked for and it ends at a value."""
    other_measure: NDArray[np.float64]
    """Whether it ends at another measure than is asked for, as weight is for how tall: 1, else 0."""
    person: NDArray[np.float64]
    """Whether it ends at somebody with a given name, where it is asked who: 1, else 0."""
    leads: NDArray[np.float64]
    """Whether its last relation is of the sort that such a question asks for, told by its asking word: 1, else 0."""
    voice: NDArray[np.float64]
    """Whether a fact that the question's words tell has the doer where the question has it: 1, or -1 where turned."""
    nested: NDArray[np.float64]
    """Where a thing is named by what it is to another ("the maker of the Dachs"): -1 for one fact, for two 0 to 2 by
    how much of their words is told."""


def way_features(question: str, subgraph: Subgraph, found: Sequence[Way]) -> WayFeatures:
    """What the words of a question say about ways."""
    mentioned = mentioned_in(subgraph)
    kinds = kinds_in(subgraph)
    classes = set().union(*kinds.values())
    asked_kinds = {
        node for node in mentioned if node in classes and subgraph.roles[node] == NodeRole.QUESTION
    }
    sources = sources_of(subgraph)
    beside = {
        link.node
        for link in subgraph.links
        if link.node in asked_kinds - set(sources) and _BESIDE.search(question[: link.start])
    }
    rests = wordings(question, rest_of(question, subgraph, sources))
    rows = []
    inner, outer = nested_in(question, subgraph, sources)
    kind = 1.0
    if not asked_kinds - set(sources):
        kind = (
            -1.0 if _ASKS_KIND.search(question) else float(bool(rests[0]) or not _ASKS_WHAT.match(question))
        )
    wanted = value_asked(question)
    measured = _other_measure(question)
    between = between_in(subgraph, sources)
    leads = asked(question, subgraph.relations).leads
    doing = {source: is_doing(question, subgraph, source) for source in sources}
    does = {
        source: -1.0 if outer and doing[source] else _does(question, subgraph, source) for source in sources
    }
    timed = asks_when_or_where(question)
    who = bool(re.search(r"\bwho(?:m|se)?\b", question, re.IGNORECASE))
    for way in found:
        relations = [subgraph.relations[relation] for relation, _ in way.steps]
        by = timed and is_by(relations[0]) and (len(way.steps) == 1 or wanted.kind == "date")
        if by or (doing[way.source] and is_oblique(relations[0])):  # its words mislead
            relations[0] = Relation(relations[0].name, "")
        wording = " ".join(f"{r.label} {r.words}" for r in relations if len(way.steps) == 1 or not is_kind(r))
        last, forward = way.steps[-1]
        to_kind = forward and is_kind(subgraph.relations[last])
        # of "which books" a narrower kind of book is none
        end_kinds = set() if to_kind and beside else set().union(*(kinds.get(end, set()) for end in way.ends))
        named = " ".join([*(subgraph.labels[kind] for kind in end_kinds), *_called(question, subgraph, way)])
        fits = 0.0
        if beside:
            fits = 1.0 if end_kinds & beside else -1.0
        two = len(way.steps) > 1
        through = two and middle_of(subgraph, way) in between
        shared = max(overlap(rest, form) for form in _forms(relations) for rest in rests)
        if outer and two:
            middle = middle_of(subgraph, way)
            called = " ".join(subgraph.labels[node] for node in [middle, *kinds.get(middle, ())])
            shared = (_shared_with(inner, relations[0], called) + _shared_with(outer, relations[1])) / 2
        rows.append(
            (
                shared,
                max(overlap(f"{wording} {named}", rest) for rest in rests),
                two and not through,
                kind if to_kind else 0.0,
                fits,
                0.0 if (other := measured(relations[-1])) else wanted.fits(subgraph.nodes[way.ends[0]]),
                other,
                who and any(people(subgraph.labels[end]) for end in way.ends[:MOST_NAMES]),
                leads[last, int(forward)],
                _voice(way, relations[0], does, nested=bool(outer)) if shared else 0.0,
                (2 * shared if two else -1.0) if outer else 0.0,
            )
        )
    return WayFeatures(*np.array(rows, dtype=np.float64).reshape(-1, len(WayFeatures._fields)).T)


def _shared_with(wording: str, relation: Relation, called: str = "") -> float:
    """How much a relation tells of the words about one thing, 0 to 1, or the relation and what its end is `called` of
    those words; "where" is told by what leads to a place."""
    if wording == "where":
        words_of = f"{relation.label} {relation.words}".lower().split()
        return 1.0 if not _PLACES.isdisjoint(words_of) else 0.7 * (words_of[-1] in ("in", "at"))
    shared = max(overlap(wording, form) for form in _forms([relation]))
    return max(shared, overlap(f"{relation.label} {relation.words} {called}", wording)) if called else shared


def _called(question: str, subgraph: Subgraph, way: Way) -> list[str]:
    """The noun that is asked for, where the names of a way's ends say that they are such: "which lake", Lake Hoven."""
    if (match := _NOUN_ASKED.search(question)) is None:
        return []
    noun = lemma(match[1].lower())
    named = [subgraph.labels[end].lower().split() for end in way.ends[:MOST_NAMES]]
    wording = all(len(name) > 1 and noun in (lemma(name[0]), lemma(name[-1])) for name in named)
    return [match[1]] if wording else []


def wordings(question: str, rest: str) -> list[str]:
    """The content words of a question, and the same with the noun for what its asking words ask: "how heavy", weight.

    >>> wordings("How heavy is it?", "heavy")
    ['heavy', 'weight', 'mass']
    >>> wordings("Where is it kept?", "kept")
    ['kept', 'kept location', 'kept place']
    """
    found = [rest]
    for word in re.findall(r"[a-z]+", question.lower()):
        if word in NOUNS:
            others = " ".join(other for other in rest.split() if other not in (word, "much"))
            found += [f"{others} {noun}".strip() for noun in NOUNS[word].split()]
    return found


def _other_measure(question: str) -> Callable[[Relation], bool]:
    """Whether a relation tells another measure than the question asks for: how heavy a thing is, not how tall."""
    own = {noun for word in re.findall(r"[a-z]+", question.lower()) for noun in nouns_of(word)}
    others = MEASURES - own if own & MEASURES else frozenset()

    def tells(relation: Relation) -> bool:
        known = [lemma(word) for word in f"{relation.label} {relation.words}".lower().split()]
        wording = {noun for word in known for noun in NOUNS.get(word, word).split()}
        return bool(wording & others) and not wording & own

    return tells


def asks_when_or_where(question: str) -> bool:
    """Whether a time, a place or a reason is asked for, which whoever did something is none of."""
    return _ADVERB.match(question) is not None


def is_doing(question: str, subgraph: Subgraph, source: int) -> bool:
    """Whether it is asked of a thing who does something to it, or what it does to another: "Who makes Karvin?", "the
    maker of Karvin", "the dairy that makes Karvin", "What does the dairy make?"."""
    for link in subgraph.links:
        if link.part is NodeRole.QUESTION and link.node == source:
            before, after = _around(question, link)
            if _DONE_TO.match(before) and not re.search(r"\w", after):
                return True
            if _DOER_OF.search(before) or _ITS_DOER.match(after) or _BY.search(before):
                return True
            if _DOES.search(before) and re.fullmatch(r"\s+\w+\W*", after) and not _ADVERB.match(before):
                return True
    return False


def _does(question: str, subgraph: Subgraph, source: int) -> float:
    """Whether a question has a thing do what it asks about ("Who was taught by Ada?", "Who does Ada teach?"): 1; -1
    where that is done to it ("Who teaches Ada?"), 0 where its words do not tell."""
    for link in subgraph.links:
        if link.part is NodeRole.QUESTION and link.node == source:
            before, after = _around(question, link)
            if _BY.search(before) or (_DOES.search(before) and re.match(r"\s+\w", after)):
                return 1.0
            if _DONE_TO.match(before) and not re.search(r"\w", after):
                return -1.0
    return 0.0


def _voice(way: Way, relation: Relation, does: Mapping[int, float], nested: bool) -> float:
    """Whether the first fact of a way has the doer where the question has it, 1, or -1; of two facts where a thing is
    named by who does something to it."""
    if len(way.steps) > 1 and not nested:
        return 0.0
    return does[way.source] * _doer_at_head(relation) * (1 if way.steps[0][1] else -1)


def _doer_at_head(relation: Relation) -> float:
    """1 for a relation whose head does something ("teaches"), -1 for one whose tail does ("taught by", "teacher")."""
    wording = (relation.words or relation.label).lower().split()
    if wording[-1:] == ["by"] or (len(wording) == 1 and wording[0].endswith(("er", "or"))):
        return -1.0
    return float(len(wording) == 1 and wording[0].endswith("s") and lemma(wording[0]) != wording[0])


def _forms(relations: Sequence[Relation]) -> list[str]:
    """What relations are called, one after the other: by their labels, and in words where they have other words."""
    labels = " ".join(relation.label for relation in relations)
    wording = " ".join(relation.words or relation.label for relation in relations)
    return [labels] if wording == labels else [labels, wording]


def nested_in(question: str, subgraph: Subgraph, sources: Sequence[int]) -> tuple[str, str]:
    """Of a question that names a thing by what it is to another, the words that do so and the words about it.

    "Where is the maker of the Dachs based?" has ("maker", "based"), "Who operates the line the Reiher runs on?" ("line
    runs on", "operates"). Both are empty where the question asks for the very thing: "Who is the maker of the Dachs?".
    """
    for link in subgraph.links:
        if link.part is not NodeRole.QUESTION or link.node not in sources:
            continue
        before, after = _around(question, link)
        found = None
        if (match := _REDUCED.match(before)) and re.match(r"\s+\w", after):
            found = _split(match[1], match[2], after)
        elif match := _ROLE_OF.match(before):
            if match[3].lower() not in _RELATIVE and not re.match(r" (?:which|whom)\b", match[4]):
                found = f"{match[2]} {match[4]}", f"{match[1]} {after}"
            elif _content(match[4]):  # "the man who keeps the hut": what comes after is said of the man
                found = _split(match[1], f"{match[2]} {match[4]}", after, 0)
            else:
                found = _split(match[1], match[2], after)
        elif match := _OWN.match(after):
            found = _owned(before, match[1].split())
        if found and _content(found[0]):
            outer = _content(found[1]) or ("where" if _WHERE_IS.match(question) else "")
            if outer:
                return _content(found[0]), outer
    return "", ""


def _around(question: str, link: Link) -> tuple[str, str]:
    """What stands before and after a name; the ending of a possessive stands after it."""
    end = link.end
    if question[link.start : end].endswith(("'s", "’s")):
        end -= 2
    return question[: link.start], question[end:]


def _owned(before: str, wording: list[str]) -> tuple[str, str] | None:
    """The words about what is somebody's, and the words about that: "Where was Ann's boss born?"; "What is Ann's
    phone number?" asks for the very thing."""
    if re.search(r"\b(?:do|does|did)\b", before, re.IGNORECASE):  # the verb is still to come
        return wording[0], " ".join([before, *wording[1:]])
    if _content(before):
        return " ".join(wording), before
    if len(wording) > 1 and wording[-1].endswith(("ed", "en", "wn", "rn")):
        return " ".join(wording[:-1]), wording[-1]
    return (" ".join(wording), "") if _WHERE_IS.match(before) else None


def _split(before: str, noun: str, after: str, verbs: int = 1) -> tuple[str, str]:
    """The words about a noun and those of the clause behind it, whose first word alone belongs to the noun where the
    main clause has no verb before it: "What does the brook that the trail crosses flow into?"."""
    if _content(re.sub(_ASKING, " ", before)):
        return f"{noun} {after}", before
    wording = after.split()
    return " ".join([noun, *wording[:verbs]]), " ".join([before, *wording[verbs:]])


def _content(text: str) -> str:
    return " ".join(word for word, _, _ in words(text) if word not in STOP_WORDS)


def rest_of(question: str, subgraph: Subgraph, sources: Sequence[int]) -> str:
    """The content words of a question without those that name where a way begins."""
    named = set(sources)
    at = [
        (link.start, link.end)
        for link in subgraph.links
        if link.part is NodeRole.QUESTION and link.node in named
    ]
    return " ".join(
        word
        for word, start, end in words(question)
        if word not in STOP_WORDS and not any(first <= start and end <= last for first, last in at)
    )

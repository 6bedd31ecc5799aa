"""Mentions in a question: entities and classes of the graph, values, and words that ask for an operation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from kgqa.graph.linking.label_keys import MONTHS
from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.normalize import STOP_WORDS, lemma, words
from kgqa.qa.logical_forms.graph_facts import GraphFacts
from kgqa.qa.logical_forms.graph_index import MAX_NAMED, GraphIndex
from kgqa.qa.logical_forms.language import Comparator
from kgqa.qa.logical_forms.operators import WORD, operator_table
from kgqa.qa.logical_forms.question_values import (
    IN_OR_THE,
    MONTH,
    PLAIN_MONTH,
    VALUE,
    comparators_in,
    has_no_year,
    values_in,
)
from kgqa.qa.logical_forms.wording import wording_of
from kgqa.types import Question

_NAME_GOES_ON = re.compile(r"\s([A-Z\d][\w-]*)")
_PEOPLE = re.compile(r"\b[Pp]eople\b")


_THERE = re.compile(r"\b(?:(?:is|are|was|were) there|any)\b", re.IGNORECASE)
_OR = re.compile(rf"\W*or {IN_OR_THE}", re.IGNORECASE)
_DO = re.compile(r"\b(?:do|does|did)(?: the)? $", re.IGNORECASE)
_THE = re.compile(r"\b(?:the|this|our)\s+$", re.IGNORECASE)
_ASKED_NOUN = re.compile(
    r"(?:\b(?:which|what|how many|all(?: the)?|every|each|any|no|most \w+|least \w+|\w+est)\s+|^\W*(?=\w+s\b))"
    r"([^\W\d_]{3,})(?:\s+([^\W\d_]{3,}))?",
    re.IGNORECASE,
)
"""Two words after one that asks for things, counts or compares them, or at the beginning, if the first is a plural."""
_RANK = re.compile(rf"\b(\d+)(?:st|nd|rd|th)\b(?! (?:of (?:{MONTH})|{PLAIN_MONTH}))", re.IGNORECASE)
_MOST = re.compile(r"\b(?:most|fewest)(?: of the)?\s+$", re.IGNORECASE)
_WHICH = re.compile(r"\b(?:which|what)\s+(?:of the\s+)?$", re.IGNORECASE)
_WHICH_NOUN = re.compile(r"\b(?:which|what)\s+(?:of the\s+)?([^\W\d_]+)", re.IGNORECASE)
_MATERIAL = re.compile(
    r"\b(wood|gold|wool(?=l?en)|silk|oak|earth|lead|ash|beech|birch|flax)l?en\b", re.IGNORECASE
)
_IN_MONTH = re.compile(rf"\b(?:in|of|during|or|and) ({MONTH})\b(?!,? \d{{4}})", re.IGNORECASE)
_DURING = re.compile(rf"\b(?:in|during) (?:(?:{MONTH})(?:,|,? or|,? and| to) )*$", re.IGNORECASE)
_MONTHS = re.compile(rf"\b(?:between|from) (?:{MONTH}) (?:and|to|until) (?:{MONTH})\b", re.IGNORECASE)
_EVERY = re.compile(r"\b(?:all|every|each)(?: of)?(?: the| our)?\s+$", re.IGNORECASE)


class QuestionMention(NamedTuple):
    """A span of a text and the entities that it may refer to; `start` is -1 for a mention in the passage."""

    start: int
    end: int
    entities: tuple[int, ...]


class QuestionMentions(NamedTuple):
    """Mentions, values and operators of a question."""

    text: str
    mentions: tuple[QuestionMention, ...]
    values: tuple[str, ...]
    """Dates, times, quoted texts, numbers with units, normalized ("6 pm": "18:00"); the first ordinal."""
    operators: frozenset[str]
    """Rows of `operators.toml` with a word that occurs in the question."""
    rank: int
    """Ordinal: 2 for "second"; 1 if there is none."""
    either: frozenset[int] = frozenset()
    """The entities or values of which one is the answer: "Does the Rialto or the Odeon hold more people?"."""
    compared: Mapping[str, frozenset[Comparator]] = {}
    """The comparators that the words around each value express, if any: "at least 4", "4 or more"."""
    bound: Mapping[str, frozenset[int]] = {}
    """For a number, the relations named by the noun next to it: "four rooms", "on the third floor"."""
    unknown: tuple[str, ...] = ()
    """Names that the graph does not have."""


def question_mentions(
    facts: GraphFacts, linker: Linker, index: GraphIndex, question: Question
) -> QuestionMentions:
    """The mentions of a question; if it mentions only classes ("this film"), those of its passage are added."""
    text = index.with_negations(question.text)
    found = _mentioned(linker, text)
    facts.fetch(e for mention in found for e in mention.entities)
    found = [_bearer(facts, mention, text) for mention in found if not _only_begins(facts, mention, text)]
    found = [m for m in found if _is_whole(facts, m, text) or any(map(str.isalpha, text[m.start : m.end]))]
    whole = [
        m
        for m in found
        if _is_whole(facts, m, text) and not (_is_literal(facts, m) and VALUE.fullmatch(text, m.start, m.end))
    ]
    # a literal such as the surname "Skarrow" may also be a part of an entity's name
    literals = {(m.start, m.end): m.entities for m in whole if _is_literal(facts, m)}
    taken = [(m.start, m.end) for m in whole if (m.start, m.end) not in literals]
    parts = [QuestionMention(*part) for part in index.find(text, taken)]
    facts.fetch(e for part in parts for e in part.entities)
    parts = [part for part in parts if not _only_begins(facts, part, text)]
    parts = [p._replace(entities=(*p.entities, *literals.get((p.start, p.end), ()))) for p in parts]
    found = [m for m in found if not any(m[:2] == part[:2] for part in parts)]
    covered = [(m.start, m.end) for m in parts]
    found = [
        m
        for m in found
        if not any(
            s <= m.start and m.end <= e and (m not in whole or e - s > m.end - m.start) for s, e in covered
        )
    ] + parts
    found += [
        QuestionMention(word.start(), word.end(), kinds)
        for word in WORD.finditer(text)
        if (kinds := index.classes_called(word[0].lower()))
        and not any(m.start < word.end() and word.start() < m.end for m in found)
    ]
    found += [
        QuestionMention(start, end, kinds)
        for start, end, noun in _asked_nouns(text, [m for m in found if all(map(facts.is_class, m.entities))])
        if not any(m.start < end and start < m.end for m in found)
        and (kinds := index.classes_like(noun, operator_table().synonyms.get(lemma(noun), ())))
    ]
    found += [
        QuestionMention(start, end, tuple(entities[:MAX_NAMED].tolist()))
        for start, end, spelling in _other_spellings(text)
        for entities in linker.graph.find([spelling])
        if len(entities) and not any(m.start < end and start < m.end for m in found)
    ]
    found = [mention for mention in found if not _is_month(facts, index, mention, text)]
    found = sorted(_only_member(facts, part, text) for mention in found for part in _apart(facts, mention))
    if question.passage_text and all(facts.is_class(e) for mention in found for e in mention.entities):
        found += [m._replace(start=-1, end=-1) for m in _mentioned(linker, question.passage_text)]
        facts.fetch(e for mention in found for e in mention.entities)
    things = [m for m in found if not _is_literal(facts, m) and not all(map(facts.is_class, m.entities))]
    found = [m for m in found if not _is_verb(m, things, text)]
    others = [m for m in found if m not in things]
    table = operator_table()
    rest, bound = _bound(index, _without(text, things))
    operators = {name for name, pattern in table.words.items() if pattern.search(rest)}
    either = _joined_by_or(text, [m for m in found if not all(map(facts.is_class, m.entities))])
    if either:
        operators.discard("truth")
    apart = re.sub(r"-(?=(?:\w+est|most|least|best|worst|last)\b)", " ", rest.lower())  # "second-highest"
    ranks = [table.ranks[word] for word in WORD.findall(apart) if word in table.ranks]
    ranks += [2] if table.words["second"].search(rest) else []
    ranks += [int(number) for number in _RANK.findall(rest)]
    compared = {
        value: ops
        for value, ops in comparators_in(rest).items()
        # "May" may be a text of the graph
        if not (
            has_no_year(value) and any(value.split()[-1] in text[m.start : m.end].title() for m in others)
        )
    }
    if compared or len(things) > 1:
        operators |= {name for name, pattern in table.beside.items() if pattern.search(rest)}
    values = (*compared, *(str(rank) for rank in ranks[:1]))
    rank = ranks[0] if ranks else 1
    mentions = tuple(dict.fromkeys(found))
    bound = {value: relations for value, relations in bound.items() if value in compared}
    spans = {(m.start, m.end): _is_whole(facts, m, text) for m in things}
    unknown = () if question.passage_text else index.unknown_names(text, spans)
    found_in = text, mentions, values, frozenset(operators)
    return QuestionMentions(*found_in, rank, either, compared, bound, unknown)


def _bound(index: GraphIndex, text: str) -> tuple[str, dict[str, frozenset[int]]]:
    """A text with those numbers in digits whose noun names a relation with such values ("3 floor" for "third
    floor"), and for each number these relations."""
    table = operator_table()
    cardinals = {"one": "1", **table.numbers}
    ordinals = {"first": "1", **{word: str(rank) for word, rank in table.ranks.items()}}
    found: dict[str, frozenset[int]] = {}

    def written(match: re.Match[str]) -> str:
        word, noun = (match["word"] or match["behind"]).lower(), match["noun"] or match["before"]
        number = ordinals.get(word) or cardinals.get(word) or re.sub(r"\D", "", word)
        counts = not match["behind"] and word in (number, *cardinals)
        relations = index.numbered(noun, number, counts)
        if not relations:
            return match[0]
        found[number] = found.get(number, frozenset()) | frozenset(relations)
        return f"{number} {noun}"

    words = "|".join((*ordinals, *cardinals))
    number_and_noun = (
        rf"\b(?P<word>\d{{1,3}}(?:st|nd|rd|th)?|{words})[ -](?P<noun>[^\W\d_]{{3,}})"
        r"|\b(?P<before>[^\W\d_]{3,}) (?P<behind>\d{1,3})\b"
    )
    return re.sub(number_and_noun, written, text, flags=re.IGNORECASE), found


def _asked_nouns(text: str, classes: Sequence[QuestionMention] = ()) -> list[tuple[int, int, str]]:
    """Spans of words that may be the noun that a question asks for, in lower case; a word after the mention
    of a class is the verb ("which people play"), so it is left out.

    >>> _asked_nouns("Which Irish film is the longest?")
    [(6, 11, 'irish'), (12, 16, 'film')]
    """
    found = []
    for match in _ASKED_NOUN.finditer(text):
        for group in (1, 2):
            word = (match[group] or "").lower()
            if not word or word in STOP_WORDS:
                break
            found.append((*match.span(group), word))
            if any(m.start < match.end(group) and match.start(group) < m.end for m in classes):
                break
    return found


def _apart(facts: GraphFacts, mention: QuestionMention) -> list[QuestionMention]:
    """A mention of classes and of literals as two mentions: "tools" are a class, and may be what a grant is for."""
    kinds = tuple(filter(facts.is_class, mention.entities))
    texts = tuple(e for e in mention.entities if facts.name(e).startswith('"'))
    if not kinds or not texts:
        return [mention]
    others = tuple(e for e in mention.entities if e not in texts)
    return [mention._replace(entities=others), mention._replace(entities=texts)]


def _only_member(facts: GraphFacts, mention: QuestionMention, text: str) -> QuestionMention:
    """Replace a class by its only instance where the question means that: "the brewery" in a graph that has one, but
    not "the manager of Ann"."""
    alone = _THE.search(text[: max(mention.start, 0)]) and not text.startswith(" of ", mention.end)
    if not alone or not all(map(facts.is_class, mention.entities)):
        return mention
    rows = [
        r for kind in mention.entities for r in facts.of(kind) if r.tail == kind and facts.is_type(r.relation)
    ]
    members = {row.head for row in rows}
    narrower = any(facts.is_narrower(row.relation) for row in rows)
    return mention._replace(entities=tuple(members)) if len(members) == 1 and not narrower else mention


def _joined_by_or(text: str, mentions: Sequence[QuestionMention]) -> frozenset[int]:
    """Entities of mentions joined by "or" if a question begins like a yes/no question, but not "is there"."""
    if not operator_table().words["truth"].search(text) or _THERE.search(text):
        return frozenset()
    return frozenset(e for pair in joined_by_or(text, mentions) for mention in pair for e in mention.entities)


def joined_by_or(
    text: str, mentions: Sequence[QuestionMention]
) -> list[tuple[QuestionMention, QuestionMention]]:
    """The pairs of successive mentions with "or" between them."""
    return [pair for pair in pairwise(mentions) if _OR.fullmatch(text, pair[0].end, pair[1].start)]


def _other_spellings(text: str) -> list[tuple[int, int, str]]:
    """Spans that may mean a label in another form: of a material, a country, or a month, which "may" is as well.

    >>> _other_spellings("a wooden Irish boat built in may")
    [(2, 8, 'wood'), (29, 32, 'May'), (9, 14, 'Ireland')]
    """
    materials = ((m.start(), m.end(), m[1].lower()) for m in _MATERIAL.finditer(text))
    months = ((m.start(1), m.end(1), m[1].capitalize()) for m in _IN_MONTH.finditer(text))
    countries = operator_table().countries
    of_country = re.compile(rf"\b(?:{'|'.join(countries)})\b", re.IGNORECASE)
    found = (m for m in of_country.finditer(text) if m[0] != "polish")  # to polish shoes
    named = ((*m.span(), name) for m in found for name in countries[m[0].lower()])
    return [*materials, *months, *named]


def _bearer(facts: GraphFacts, mention: QuestionMention, text: str) -> QuestionMention:
    """Replace a given name or surname by the few entities that have it, unless the question asks for names: "Hal" is
    Hal Wren, except in "Whose given name is Hal?"."""
    if not _is_literal(facts, mention):
        return mention
    asked = {lemma(word) for word, _, _ in words(text)}
    found: dict[int, None] = {}
    for literal in mention.entities:
        own = {word for word, _, _ in words(facts.label(literal))}
        for row in facts.of(literal):
            named = {word for word, _, _ in words(facts.label(row.head))}
            relation = {lemma(word) for word, _, _ in words(facts.graph.relations[row.relation].label)}
            names = any(word.endswith("name") for word in relation)
            if row.tail == literal and own < named and names and not relation & asked:
                found[row.head] = None
    return mention._replace(entities=tuple(found)) if 0 < len(found) <= MAX_NAMED else mention


def follows_negation(asked: QuestionMentions, value: str) -> bool:
    """Whether a negation precedes a value: "does not weigh more than 5 kg", but not "over 4 m and not organic"."""
    before, _, _ = asked.text.lower().partition(value.split()[0].lower())
    return operator_table().words["negation"].search(before) is not None


def has_more_content(asked: QuestionMentions, entities: Sequence[int], relation: str) -> bool:
    """Whether a question has content beyond some entities and the words of a relation.

    One unknown word is allowed if none matches the relation: it may be another word for it.
    """
    if any(set(entities).isdisjoint(mention.entities) for mention in asked.mentions):
        return True
    rest = {lemma(word) for word, _, _ in words(rest_of(asked)) if word not in STOP_WORDS}
    rest -= operator_table().anything
    own = {lemma(word) for word, _, _ in words(relation)}
    return len(rest - own) > (0 if rest & own else 1)


def class_asked(facts: GraphFacts, asked: QuestionMentions) -> tuple[int, ...]:
    """The classes of the expected answer: "island" in "Which island does it leave from?"; none if the class only
    modifies what is asked, as in "Which island's port" or "Which ferry captain"."""
    for mention in asked.mentions:
        behind = WORD.match(asked.text, mention.end + 1)
        owned = asked.text[mention.end : mention.end + 1] in "'’-" and mention.end < len(asked.text)
        if _WHICH.search(asked.text[: max(mention.start, 0)]) and all(map(facts.is_class, mention.entities)):
            nouns = {w for r in facts.graph.relations for w in wording_of(r.label).noun.lower().split()}
            noun = behind and behind[0].lower() in nouns - STOP_WORDS
            return () if owned or noun else mention.entities
    return ()


def counted_nouns(facts: GraphFacts, asked: QuestionMentions) -> dict[str, QuestionMention]:
    """The numbers right before the mention of a class, with that mention: 2 in "at least two boats"; years count
    nothing ("the 2021 races")."""
    found = {}
    for mention in asked.mentions:
        before = values_in(" ".join(asked.text[: max(mention.start, 0)].split()[-2:]))[-1:]
        if before and before[0].isdecimal() and len(before[0]) < 4 and facts.is_class(mention.entities[0]):
            found[before[0]] = mention
    return found


def most_counted(facts: GraphFacts, asked: QuestionMentions) -> list[QuestionMention]:
    """The classes of which a question counts the most or the fewest: "orders" in "Who had the most orders?"."""
    return [
        mention
        for mention in asked.mentions
        if all(map(facts.is_class, mention.entities)) and _MOST.search(asked.text[: max(mention.start, 0)])
    ]


def classes_of_all(facts: GraphFacts, asked: QuestionMentions) -> set[tuple[int, ...]]:
    """The classes of whose members a question says "all", "every" or "each": "Are all halls accessible?"."""
    return {
        mention.entities
        for mention in asked.mentions
        if all(map(facts.is_class, mention.entities)) and _EVERY.search(asked.text[: max(mention.start, 0)])
    }


def asks_other_noun(facts: GraphFacts, asked: QuestionMentions) -> bool:
    """Whether the noun after "which" or "what" is not the label of a class of the graph: "birds" in "Which birds have
    won a race?"."""
    match = _WHICH_NOUN.search(asked.text)
    if match is None or match[1].lower() in STOP_WORDS:  # "what is", "what does"
        return False
    kinds = [m for m in asked.mentions if all(map(facts.is_class, m.entities))]
    between = (asked.text[match.end(1) : m.start].lower() for m in kinds if m.start > match.start(1))
    alone = any(abs(m.start - match.start(1)) <= 1 for m in kinds)
    # "which old boats", but not "which members own a boat"
    return not alone and all(
        len(text) > 20 or not STOP_WORDS.isdisjoint(word for word, _, _ in words(text)) for text in between
    )


def _is_literal(facts: GraphFacts, mention: QuestionMention) -> bool:
    """Whether all entities of a mention are literals, or names that are values, as in a graph read from a table."""
    names = map(facts.name, mention.entities)
    return all(name.startswith('"') or VALUE.fullmatch(name) is not None for name in names)


def _is_month(facts: GraphFacts, index: GraphIndex, mention: QuestionMention, text: str) -> bool:
    """Whether a mention of things is only the month of a date: "May" in "May 2023", and in a graph with dates in
    "on 3 May" or "in May", which is no person then. A month that is a text of the graph may be meant."""
    said = text[mention.start : mention.end]
    if said.capitalize() not in MONTHS or _is_literal(facts, mention):
        return False
    for match in VALUE.finditer(text):
        if match.start() <= mention.start and mention.end <= match.end() and (match["date"] or match["day"]):
            ranges = any(m.start() < mention.start and mention.end <= m.end() for m in _MONTHS.finditer(text))
            meant = match[0] != said or ranges or _DURING.search(text[: mention.start])
            owns = text[mention.end : mention.end + 1] in ("'", "’")
            return bool(match["date"] or (meant and index.has_dates and not owns))
    return False


def _is_verb(mention: QuestionMention, things: Sequence[QuestionMention], text: str) -> bool:
    """Whether a mention is the last word of a question, behind the subject of "do": "What does Ann captain?" asks for
    no captain."""
    ends = not WORD.search(text, max(mention.end, 0))
    before = [m for m in things if ends and text[m.end : mention.start] == " "]
    return any(_DO.search(text[: m.start]) for m in before)


def _is_whole(facts: GraphFacts, mention: QuestionMention, text: str) -> bool:
    """Whether a mention covers a whole label, up to two characters (plural endings)."""
    mention_text = text[mention.start : mention.end].casefold()
    return any(len(facts.label(entity)) <= len(mention_text) + 2 for entity in mention.entities)


def _mentioned(linker: Linker, text: str) -> list[QuestionMention]:
    mentions = linker.link(text)
    spans = {(m.start, m.end) for m in mentions}
    outer = {s for s in spans if not any(o != s and o[0] <= s[0] and s[1] <= o[1] for o in spans)}
    found = [QuestionMention(m.start, m.end, m.entities) for m in mentions if (m.start, m.end) in outer]
    # graphs label the class "person", of which "people" is the plural
    at = _PEOPLE.search(text)
    if at and not any(mention.start <= at.start() < mention.end for mention in found):
        (persons,) = linker.graph.find(["person"])
        found += [QuestionMention(*at.span(), tuple(persons[:1].tolist()))] if len(persons) else []
    return sorted(found)


def _only_begins(facts: GraphFacts, mention: QuestionMention, text: str) -> bool:
    """Whether a mention is only the beginning of labels, and the text goes on differently: "Route 88" is
    neither Route 7 nor Route 12."""
    onward = _NAME_GOES_ON.match(text, mention.end)
    if onward is None:
        return False
    begun, further = f"{text[mention.start : mention.end]} ".casefold(), onward[1].casefold()
    labels = [facts.label(entity).casefold() for entity in mention.entities]
    return all(label.startswith(begun) and further not in label.split() for label in labels)


def _without(text: str, mentions: Sequence[QuestionMention]) -> str:
    """A text without its mentions, so that the 3 of "Ward 3" is not taken for a value."""
    for start, end in sorted({mention[:2] for mention in mentions}, reverse=True):
        if start >= 0:
            text = f"{text[:start]} {text[end:]}"
    return text


def rest_of(asked: QuestionMentions, entities: Sequence[int] = ()) -> str:
    """A question without the mentions of some entities, by default of all."""
    chosen = [m for m in asked.mentions if not entities or not set(entities).isdisjoint(m.entities)]
    return _without(asked.text, chosen)

"""Mentions in a question: entities and classes of the graph, values, and words that ask for an operation."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from kgqa.graph.linking.label_keys import MONTHS
from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.normalize import STOP_WORDS, lemma, words
from kgqa.language.values import NAMED_TIMES, SCALES, is_unit, minutes_of
from kgqa.qa.logical_forms.graph_facts import GraphFacts
from kgqa.qa.logical_forms.graph_index import MAX_NAMED, GraphIndex
from kgqa.qa.logical_forms.language import Comparator
from kgqa.qa.logical_forms.wording import wording_of
from kgqa.types import Question
from kgqa.verbalize.inflection import participle, third

_TABLE = Path(__file__).with_name("operators.toml")
_ASKING = re.compile(r"\b(what|which|who|whom|whose|where|when|why|how)\b", re.IGNORECASE)
_NAME_GOES_ON = re.compile(r"\s([A-Z\d][\w-]*)")
_PEOPLE = re.compile(r"\b[Pp]eople\b")
_MONTH = "|".join(MONTHS)
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)?"
_PLAIN_MONTH = rf"(?:(?-i:May|March)|{'|'.join(month for month in MONTHS if month not in ('May', 'March'))})"
"""The name of a month that is no verb: "may" and "march" are."""


def _after(*words: str) -> str:
    """Behind one of some words."""
    return "(?:" + "|".join(rf"(?<=\b{word} )" for word in words) + ")"


_BEFORE_MONTH = ("in", "of", "during", "before", "after", "since", "until", "by", "from")
_IN = (
    rf"{_after(*_BEFORE_MONTH)}(?:{_MONTH})|(?:{_after('between', 'and', 'or', 'to')}|(?<=, )){_PLAIN_MONTH}"
)
_BEFORE_DAY = ("on", "before", "after", "since", "until", "by", "from", "between", "and", "or", "to")
_ON = _after(*_BEFORE_DAY, *(f"{word} the" for word in _BEFORE_DAY))
_DAY_OF_MONTH = (
    rf"\b{_ORDINAL} (?:of (?:{_MONTH})|{_PLAIN_MONTH})\b|\b{_PLAIN_MONTH} {_ORDINAL}\b"
    rf"|{_ON}(?:{_ORDINAL} (?:{_MONTH})|(?:{_MONTH}) {_ORDINAL})\b"
)
_VALUE = re.compile(
    rf"(?P<date>\d{{4}}-\d\d-\d\d|{_ORDINAL} (?:of )?(?:{_MONTH})(?:,? \d{{4}})|(?:{_MONTH}) (?:{_ORDINAL},? )?\d{{4}})"
    rf"|(?P<day>{_DAY_OF_MONTH}|(?:{_IN})\b)"
    r"|(?P<money>[€$£] ?\d[\d,]*(?:\.\d+)?)"
    rf"|(?P<clock>\b(?:\d{{1,2}}:\d\d|\d{{1,2}} ?[ap]\.?m|{'|'.join(NAMED_TIMES)})\b)"
    rf"|(?<![\w.-])(?P<number>-?\d+(?:,\d{{3}})*(?:\.\d+)?)(?: ?(?P<scale>{'|'.join(SCALES)})\b)?"
    r"(?: ?(?P<unit>%|[A-Za-zµ°/²³]+))?(?![\w-])"
    r"|\"(?P<text>[^\"]+)\"",
    re.IGNORECASE,
)
_WITH_HYPHEN = re.compile(r"\b([a-z]+|\d+)-(?=[a-z]{3})", re.IGNORECASE)
_BEFORE_ONE = frozenset("than over under above below least most exactly only just".split())  # noqa: SIM905
_THERE = re.compile(r"\b(?:(?:is|are|was|were) there|any)\b", re.IGNORECASE)
IN_OR_THE = r"(?:(?:in|at|on|by|from|with|for|to|of) )?(?:(?:the|an?) )?"
"""What may stand before a thing: a preposition, an article."""
_OR = re.compile(rf"\W*or {IN_OR_THE}", re.IGNORECASE)
LISTED = re.compile(rf"(?:, ?|,? (?:and|or) ){IN_OR_THE}", re.IGNORECASE)
"""Between two things that are listed."""
_DO = re.compile(r"\b(?:do|does|did)(?: the)? $", re.IGNORECASE)
_THE = re.compile(r"\b(?:the|this|our)\s+$", re.IGNORECASE)
_ASKED_NOUN = re.compile(
    r"(?:\b(?:which|what|how many|all(?: the)?|every|each|any|no|most \w+|least \w+|\w+est)\s+|^\W*(?=\w+s\b))"
    r"([^\W\d_]{3,})(?:\s+([^\W\d_]{3,}))?",
    re.IGNORECASE,
)
"""Two words after one that asks for things, counts or compares them, or at the beginning, if the first is a plural."""
_RANGE, _NUMBER = re.compile(r"\s*(?:and|to|or|-|–)\s*"), re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_FROM = re.compile(r"\b(?:between|from)(?: the)?(?: years?)?\s*$", re.IGNORECASE)
_AND_A_HALF = re.compile(r"\b(\w+) and a half\b", re.IGNORECASE)
_FRACTIONS = (
    (re.compile(r"\b(?:an?|one) (\w+) and a half\b", re.IGNORECASE), r"1.5 \1"),
    (re.compile(r"\bhalf an? (?=\w)", re.IGNORECASE), "0.5 "),
    (re.compile(r"\b(?:an?|one) quarter of an? (?=\w)", re.IGNORECASE), "0.25 "),
    (re.compile(r"\bthree[ -]quarters of an? (?=\w)", re.IGNORECASE), "0.75 "),
)
_DAY = rf"(?:{_ORDINAL} (?:of )?)?(?:{_MONTH})|(?:{_MONTH}) {_ORDINAL}"
_UNTIL = r"(?=\W+(?:and|to|or|until|till|through)\W+(?:the )?"
_WHOLE_DATES = (
    (re.compile(rf"\b({_DAY}){_UNTIL}(?:{_DAY}),? (\d{{4}}))", re.IGNORECASE), r"\1 \2"),
    (
        re.compile(
            rf"\b({_ORDINAL}){_UNTIL}{_ORDINAL} (?:of )?((?:{_MONTH})(?:,? \d{{4}})?))", re.IGNORECASE
        ),
        r"\1 \2",
    ),
)
"""Pairs of dates whose year, or month and year, is written only once, after the second: "between 10 March and 30 April
2024"."""
_DECADES = ["twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"]
_DECADE = re.compile(
    rf"\b(?:in |during |from |of )?the ((?:\d\d)?\d0s|{'|'.join(_DECADES)})\b", re.IGNORECASE
)
_REQUEST = re.compile(
    r"\W*(?:can|could|will|would) you (?:\w+ )?(?:list|name|tell|show|give|find)\b", re.IGNORECASE
)
_RANK = re.compile(rf"\b(\d+)(?:st|nd|rd|th)\b(?! (?:of (?:{_MONTH})|{_PLAIN_MONTH}))", re.IGNORECASE)
_MOST = re.compile(r"\b(?:most|fewest)(?: of the)?\s+$", re.IGNORECASE)
_WHICH = re.compile(r"\b(?:which|what)\s+(?:of the\s+)?$", re.IGNORECASE)
_WHICH_NOUN = re.compile(r"\b(?:which|what)\s+(?:of the\s+)?([^\W\d_]+)", re.IGNORECASE)
_MATERIAL = re.compile(
    r"\b(wood|gold|wool(?=l?en)|silk|oak|earth|lead|ash|beech|birch|flax)l?en\b", re.IGNORECASE
)
_DURATION = re.compile(r"\b(?:seconds?|minutes?|hours?|days?|weeks?|months?)\b", re.IGNORECASE)
_SPEED = re.compile(r"\b(?:speed|velocity)\b", re.IGNORECASE)
_IN_MONTH = re.compile(rf"\b(?:in|of|during|or|and) ({_MONTH})\b(?!,? \d{{4}})", re.IGNORECASE)
_DURING = re.compile(rf"\b(?:in|during) (?:(?:{_MONTH})(?:,|,? or|,? and| to) )*$", re.IGNORECASE)
_MONTHS = re.compile(rf"\b(?:between|from) (?:{_MONTH}) (?:and|to|until) (?:{_MONTH})\b", re.IGNORECASE)
_EVERY = re.compile(r"\b(?:all|every|each)(?: of)?(?: the| our)?\s+$", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


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


class _Operators(NamedTuple):
    words: dict[str, re.Pattern[str]]
    beside: dict[str, re.Pattern[str]]
    """Words that ask for an operation only if the question has a value or two entities."""
    comparators: dict[Comparator, tuple[re.Pattern[str], re.Pattern[str]]]
    """Words before and after a value."""
    numbers: dict[str, str]
    ranks: dict[str, int]
    anything: frozenset[str]
    """Placeholders such as "anything"."""
    ends: dict[str, dict[bool, re.Pattern[str]]]
    """By the kind of values: words that ask for the largest, and for the smallest."""
    attributes: dict[str, str]
    """What an adjective measures, by its base form."""
    countries: dict[str, list[str]]
    """Names of the countries that an adjective, in lower case, belongs to."""
    synonyms: dict[str, set[str]]
    """Other words for a noun."""
    opposites: dict[str, tuple[int, int]]
    """Group and place of each word; words of one group at different places exclude each other."""


@cache
def _operators() -> _Operators:
    rows = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    numbers = {word: str(number) for number, word in enumerate(rows["numbers"]["words"].split(), 2)}
    numbers |= {word: str(number) for number, word in enumerate(rows["numbers"]["times"].split(), 2)}
    ranks = {word: number for number, word in enumerate(rows["ranks"]["words"].split(), 2)}
    patterns, beside = (
        {name: re.compile(row[key], re.IGNORECASE) for name, row in rows.items() if key in row}
        for key in ("match", "beside")
    )
    comparators = {
        op: (
            re.compile(
                rf"\b(?:{row['before']})(?: (?:the|an?|year|age|of|about|around))*\W*$", re.IGNORECASE
            ),
            re.compile(rf"^(?:\W*[\w-]+){{0,3}}?\W*(?:{row.get('after', '(?!)')})\b(?!\W*\d)", re.IGNORECASE),
        )
        for op, row in rows["comparators"].items()
    }
    countries: dict[str, list[str]] = defaultdict(list)
    for entry in rows["countries"]["adjectives"].replace("\n", " | ").split(" | "):
        adjective, _, name = entry.partition(": ")
        countries[adjective.lower()].append(name)
    synonyms: dict[str, set[str]] = defaultdict(set)
    for group in rows["synonyms"]["groups"].replace("\n", " | ").split(" | "):
        alike = {*map(lemma, group.split())}  # "painting" has the lemma "paint", as in the questions
        for word in alike:
            synonyms[word] |= alike - {word}
    opposites = {
        word: (group, place)
        for group, line in enumerate(rows["opposites"]["groups"])
        for place, alike in enumerate(line.split("|"))
        for word in alike.split()
    }
    anything = frozenset(rows["anything"]["words"].split())
    ends = {
        kind: {
            large: re.compile(row[key], re.IGNORECASE)
            for large, key in ((True, "largest"), (False, "smallest"))
        }
        for kind, row in rows["ends"].items()
    }
    given = patterns, beside, comparators, numbers, ranks, anything, ends
    return _Operators(*given, rows["attributes"], dict(countries), dict(synonyms), opposites)


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
        if _is_whole(facts, m, text)
        and not (_is_literal(facts, m) and _VALUE.fullmatch(text, m.start, m.end))
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
        for word in _WORD.finditer(text)
        if (kinds := index.classes_called(word[0].lower()))
        and not any(m.start < word.end() and word.start() < m.end for m in found)
    ]
    found += [
        QuestionMention(start, end, kinds)
        for start, end, noun in _asked_nouns(text, [m for m in found if all(map(facts.is_class, m.entities))])
        if not any(m.start < end and start < m.end for m in found)
        and (kinds := index.classes_like(noun, _operators().synonyms.get(lemma(noun), ())))
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
    table = _operators()
    rest, bound = _bound(index, _without(text, things))
    operators = {name for name, pattern in table.words.items() if pattern.search(rest)}
    either = _joined_by_or(text, [m for m in found if not all(map(facts.is_class, m.entities))])
    if either:
        operators.discard("truth")
    apart = re.sub(r"-(?=(?:\w+est|most|least|best|worst|last)\b)", " ", rest.lower())  # "second-highest"
    ranks = [table.ranks[word] for word in _WORD.findall(apart) if word in table.ranks]
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
    table = _operators()
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


def are_synonyms(noun: str, label: str) -> bool:
    """Whether a noun is another word for the last word of a label.

    >>> are_synonyms("films", "Silent movie"), are_synonyms("movies", "Movie")
    (True, False)
    """
    others = _operators().synonyms.get(lemma(noun.lower()), ())
    return any(lemma(head) in others for head in label.lower().split()[-1:])


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
    if not _operators().words["truth"].search(text) or _THERE.search(text):
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
    countries = _operators().countries
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


def asks_truth(text: str) -> bool:
    """Whether a question is a yes/no question.

    >>> asks_truth("Does Ada know Rik?"), asks_truth("Do you know who Ada is?"), asks_truth("Is Ada older or Rik?")
    (True, False, False)
    """
    table = _operators().words
    if _REQUEST.match(text):
        return False
    return table["truth"].search(text) is not None and not (
        table["pair"].search(text) or _ASKING.search(text)
    )


def follows_negation(asked: QuestionMentions, value: str) -> bool:
    """Whether a negation precedes a value: "does not weigh more than 5 kg", but not "over 4 m and not organic"."""
    before, _, _ = asked.text.lower().partition(value.split()[0].lower())
    return _operators().words["negation"].search(before) is not None


def has_more_content(asked: QuestionMentions, entities: Sequence[int], relation: str) -> bool:
    """Whether a question has content beyond some entities and the words of a relation.

    One unknown word is allowed if none matches the relation: it may be another word for it.
    """
    if any(set(entities).isdisjoint(mention.entities) for mention in asked.mentions):
        return True
    rest = {lemma(word) for word, _, _ in words(rest_of(asked)) if word not in STOP_WORDS}
    rest -= _operators().anything
    own = {lemma(word) for word, _, _ in words(relation)}
    return len(rest - own) > (0 if rest & own else 1)


def opposed(question: str, relation: str) -> bool:
    """Whether a word of a relation and one of a question exclude each other, and neither text has both.

    >>> opposed("When is the next service?", "last service"), opposed("Who was born last?", "place of birth")
    (True, False)
    """
    table = _operators().opposites
    asked, labelled = (
        {table[w] for word, _, _ in words(text) for w in (word, lemma(word)) if w in table}
        for text in (question, relation)
    )
    return any(
        group == other and place != its and (other, its) not in asked and (group, place) not in labelled
        for group, place in asked
        for other, its in labelled
    )


def with_opposite(question: str, phrase: str) -> str:
    """A phrase with the word that one of the question excludes replaced by that one.

    >>> with_opposite("When does it end?", "when it starts"), with_opposite("Who closed it?", "when it opened")
    ('when it ends', 'when it closed')
    """
    table = _operators().opposites
    asked = {table[w][0]: w for word, _, _ in words(question) for w in (word, lemma(word)) if w in table}

    def replaced(match: re.Match[str]) -> str:
        word, base = match[0].lower(), lemma(match[0].lower())
        other = asked.get(table[base][0]) if base in table else None
        if other is None or table[other] == table[base]:
            return match[0]
        other = lemma(other)
        return third(other) if word == third(base) else other if word == base else participle(other)

    return _WORD.sub(replaced, phrase)


@lru_cache(maxsize=10_000)
def operators_in(label: str) -> frozenset[str]:
    """The operators (and "rank" for an ordinal) that a relation's label expresses, so that a form needs none.

    >>> sorted(operators_in("second place")), sorted(operators_in("average depth")), operators_in("owner")
    (['extreme', 'rank'], ['average'], frozenset())
    """
    table = _operators()
    expressed = {name for name, pattern in table.words.items() if pattern.search(label)} - {"count", "truth"}
    ordinal = "second" in expressed or not table.ranks.keys().isdisjoint(label.lower().split())
    return frozenset(expressed | {"extreme", "rank"} if ordinal else expressed)


@lru_cache(maxsize=1000)
def end_asked(text: str, unit: str, label: str) -> bool | None:
    """Whether the superlatives or comparatives of a text ask for the largest values (True) or the smallest; None if
    they leave it open. The oldest has the earliest date, the fastest the fewest "days to harvest".

    >>> end_asked("Which is the oldest?", "date", ""), end_asked("Which is the fastest?", "", "days to harvest")
    (False, False)
    >>> end_asked("Which is the dearest?", "eur", "price"), end_asked("A list?", "", "")
    (True, None)
    >>> end_asked("Which had its last service earlier?", "date", "last service")
    False
    """
    table = _operators().ends
    text = re.sub(
        rf"\b(?:{'|'.join(map(re.escape, label.split())) or '(?!)'})\b", " ", text, flags=re.IGNORECASE
    )
    unit = "speed" if _SPEED.search(label) else "time" if not unit and _DURATION.search(label) else unit
    asked = {large for large, words in table.get(unit, table["number"]).items() if words.search(text)}
    return asked.pop() if len(asked) == 1 else None


@lru_cache(maxsize=1000)
def attributes_asked(text: str) -> str:
    """What the adjectives of a text measure, in words that relations are called by.

    >>> attributes_asked("Which river is the deepest?")
    'depth'
    """
    table = _operators().attributes
    found = (lemma(word.lower()) for word in _WORD.findall(text))
    return " ".join(table[word] for word in dict.fromkeys(found) if word in table)


def class_asked(facts: GraphFacts, asked: QuestionMentions) -> tuple[int, ...]:
    """The classes of the expected answer: "island" in "Which island does it leave from?"; none if the class only
    modifies what is asked, as in "Which island's port" or "Which ferry captain"."""
    for mention in asked.mentions:
        behind = _WORD.match(asked.text, mention.end + 1)
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
    return all(name.startswith('"') or _VALUE.fullmatch(name) is not None for name in names)


def _is_month(facts: GraphFacts, index: GraphIndex, mention: QuestionMention, text: str) -> bool:
    """Whether a mention of things is only the month of a date: "May" in "May 2023", and in a graph with dates in
    "on 3 May" or "in May", which is no person then. A month that is a text of the graph may be meant."""
    said = text[mention.start : mention.end]
    if said.capitalize() not in MONTHS or _is_literal(facts, mention):
        return False
    for match in _VALUE.finditer(text):
        if match.start() <= mention.start and mention.end <= match.end() and (match["date"] or match["day"]):
            ranges = any(m.start() < mention.start and mention.end <= m.end() for m in _MONTHS.finditer(text))
            meant = match[0] != said or ranges or _DURING.search(text[: mention.start])
            owns = text[mention.end : mention.end + 1] in ("'", "’")
            return bool(match["date"] or (meant and index.has_dates and not owns))
    return False


def _is_verb(mention: QuestionMention, things: Sequence[QuestionMention], text: str) -> bool:
    """Whether a mention is the last word of a question, behind the subject of "do": "What does Ann captain?" asks for
    no captain."""
    ends = not _WORD.search(text, max(mention.end, 0))
    before = [m for m in things if ends and text[m.end : mention.start] == " "]
    return any(_DO.search(text[: m.start]) for m in before)


def _is_whole(facts: GraphFacts, mention: QuestionMention, text: str) -> bool:
    """Whether a mention covers a whole label, up to two characters (plural endings)."""
    mention_text = text[mention.start : mention.end].casefold()
    return any(len(facts.label(entity)) <= len(mention_text) + 2 for entity in mention.entities)


def values_in(text: str) -> tuple[str, ...]:
    """Dates and numbers with units in a text.

    >>> values_in("Which tools cost less than 15 euros?"), values_in("Who came after 3 May 2018 or in 2020?")
    (('15 euros',), ('3 May 2018', '2020'))
    >>> values_in("Between 45 and 50 cm?"), values_in("over 4 million euros"), values_in("more than a million")
    (('45 cm', '50 cm'), ('4000000 euros',), ('1000000',))
    >>> values_in("Which are taller than a metre?"), values_in("4 euros a day")
    (('1 metre',), ('4 euros',))
    >>> values_in("Which leave after noon, before 6 pm or at 9:30?"), values_in("a three-room flat")
    (('12:00', '18:00', '09:30'), ('3',))
    >>> values_in("Who won more than one race?"), values_in("Who won twice?"), values_in("Which one is that?")
    (('1',), ('2',), ())
    >>> values_in("Born in the eighties?"), values_in("between 10 March and 3 April 2024"), values_in("by 2010, please")
    (('1980', '1989'), ('10 March 2024', '3 April 2024'), ('2010',))
    >>> values_in("after the 3rd of march or before May?"), values_in("between 3 and 10 March"), values_in("May I?")
    (('3 March', 'May'), ('3 March', '10 March'), ())
    """
    return tuple(comparators_in(text))


def comparators_in(text: str) -> dict[str, frozenset[Comparator]]:
    """The values in a text, each with the comparators that the words around it express (possibly none).

    >>> comparators_in("at least an hour and a half"), comparators_in("an hour or longer")
    ({'1.5 hour': frozenset({'>='})}, {'1 hour': frozenset({'>='})})
    >>> comparators_in("at most a quarter of an hour")
    {'0.25 hour': frozenset({'<='})}
    >>> comparators_in("opened between 1900 and 1930")["1930"], comparators_in("older than 80")["80"]
    (frozenset({'between'}), frozenset({'>'}))
    """
    for pattern, written in (*_FRACTIONS, *_WHOLE_DATES):
        text = pattern.sub(written, text)
    numbers = _operators().numbers
    text = _WITH_HYPHEN.sub(
        lambda m: f"{m[1]} " if m[1].isdecimal() or m[1].lower() in numbers else m[0], text
    )
    text = _DECADE.sub(lambda match: _decade(match[1].lower()), text)
    text = _AND_A_HALF.sub(lambda match: f"{numbers.get(match[1].lower(), match[1])}.5", text)
    places: list[tuple[str, int, int]] = []
    for match in _VALUE.finditer(text):
        unit = match["unit"] or ""
        if match["clock"]:
            hour, minute = divmod(round(minutes_of(match["clock"]) or 0), 60)
            places.append((f"{hour:02}:{minute:02}", *match.span()))
            continue
        if match["day"]:
            places.append((_day(match["day"]), *match.span()))
            continue
        if not match["number"]:
            places.append((match["text"] or match[0].replace(" of ", " "), *match.span()))
            continue
        known = unit if unit == "%" or is_unit(unit) else ""
        number = f"{_scaled(match['number'], match['scale'])} {known}".strip()
        if known and places and _NUMBER.fullmatch(places[-1][0]):
            earlier, start, end = places[-1]
            if _RANGE.fullmatch(text, end, match.start()):
                places[-1] = f"{earlier} {known}", start, end  # "between 45 and 50 cm"
        places.append((number, match.start(), match.end("scale") if match["scale"] else match.end("number")))
    words = [*_WORD.finditer(text)]
    for n, word in enumerate(words):
        scales = [w[0].lower() for w in words[n + 1 : n + 2] if w[0].lower() in SCALES]
        afters = (after for _, after in _operators().comparators.values())  # "an hour or longer"
        begins = n and words[n - 1][0].lower() in _BEFORE_ONE
        one = word[0].lower() in ("a", "an", "one", "once") and (
            scales or begins or any(after.search(text[word.end() :]) for after in afters)
        )
        if number := numbers.get(word[0].lower(), "1" if one else ""):
            following = words[n + 1 + len(scales) : n + 2 + len(scales)]
            unit = next((w[0] for w in following if is_unit(w[0])), "")
            if unit or scales or word[0].lower() not in ("a", "an"):
                end = words[n + 1].end() if scales else word.end()
                places.append((f"{_scaled(number, *scales)} {unit}".strip(), word.start(), end))
    return _with_comparators(text, places)


def _with_comparators(text: str, places: Sequence[tuple[str, int, int]]) -> dict[str, frozenset[Comparator]]:
    """Values with the comparators found around their spans in a text."""
    found: dict[str, frozenset[Comparator]] = {}
    table = _operators().comparators
    for value, start, end in places:
        ops = {
            op
            for op, (before, after) in table.items()
            if before.search(text[:start]) or after.search(text[end:])
        }
        found[value] = found.get(value, frozenset()) | ops
    for (low, start, until), (high, again, _) in pairwise(sorted(places, key=lambda place: place[1])):
        between = re.fullmatch(r"\W*(?:[^\W\d]+\W+)?(?:and|to|-|–)\W*(?:the year )?", text[until:again])
        if between and _FROM.search(text[:start]):
            found[low] = found[high] = frozenset({"between"})
        elif found[low] | found[high] <= {"="} and LISTED.fullmatch(text, until, again):  # "in May or July"
            found[low] = found[high] = frozenset({"="})
    return found


def _day(text: str) -> str:
    """A day or month without its year, as "10 March" or "March"."""
    month = re.search(_MONTH, text, re.IGNORECASE)
    return " ".join([*re.findall(r"\d+", text), month[0].capitalize() if month else ""])


def has_no_year(value: str) -> bool:
    """Whether a value is a day or month without its year.

    >>> has_no_year("10 March"), has_no_year("March"), has_no_year("10 March 2024"), has_no_year("10 m")
    (True, True, False, False)
    """
    return value.rpartition(" ")[2] in MONTHS


def _decade(words: str) -> str:
    """A decade as a range of years; of the twentieth century unless stated otherwise."""
    begin = words[:-1] if words[0].isdigit() else str(10 * (2 + _DECADES.index(words)))
    begin = begin if len(begin) == 4 else f"19{begin}"
    return f"between {begin} and {begin[:3]}9"


def _scaled(number: str, scale: str | None = None) -> str:
    """A number followed by a word such as "thousand" or "million", in digits."""
    if not scale:
        return number
    return f"{float(number.replace(',', '')) * SCALES[scale.lower()]:.6f}".rstrip("0").rstrip(".")


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

"""A yes/no question against a passage: which of its words the passage says, where, and what speaks against them.

Words are aligned one by one (MacCartney and Manning, 2008, sections 3 and 4): equal ones, those that facts of the
graph make equal or opposite, and those whose place another word of the kind holds (alternation: Friday for Monday).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice, product

from kgqa.graph.linking.normalising import lemma, local_name, verb_bases
from kgqa.limits.stopping import each, go_on
from kgqa.types import NodeRole, Span, Subgraph
from kgqa.verifying.polarity import ALL, Word, read, turns

Alike = Callable[[str, str], float]
"""How alike two words are used, -1 to 1."""
LEAST_STEM = 4
MOST_RIVALS = 30
"""Words of either text that are compared as rivals; a clause of more is none."""
_OPPOSED = "Antonym"
_EQUAL = ("SimilarTo", "Synonym", "~IsA")
_PREFIXES = ("un", "in", "im", "dis")
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
    )
}
_OPPOSITES = dict(
    pair.split(":")
    for pair in "before:after more:less fewer:more above:below over:under inside:outside up:down first:last".split()  # noqa: SIM905
)
_OPPOSITES |= {two: one for one, two in _OPPOSITES.items()}


@dataclass(frozen=True, slots=True)
class Match:
    """How a question's words stand in a passage.

    `content` are places of the question's content words; `said` has for each that the passage says all places there,
    `opposed` those of words that mean the opposite; `place` the one that counts, near the others. `clause` and
    `sentence` are those that hold most of them.
    """

    asked: tuple[Word, ...]
    told: tuple[Word, ...]
    content: tuple[int, ...]
    said: dict[int, list[int]]
    opposed: dict[int, list[int]]
    place: dict[int, int]
    clause: int
    sentence: int

    @property
    def span(self) -> Span:
        """The characters of the sentence that says most of it."""
        inside = [word for word in self.told if word.sentence == self.sentence]
        return Span(inside[0].start, inside[-1].end) if inside else Span(0, 0)

    def _near(self, place: int) -> bool:
        return self.told[place].sentence == self.sentence

    def signs(self) -> tuple[bool, bool]:
        """Whether the passage says the contrary, by the signs of both texts multiplied; whether it denies at all."""
        tokens = {place for place in self.place.values() if self._near(place)}
        clause = {place for place in tokens if self.told[place].clause == self.clause}
        told = [turn for turn in turns(self.told) if turn.scope & tokens]
        asked = [turn for turn in turns(self.asked) if turn.scope & set(self.content)]
        denied = any(turn.denies and turn.scope & clause for turn in told)
        return (len(told) + len(asked) + len(self.opposed)) % 2 == 1, denied

    def asks_for_all(self) -> bool:
        """Whether it is asked of all, where the passage does not speak of all."""
        asked = {word.text for word in self.asked} & ALL
        return bool(asked) and not asked & {w.text for w in self.told if w.sentence == self.sentence}

    def swapped(self) -> bool:
        """Whether any three words stand in the clause in the contrary order: who did what to whom."""
        places = [self.place[n] for n in self.content if n in self.said]
        places = [place for place in places if self.told[place].clause == self.clause]
        before = list(accumulate(places, max))
        behind = list(accumulate(reversed(places), min))[::-1]
        turned = any(most > place > least for most, place, least in zip(before, places, behind, strict=True))
        return turned and _has_by(self.asked) == _has_by(self.told)

    def rivalry(self, alike: Alike) -> float:
        """How alike a word that the clause does not say is to one that it says instead, 0 to 1."""
        taken = {place for places in self.said.values() for place in places}
        here = dict.fromkeys(
            word.text
            for n, word in enumerate(self.told)
            if word.clause == self.clause and n not in taken and word.is_content
        )
        missing = dict.fromkeys(
            self.asked[n].text
            for n in self.content
            if n not in self.said or self.told[self.place[n]].clause != self.clause
        )
        pairs = product(islice(missing, MOST_RIVALS), islice(here, MOST_RIVALS))
        return max((_alternates(a, b, alike) for a, b in each(pairs)), default=0.0)


def _has_by(text: Iterable[Word]) -> bool:
    return any(word.text == "by" for word in text)


def _alternates(asked: str, told: str, alike: Alike) -> float:
    one, two = number_of(asked), number_of(told)
    if one is not None or two is not None:
        return float(one is not None and two is not None and one != two)
    return max(alike(asked, told), 0.0)


def number_of(word: str) -> str | None:
    """The digits of a number, written as such or as a word up to twelve."""
    return word if word.isdigit() else _NUMBERS.get(word)


def matched(question: str, passage: str, graph: Subgraph) -> Match:
    """The words of a question where a passage says them. The graph's links tell which facts join both texts."""
    asked, told = read(question), read(passage)
    content = tuple(n for n, word in enumerate(asked) if n and word.is_content)
    equal, contrary = _joined(graph, asked, told)
    said, opposed = {}, {}
    for n in content:
        if places := _places(asked[n], told) or equal.get(n, []):
            said[n] = places
        elif places := contrary.get(n, []) or _opposites(asked[n], told):
            opposed[n] = places
    found = {**said, **opposed}
    clause_worth: dict[int, float] = defaultdict(float)
    sentence_worth: dict[int, float] = defaultdict(float)
    for n, places in found.items():
        weight = 1.0 if n in said else 0.6
        for worth, units in (
            (clause_worth, {told[place].clause for place in places}),
            (sentence_worth, {told[place].sentence for place in places}),
        ):
            for unit in units:
                worth[unit] += weight / len(units)
    sentence = max(sentence_worth, key=lambda unit: (sentence_worth[unit], -unit), default=0)
    clauses = sorted({word.clause for word in told if word.sentence == sentence})
    clause = max(clauses, key=lambda unit: (clause_worth[unit], unit), default=0)

    def far(place: int) -> tuple[bool, bool, int]:
        word = told[place]
        return word.clause != clause, word.sentence != sentence, abs(word.clause - clause)

    place = {n: min(places, key=far) for n, places in found.items()}
    return Match(tuple(asked), tuple(told), content, said, opposed, place, clause, sentence)


def coverage(question: str, text: str) -> float:
    """The share of a question's content words, the first word apart, that a text says in any form; 0 of none."""
    told = list({word.text: word for word in read(text)}.values())
    content = [word for word in read(question)[1:] if word.is_content]
    return sum(bool(_places(word, told)) for word in content) / max(len(content), 1)


def _places(word: Word, told: Sequence[Word]) -> list[int]:
    """Where a text has a word: in any form, else by its stem; a number as it is."""
    go_on()
    number = number_of(word.text)
    if number is not None:
        return [n for n, other in enumerate(told) if number_of(other.text) == number]
    forms = _forms(word.text)
    same = [n for n, other in enumerate(told) if forms & _forms(other.text)]
    return same or [n for n, other in enumerate(told) if _share_stem(word.lemma, other.lemma)]


@lru_cache(maxsize=50_000)
def _forms(word: str) -> frozenset[str]:
    return frozenset((word, lemma(word), *verb_bases(word)))


def _share_stem(one: str, two: str) -> bool:
    shorter = min(len(one), len(two))
    stem = max(LEAST_STEM, shorter - 3)
    return shorter >= LEAST_STEM and one[:stem] == two[:stem]


def _opposites(word: Word, told: Sequence[Word]) -> list[int]:
    other = {_OPPOSITES.get(word.text)}
    return [
        n
        for n, there in enumerate(told)
        if there.text in other
        or any(there.lemma == p + word.lemma or word.lemma == p + there.lemma for p in _PREFIXES)
    ]


def _joined(
    graph: Subgraph, asked: Sequence[Word], told: Sequence[Word]
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Words of the passage that a fact makes equal, and contrary, to a word of the question."""
    facts: dict[tuple[int, int], set[str]] = defaultdict(set)
    for head, relation, tail in graph.edges.tolist():
        name = local_name(graph.relations[relation].name)
        facts[head, tail].add(name)
        facts[tail, head].add(f"~{name}")
    at_asked, at_told = ({word.start: n for n, word in enumerate(text)} for text in (asked, told))
    equal: dict[int, list[int]] = defaultdict(list)
    contrary: dict[int, list[int]] = defaultdict(list)
    for one in graph.links:
        for other in graph.links:
            if one.part is not NodeRole.QUESTION or other.part is not NodeRole.PASSAGE:
                continue
            if one.start not in at_asked or other.start not in at_told:
                continue
            between = facts[one.node, other.node]
            kind = None
            if any(name.endswith(_OPPOSED) for name in between):
                kind = contrary
            elif one.node == other.node or any(name.endswith(_EQUAL) for name in between):
                kind = equal
            if kind is not None:
                kind[at_asked[one.start]].append(at_told[other.start])
    return equal, contrary

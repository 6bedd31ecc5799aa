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

from kgqa.answering.inference.polarity import ALL, Word, read, turns
from kgqa.graph.linking.normalising import lemma, verb_bases
from kgqa.graph.meanings import Meaning, means
from kgqa.limits.stopping import each, go_on
from kgqa.types import NodeRole, Span, Subgraph

Similarity = Callable[[str, str], float]
"""How alike two words are used, -1 to 1."""
LEAST_STEM = 4
MOST_RIVALS = 30
"""Words of either text that are compared as rivals; a clause of more is none."""
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

    `content` are places of the question's content words; `stated` has for each that the passage says all places there,
    `opposed` those of words that mean the opposite; `place` the one that counts, near the others. `clause` and
    `sentence` are those that hold most of them.
    """

    question_words: tuple[Word, ...]
    passage_words: tuple[Word, ...]
    content: tuple[int, ...]
    stated: dict[int, list[int]]
    opposed: dict[int, list[int]]
    place: dict[int, int]
    clause: int
    sentence: int

    @property
    def span(self) -> Span:
        """The characters of the sentence that says most of it."""
        inside = [word for word in self.passage_words if word.sentence == self.sentence]
        return Span(inside[0].start, inside[-1].end) if inside else Span(0, 0)

    def _near(self, place: int) -> bool:
        return self.passage_words[place].sentence == self.sentence

    def signs(self) -> tuple[bool, bool]:
        """Whether the passage says the contrary, by the signs of both texts multiplied; whether it denies at all."""
        tokens = {place for place in self.place.values() if self._near(place)}
        clause = {place for place in tokens if self.passage_words[place].clause == self.clause}
        passage_words = [turn for turn in turns(self.passage_words) if turn.scope & tokens]
        question_words = [turn for turn in turns(self.question_words) if turn.scope & set(self.content)]
        denied = any(turn.denies and turn.scope & clause for turn in passage_words)
        return (len(passage_words) + len(question_words) + len(self.opposed)) % 2 == 1, denied

    def asks_for_all(self) -> bool:
        """Whether it is asked of all, where the passage does not speak of all."""
        question_words = {word.text for word in self.question_words} & ALL
        return bool(question_words) and not question_words & {
            w.text for w in self.passage_words if w.sentence == self.sentence
        }

    def swapped(self) -> bool:
        """Whether any three words stand in the clause in the contrary order: who did what to whom."""
        places = [self.place[n] for n in self.content if n in self.stated]
        places = [place for place in places if self.passage_words[place].clause == self.clause]
        before = list(accumulate(places, max))
        behind = list(accumulate(reversed(places), min))[::-1]
        turned = any(most > place > least for most, place, least in zip(before, places, behind, strict=True))
        return turned and _has_by(self.question_words) == _has_by(self.passage_words)

    def rivalry(self, similarity: Similarity) -> float:
        """How alike a word that the clause does not say is to one that it says instead, 0 to 1."""
        taken = {place for places in self.stated.values() for place in places}
        here = dict.fromkeys(
            word.text
            for n, word in enumerate(self.passage_words)
            if word.clause == self.clause and n not in taken and word.is_content
        )
        missing = dict.fromkeys(
            self.question_words[n].text
            for n in self.content
            if n not in self.stated or self.passage_words[self.place[n]].clause != self.clause
        )
        pairs = product(islice(missing, MOST_RIVALS), islice(here, MOST_RIVALS))
        return max((_alternates(a, b, similarity) for a, b in each(pairs)), default=0.0)


def _has_by(text: Iterable[Word]) -> bool:
    return any(word.text == "by" for word in text)


def _alternates(question_words: str, passage_words: str, similarity: Similarity) -> float:
    one, two = number_of(question_words), number_of(passage_words)
    if one is not None or two is not None:
        return float(one is not None and two is not None and one != two)
    return max(similarity(question_words, passage_words), 0.0)


def number_of(word: str) -> str | None:
    """The digits of a number, written as such or as a word up to twelve."""
    return word if word.isdigit() else _NUMBERS.get(word)


def matched(question: str, passage: str, graph: Subgraph) -> Match:
    """The words of a question where a passage says them. The graph's links tell which facts join both texts."""
    question_words, passage_words = read(question), read(passage)
    content = tuple(n for n, word in enumerate(question_words) if n and word.is_content)
    equal, contrary = _joined(graph, question_words, passage_words)
    stated, opposed = {}, {}
    for n in content:
        if places := _places(question_words[n], passage_words) or equal.get(n, []):
            stated[n] = places
        elif places := contrary.get(n, []) or _opposites(question_words[n], passage_words):
            opposed[n] = places
    found = {**stated, **opposed}
    clause_weight: dict[int, float] = defaultdict(float)
    sentence_weight: dict[int, float] = defaultdict(float)
    for n, places in found.items():
        weight = 1.0 if n in stated else 0.6
        for weights, units in (
            (clause_weight, {passage_words[place].clause for place in places}),
            (sentence_weight, {passage_words[place].sentence for place in places}),
        ):
            for unit in units:
                weights[unit] += weight / len(units)
    sentence = max(sentence_weight, key=lambda unit: (sentence_weight[unit], -unit), default=0)
    clauses = sorted({word.clause for word in passage_words if word.sentence == sentence})
    clause = max(clauses, key=lambda unit: (clause_weight[unit], unit), default=0)

    def far(place: int) -> tuple[bool, bool, int]:
        word = passage_words[place]
        return word.clause != clause, word.sentence != sentence, abs(word.clause - clause)

    place = {n: min(places, key=far) for n, places in found.items()}
    return Match(
        tuple(question_words), tuple(passage_words), content, stated, opposed, place, clause, sentence
    )


def coverage(question: str, text: str) -> float:
    """The share of a question's content words, the first word apart, that a text says in any form; 0 of none."""
    passage_words = list({word.text: word for word in read(text)}.values())
    content = [word for word in read(question)[1:] if word.is_content]
    return sum(bool(_places(word, passage_words)) for word in content) / max(len(content), 1)


def _places(word: Word, passage_words: Sequence[Word]) -> list[int]:
    """Where a text has a word: in any form, else by its stem; a number as it is."""
    go_on()
    number = number_of(word.text)
    if number is not None:
        return [n for n, other in enumerate(passage_words) if number_of(other.text) == number]
    forms = _forms(word.text)
    same = [n for n, other in enumerate(passage_words) if forms & _forms(other.text)]
    return same or [n for n, other in enumerate(passage_words) if _share_stem(word.lemma, other.lemma)]


@lru_cache(maxsize=50_000)
def _forms(word: str) -> frozenset[str]:
    return frozenset((word, lemma(word), *verb_bases(word)))


def _share_stem(one: str, two: str) -> bool:
    shorter = min(len(one), len(two))
    stem = max(LEAST_STEM, shorter - 3)
    return shorter >= LEAST_STEM and one[:stem] == two[:stem]


def _opposites(word: Word, passage_words: Sequence[Word]) -> list[int]:
    other = {_OPPOSITES.get(word.text)}
    return [
        n
        for n, there in enumerate(passage_words)
        if there.text in other
        or any(there.lemma == p + word.lemma or word.lemma == p + there.lemma for p in _PREFIXES)
    ]


def _joined(
    graph: Subgraph, question_words: Sequence[Word], passage_words: Sequence[Word]
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Words of the passage that a fact makes equal, and contrary, to a word of the question."""
    facts: dict[tuple[int, int], set[Meaning]] = defaultdict(set)
    for head, relation, tail in graph.edges.tolist():
        known = means(graph.relations[relation])
        facts[head, tail] |= known - {Meaning.KIND}
        facts[tail, head] |= known
    at_question, at_passage = (
        {word.start: n for n, word in enumerate(text)} for text in (question_words, passage_words)
    )
    equal: dict[int, list[int]] = defaultdict(list)
    contrary: dict[int, list[int]] = defaultdict(list)
    for one in graph.links:
        for other in graph.links:
            if one.part is not NodeRole.QUESTION or other.part is not NodeRole.PASSAGE:
                continue
            if one.start not in at_question or other.start not in at_passage:
                continue
            between = facts[one.node, other.node]
            kind = None
            if Meaning.OPPOSITE in between:
                kind = contrary
            elif one.node == other.node or not between.isdisjoint((Meaning.EQUAL, Meaning.KIND)):
                kind = equal
            if kind is not None:
                kind[at_question[one.start]].append(at_passage[other.start])
    return equal, contrary

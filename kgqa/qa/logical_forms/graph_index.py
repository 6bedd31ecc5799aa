"""Indexes over a whole graph: names to ids, its largest classes, and the words of its labels."""

from __future__ import annotations

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import numpy as np
from rapidfuzz import fuzz, process

from kgqa.graph.linking.label_keys import MONTHS, noun_of
from kgqa.graph.linking.normalize import STOP_WORDS, is_known, lemma, plain, split_local_name
from kgqa.graph.relation_types import is_type_relation
from kgqa.graph.retrieval.label_languages import language_called
from kgqa.language.detect import language_of
from kgqa.qa.logical_forms.graph_facts import GraphFacts
from kgqa.qa.logical_forms.language import Form, parse, quoted, show
from kgqa.qa.logical_forms.wording import wording_of
from kgqa.types import Edges, InputError, KnowledgeGraph
from kgqa.verbalize.inflection import is_plural

# Names in logical forms: labels, local names and IRIs to a graph's ids, and back.


MAX_MET = 100
"""Maximum number of neighbours whose relations are fetched from an endpoint, and of facts of each."""


_DATE = re.compile(rf"(?:\d{{1,2}} )?(?:{'|'.join(MONTHS)}) \d{{3,4}}\b|\d{{4}}-\d\d\b", re.IGNORECASE)
_OPPOSITE = re.compile(r"\b(?:[Uu]n|[Nn]on-?)(?!less\b)([^\W\d_]{4,})\b")


class NameLookup:
    """Looks up the entities and relations that a form names by label or IRI.

    Args:
        facts: the graph.
    """

    def __init__(self, facts: GraphFacts) -> None:
        self.facts = facts
        self._relations: dict[str, int] = {}
        self._index()

    def _index(self) -> None:
        facts = self.facts
        for number, relation in enumerate(facts.graph.relations):
            local = relation.name.rstrip("/#").replace("#", "/").replace(":", "/").rsplit("/", 1)[-1]
            for text in (
                relation.name,
                relation.label,
                relation.words,
                local,
                split_local_name(relation.name),
            ):
                if text:
                    self._relations.setdefault(_key(text), number)

    def entity(self, text: str) -> int:
        """The entity of a label or IRI.

        Raises:
            InputError: there is none.
        """
        (number,) = self.facts.graph.ids([text]).tolist()
        if number >= 0:
            return int(number)
        (found,) = self.facts.graph.find([text])
        if not len(found):
            (found,) = self.facts.graph.find([split_local_name(text)])
        if not len(found):
            raise InputError(
                f"{text!r}: no entity of {self.facts.graph.name} has this name; try `kgqa graph search`"
            )
        labels = {int(e): self.facts.label(int(e)) for e in found}
        return min(labels, key=lambda e: labels[e] != text)

    def relation(self, text: str) -> int:
        """The relation of a label, local name or IRI.

        Raises:
            InputError: there is none.
        """
        number = self._relations.get(_key(text))
        first, _, rest = text.partition("/")
        if number is None and rest and _key(rest) not in self._relations:
            number = self._relations.get(
                _key(first)
            )  # a value with its unit is one node: "weight/numericValue"
        if number is None:
            near = difflib.get_close_matches(_key(text), self._relations, n=1, cutoff=0.0)
            hint = (
                f"; the nearest is {self.facts.graph.relations[self._relations[near[0]]].label!r}"
                if near
                else ""
            )
            raise InputError(f"{text!r}: no relation of {self.facts.graph.name}{hint}")
        return number

    def parse(self, text: str) -> Form:
        """Parse an s-expression into a form.

        Raises:
            InputError: it is not a valid form, or a name is unknown.
        """
        if self.facts.graph.is_remote:
            self._meet(quoted(text))
        return parse(text, self.entity, self.relation)

    def _meet(self, names: list[str]) -> None:
        """Fetch the facts of the named entities and their neighbours: an endpoint does not list its relations in
        advance."""
        found = [int(entity) for entities in self.facts.graph.find(names) for entity in entities]
        self.facts.fetch(found)
        self.facts.fetch(
            [end for entity in found for _, end, _ in self.facts.onward(entity)][:MAX_MET], MAX_MET
        )
        self._index()

    def show(self, form: Form) -> str:
        """The s-expression of a form."""
        return show(form, self.facts.label, lambda r: self.facts.graph.relations[r].label)


def _key(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum()) or text


MAX_ENTITIES = 50_000
"""Maximum size of a graph whose labels are indexed, in entities; larger ones rely on the linker alone."""
MAX_CLASSES = 16
"""Number of classes, largest first, that are tried if a question mentions none."""
SIMILAR = 80.0
"""Minimum similarity (rapidfuzz ratio, 0 to 100) for a word to count as a misspelling of another."""
_WORD = re.compile(r"\w+(?:[-.'’&/]\w+)*")
_NAME = re.compile(r"[A-Z]\S")
_NUMBERED = re.compile(r"\b([A-Z][^\W\d_]+) (\d+)\b(?![.,:]\d)")
_ABBREVIATION = re.compile(r"\w*[A-Z]\w*[A-Z]\w*$")
_NOUN_BEHIND = re.compile(rf" (?!(?:{'|'.join(sorted(STOP_WORDS))})\b)[a-z]")
_TITLE = re.compile(
    "Mrs?|Ms|Miss|Mx|Dr|Prof|Professor|Sir|Dame|Lady|Lord|Captain|Saint|St|King|Queen|Prince|Princess|Father|Sister"
    "|Brother|Judge|President|Maestro|Chef|Coach|Nurse|Aunt|Uncle|Herr|Frau|Madame|Inspector|Colonel|Reverend"
)
_BEGINS = re.compile(r"(?:^|[.!?:\"“(])\W*$")
"""Before the first word of a sentence."""
_QUALIFIER = re.compile(r"\s*\([^)]*\)$")
"""A disambiguating qualifier: "planet" does not mention "Mercury (planet)"."""
_MODALS_AND_NAMES = frozenset({"May", "Will"})
"""Modal verbs that are given names where they have a capital letter inside a question."""
_LONG_ENOUGH = 4
MAX_NUMBERS = 200
"""Maximum number of values of a relation that are looked at to tell whether they are small whole numbers."""
MAX_NAMED = 3
"""Maximum number of entities that a partial name may refer to."""


class GraphIndex:
    """Classes and label words of a graph.

    Args:
        graph: the graph; the index is empty if it is remote or too large.
    """

    def __init__(self, graph: KnowledgeGraph) -> None:
        count = graph.entity_count or 0
        self.classes: list[int] = []
        self.labels: list[str] = []
        self._classes_by_noun: dict[str, tuple[int, ...]] = {}
        self._of_word: dict[str, set[int]] = defaultdict(set)
        self._without_accents: dict[str, set[int]] = defaultdict(set)
        self._words: dict[int, list[tuple[str, ...]]] = {}
        self._label: dict[int, str] = {}
        self._literals: set[str] = set()
        self._languages: set[str] = set()
        name_words = (f"{relation.label} {relation.words}" for relation in graph.relations)
        self._relation_words = {word for text in name_words for word in _WORD.findall(text.casefold())}
        self._numbers: dict[str, dict[int, tuple[bool, set[str]]]] = defaultdict(dict)
        if graph.is_remote or not 0 < count <= MAX_ENTITIES:
            return
        entities = np.arange(count, dtype=np.int32)
        edges = graph.neighbours(entities)
        kinds = np.array([is_type_relation(relation) for relation in graph.relations], dtype=bool)
        self._index_numbers(graph, edges)
        instances = Counter(edges.tail[kinds[edges.relation]].tolist()) if len(edges.head) else Counter()
        labels = dict(zip(instances, graph.labels(np.array(list(instances), dtype=np.int32)), strict=True))
        order = sorted(instances, key=lambda entity: (-instances[entity], labels[entity].casefold()))
        self.classes = order[:MAX_CLASSES]
        for entity, name, label in zip(
            entities.tolist(), graph.names(entities), graph.labels(entities), strict=True
        ):
            if name.startswith('"'):
                self._literals.add(label.casefold())
            if name.startswith('"') or not label:
                continue
            others = graph.all_labels(entity)
            self._languages |= {other.language.split("-")[0] for other in others if other.language}
            texts = {label, *(other.text for other in others)}
            self._label[entity] = label.casefold()
            texts |= {shorter for text in texts if (shorter := _QUALIFIER.sub("", text))} - {label}
            self._words[entity] = [
                tuple(_WORD.findall(text.casefold())) for text in texts if not _QUALIFIER.search(text)
            ]
            for words in self._words[entity]:
                for word in words:
                    self._of_word[word].add(entity)
        self._classes_by_noun = _by_noun(labels)
        self._known = list(self._of_word)
        for word, bearers in self._of_word.items():
            self._without_accents[plain(word)] |= bearers

    def _index_numbers(self, graph: KnowledgeGraph, edges: Edges) -> None:
        """Relations whose values are small whole numbers, by the noun that these count or number."""
        for number, relation in enumerate(graph.relations):
            noun = wording_of(relation.label).noun.lower()
            words = noun.removeprefix("number of ").removesuffix(" count").split()
            if not words or len(noun.split()) > len(words) + 2:
                continue
            ends = np.unique(edges.tail[edges.relation == number])
            values = {
                label for label in graph.labels(ends[:MAX_NUMBERS]) if label.isdecimal() and len(label) < 4
            }
            if values and len(values) == len(ends[:MAX_NUMBERS]):
                counts = is_plural(words[-1]) or len(words) < len(noun.split())
                self._numbers[lemma(words[-1])][number] = counts, values

    @cached_property
    def has_dates(self) -> bool:
        """Whether some value is a date with a month; False for graphs that are not indexed."""
        return any(map(_DATE.match, self._literals))

    def with_negations(self, text: str) -> str:
        """A question in which the opposite of a word of a relation by its prefix is that word negated: "not settled"
        for "unsettled" where a relation is called "settled"."""
        known = self._relation_words

        def negated(match: re.Match[str]) -> str:
            low = match[0].lower()
            is_name = (
                low in self._of_word or low in self._literals or (match.start() and match[0][0].isupper())
            )
            is_word = low in known or low in STOP_WORDS or is_name
            return match[0] if is_word or match[1] not in known else f"not {match[1]}"

        return _OPPOSITE.sub(negated, text)

    def numbered(self, noun: str, number: str, many: bool) -> list[int]:
        """The relations that have a number among their values and are called by a noun: those that count it if `many`
        ("four rooms"), else those that number it ("the third floor")."""
        found = self._numbers.get(lemma(noun.lower()), {})
        return [r for r, (counts, values) in found.items() if counts == many and number in values]

    def find(self, text: str, taken: Sequence[tuple[int, int]]) -> list[tuple[int, int, tuple[int, ...]]]:
        """Spans of a text that are partial or misspelt names: (start, end, entities).

        A sequence of words counts if few entities have all of them in their labels. Spans in `taken` are skipped,
        unless a longer sequence contains one.
        """
        if not self._of_word:
            return []
        words = [(m[0], m.start(), m.end()) for m in _WORD.finditer(text)]
        candidates = [self._bearing(word, text) for word, _, _ in words]
        found: list[tuple[int, int, tuple[int, ...]]] = []
        n = 0
        while n < len(words):
            best: tuple[int, set[int]] | None = None
            common: set[int] | None = None
            # names longer than eight words are found by the linker as a whole
            for m in range(n, min(n + 8, len(words))):
                common = candidates[m] if common is None else common & candidates[m]
                if not common:
                    break
                if self._distinct(words[n : m + 1], common) or (
                    n and self._is_head(words[n - 1 : m + 1], common)
                ):
                    best = m, common
            if best is None:
                n += 1
                continue
            start, end = words[n][1], words[best[0]][2]
            telling = [(a, b) for word, a, b in words[n : best[0] + 1] if word.casefold() not in STOP_WORDS]
            # a longer name around a taken span is the better interpretation; an article does not make it longer
            if not any(
                s < end
                and start < e
                and not (start <= s and e <= end and any(b <= s or e <= a for a, b in telling))
                for s, e in taken
            ):
                found.append((start, end, tuple(sorted(best[1], key=self._label.__getitem__)[:MAX_NAMED])))
            n = best[0] + 1
        return found

    def unknown_names(self, text: str, known: Mapping[tuple[int, int], bool]) -> tuple[str, ...]:
        """Words of a text that are names by their capital, and that the graph does not have: "NASA", the "K-99" of
        "Pulsar K-99", or "Loan 9" where there are others.

        Left out are the first words of sentences, words in the spans `known` and next to those that are whole names,
        titles ("Dr"), languages of labels ("in German") and abbreviations before a noun ("the ISBN number"). There are
        none where the graph is not indexed, where all words have capitals, and in German, whose nouns have them.
        """
        found = [word for word in _WORD.finditer(text) if word[0].lower() not in STOP_WORDS]
        if not self._of_word or not any(word[0].islower() for word in found) or language_of(text) == "de":
            return ()
        named = (
            word[0]
            for word in found
            if _NAME.match(word[0])
            and not _BEGINS.search(text[: word.start()])
            and not any(
                s - 2 * whole < word.end() and word.start() < e + 2 * whole for (s, e), whole in known.items()
            )
            and not _TITLE.fullmatch(word[0])
            and not (_ABBREVIATION.match(word[0]) and _NOUN_BEHIND.match(text, word.end()))
            and language_called(word[0]) not in self._languages
            and not self._has(word[0], text)
        )
        return (*named, *(m[0] for m in _NUMBERED.finditer(text) if self._has_other_numbers(m[1], m[2])))

    def _has_other_numbers(self, word: str, number: str) -> bool:
        """Whether the graph has a "Loan 7", but no loan of this number."""
        bearers = self._of_word.get(word.casefold(), ())
        names = [name for e in bearers for name in self._words[e] if name[:1] == (word.casefold(),)]
        numbers = [name[1] for name in names if len(name) == 2 and name[1].isdecimal()]
        return bool(numbers) and number not in numbers

    def _has(self, word: str, text: str) -> bool:
        """Whether a word, or one that it may be a misspelling of, is in a label or in a text of the graph, or a
        month. With another number it is another name."""
        low = word.casefold().removesuffix("'s").removesuffix("’s")
        if low in self._of_word or low in self._relation_words or low in self._words_of_literals:
            return True
        return low.title() in MONTHS or (low.isalpha() and bool(self._bearing(word, text)))

    @cached_property
    def _words_of_literals(self) -> set[str]:
        return {word for literal in self._literals for word in _WORD.findall(literal)}

    def classes_called(self, word: str) -> tuple[int, ...]:
        """The classes with a noun as last word (`_by_noun`): radio and podcast episodes for "episodes"."""
        if word.casefold() in self._relation_words:
            return ()
        one = lemma(word)  # of "sailings" the lemma is "sailing", whose lemma is "sail"
        return self._classes_by_noun.get(one) or self._classes_by_noun.get(lemma(one), ())

    def classes_like(self, noun: str, synonyms: Collection[str]) -> tuple[int, ...]:
        """The classes whose label ends in a synonym of a noun: movies for "films"; none for relations."""
        if lemma(noun) in map(lemma, self._relation_words):
            return ()
        heads = ((kind, lemma(self._label[kind].split()[-1])) for kind in self.classes if kind in self._label)
        return tuple(kind for kind, head in heads if head in synonyms)[:MAX_NAMED]

    def _bearing(self, word: str, text: str) -> set[int]:
        """Entities with a label that contains a word, or a word that it may be a misspelling of."""
        low = word.casefold().removesuffix("'s").removesuffix("’s")
        bare = plain(low)  # "Cafe Zoe" for "Café Zoé"
        if bare != low and low in self._of_word:
            return self._of_word[low]
        if bare in self._without_accents:
            return self._without_accents[bare]
        if bare.endswith("s") and bare[:-1] in self._without_accents:
            return self._without_accents[bare[:-1]]
        if len(low) < _LONG_ENOUGH or low in STOP_WORDS:
            return set()
        found = process.extract(low, self._known, scorer=fuzz.ratio, score_cutoff=SIMILAR, limit=None)
        # only the most similar words: others are different words
        near = [known for known, score, _ in found if len(known) >= _LONG_ENOUGH and score == found[0][1]]
        if word.islower() and is_known(low):
            # "frith" may be "Firth" and "sail" a sailor, but "hotter" is no "potter", "make" no "market"
            longer = lemma(low) == low
            near = [
                k for k in near if k[0] == low[0] and (len(k) < len(low) + 2 or longer and k.startswith(low))
            ]
        return {entity for known in near for entity in self._of_word[known]}

    def _is_head(self, words: Sequence[tuple[str, int, int]], entities: set[int]) -> bool:
        """Whether "the fern" can only mean one entity (ostrich fern, Fern of Ulm), and no relation."""
        (before, _, _), *name_words = (word for word in words)
        if before.casefold() != "the" or len(name_words) > 1 or len(entities) > 1:
            return False
        word = name_words[0][0].casefold().removesuffix("'s").removesuffix("’s")
        return word not in self._relation_words and any(
            name[-1:] == (word,) or name[:2] == (word, "of") for e in entities for name in self._words[e]
        )

    def _distinct(self, words: Sequence[tuple[str, int, int]], entities: set[int]) -> bool:
        """Whether words identify few entities: a whole name, capitalized or with digits, or several words; function
        words alone do not."""
        if len(entities) > MAX_NAMED:
            return False
        name_words = [word for word, _, _ in words]
        telling = [
            w for w, at, _ in words if w.casefold() not in STOP_WORDS or (at and w in _MODALS_AND_NAMES)
        ]
        if not telling:
            return False
        if len(name_words) == 1 and not any(c.isalpha() for c in name_words[0]):
            return any(name == (name_words[0],) for e in entities for name in self._words[e])
        whole = any(len(words) >= len(name) for e in entities for name in self._words[e])
        marked = any(w[0].isupper() or any(c.isdigit() for c in w) for w in telling)
        rare = len(name_words) > 1 and all(len(w) > 1 for w in name_words)
        return whole or marked or rare


def _by_noun(labels: Mapping[int, str]) -> dict[str, tuple[int, ...]]:
    """Classes by the last word of their labels, except words that are the whole label of some class; a "screening
    event" is a "screening" too."""
    found: dict[str, list[int]] = defaultdict(list)
    for kind, label in labels.items():
        found[noun_of(label)].append(kind)
        if (event := label.casefold().removesuffix(" event")) != label.casefold():
            found[noun_of(event)].append(kind)
    return {
        noun: tuple(kinds)
        for noun, kinds in found.items()
        if noun and all(len(_WORD.findall(labels[kind])) > 1 for kind in kinds)
    }

"""Entity linking: longest match over lemmas, with phrasal verbs and verbs that are separated from their objects."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from kgqa.graph.linking.label_keys import noun_of
from kgqa.graph.linking.normalize import (
    ABBREVIATIONS,
    ARTICLES,
    DETERMINERS,
    INDEFINITE,
    OBJECT_PRONOUNS,
    OPENERS,
    PARTICLES,
    PASSIVE,
    STOP_WORDS,
    STOP_WORDS_OF,
    SUBJECTS,
    WORD,
    dictionary_forms,
    has_analyser,
    has_japanese_analyser,
    is_hangul,
    is_korean,
    is_korean_function_word,
    japanese_words,
    lemma,
    people,
    stems,
    verb_bases,
    words,
)
from kgqa.limits.cancellation import cancellable, check_cancelled
from kgqa.types import KnowledgeGraph, Mention

Nearest = Callable[[Sequence[str]], Sequence[Sequence[tuple[int, float]]]]
"""Maps surface forms to the (entity, certainty 0..1) pairs of similar labels, best first."""

_DOUBT = 0.5  # certainty of a partial match, and factor of that of a fuzzy match

_POSSESSIVES = ("'s", "’s")
_MAX_GAP = 3  # words between a verb and its object or particle
_MAX_BACK = 10  # content words before a verb that its pronoun may refer to
_CLAUSE_MARKS = frozenset(',.;:!?()"\n')
_MEMO_SIZE = 400_000  # surface forms in the lookup cache, which is emptied beyond
_AT_ONCE = 5_000  # surface forms asked of a graph in one call
_LONGEST_FIRST = itemgetter(0, 1)


class _Form(NamedTuple):
    """What is known of a word regardless of its context."""

    text: str
    lemma: str
    bases: tuple[str, ...]  # verbs that an -ing form may belong to, other than the lemma
    stems: tuple[str, ...]  # a Korean word without its particles, an English one without its 's
    stop: bool
    particle: bool
    before_object: bool  # may occur between a verb and its object
    before_verb: bool  # may occur between an object and the verb that follows it
    inflected: bool  # looks like a past or -ing form


class _Words(NamedTuple):
    """The words of a text, in parallel lists: forms, character ranges and clause numbers."""

    forms: list[_Form]
    starts: list[int]
    ends: list[int]
    clauses: list[int]


DICTIONARY_ENDING = "다"
"""The ending of Korean predicates in dictionary form."""
LEMMATIZED = frozenset({"de", "es", "fr"})
"""Languages whose words are also looked up in the base form that simplemma gives them."""
SPACELESS = frozenset({"ja"})
"""Languages without blanks between words: their texts are cut into labels of the graph (with the extra `ja` after an
analysis of their words)."""
LONGEST_PIECE = 10
FIRST_IDEOGRAPH = "\u3400"
"""A single character before it (kana, letters) is no word."""

# Words that may be one concept: their places in the text, the key of the lookup cache, and whether there are
# other words between them.
_Gram = tuple[tuple[int, ...], str, bool]
Entities = dict[str, tuple[int, ...]]


@lru_cache(maxsize=100_000)
def _form(word: str) -> _Form:
    base = lemma(word)
    stop = word.replace("’", "'") in STOP_WORDS
    return _Form(
        text=word,
        lemma=base,
        bases=verb_bases(word),
        stems=stems(word) + ((word[:-2],) if word.endswith(_POSSESSIVES) else ()),
        stop=stop,
        particle=word in PARTICLES,
        before_object=not stop or word in DETERMINERS,
        before_verb=word in PASSIVE,
        inflected=word != base and not word.endswith("s"),
    )


def _korean_form(text: str, word: str, start: int, end: int) -> _Form:
    """A word of a Korean text: the dictionary form from the morphological analysis comes before those by rules."""
    form = _form(word)
    if is_korean_function_word(text, start, end):
        return form._replace(stop=True, before_object=False)
    found = dictionary_forms(text, start, end)
    return form._replace(stems=(*found, *form.stems)) if found else form


@lru_cache(maxsize=100_000)
def bases(word: str, language: str) -> tuple[str, ...]:
    """A lower-cased word and its dictionary forms: German nouns have capitals.

    >>> bases("gebaut", "de"), bases("bücher", "de"), bases("건물", "ko")
    (('gebaut', 'bauen'), ('bücher', 'buch'), ('건물',))
    """
    if language not in LEMMATIZED:
        return (word,)
    found = (lemma(word, language), lemma(word.capitalize(), language))
    return tuple(dict.fromkeys((word, *found)))


@lru_cache(maxsize=100_000)
def _foreign_form(word: str, language: str) -> _Form:
    """A word of a text in another language, with its base forms in that language, also without an elided article."""
    whole = re.split("['’]", word)[-1]
    stop = not STOP_WORDS_OF[language].isdisjoint((word, whole))
    return _Form(word, word, (), bases(whole, language), stop, False, not stop, False, False)


def _read(text: str, language: str = "", pieces: Sequence[tuple[str, int, int]] | None = None) -> _Words:
    """Words of a text with the number of their clause: a concept does not extend across punctuation. `pieces` replace
    the words between blanks."""
    found = _Words([], [], [], [])
    clause, last = 0, 0
    korean = is_korean(text) and has_analyser()
    for word, start, end in cancellable(words(text) if pieces is None else pieces):
        gap = text[last:start]
        if len(gap) > 1 and not _CLAUSE_MARKS.isdisjoint(gap):
            before = found.forms[-1].text if found.forms else ""
            shortened = gap == ". " and before in ABBREVIATIONS and not text[start].islower()
            clause += not shortened
        if korean:
            form = _korean_form(text, word, start, end)
        else:
            form = _foreign_form(word, language) if language in STOP_WORDS_OF else _form(word)
        found.forms.append(form)
        found.starts.append(start)
        found.ends.append(end)
        found.clauses.append(clause)
        last = end
    return found


def _spans(text: str) -> list[tuple[str, int, int]]:
    """Surface forms that may be labels within a text without blanks, with their character ranges: runs of words as
    written and with the last in its dictionary form or, without an analyser, all short runs of characters."""
    if not has_japanese_analyser():
        return [
            (text[a:b], a, b)
            for a in range(len(text))
            for b in range(a + 1, min(len(text), a + LONGEST_PIECE) + 1)
            if WORD.fullmatch(text, a, b) and (b - a > 1 or text[a] >= FIRST_IDEOGRAPH)
        ]
    read, found = japanese_words(text), []
    for n, first in enumerate(cancellable(read)):
        for last in read[n:] if first.content else ():
            if last.end - first.start > LONGEST_PIECE:
                break
            key = text[first.start : last.start]
            forms = dict.fromkeys((key + text[last.start : last.end], key + last.base))
            found += [(form, first.start, last.end) for form in forms if WORD.fullmatch(form)]
    return found


class Linker:
    """Links text to the concepts of a graph.

    `max_words` is the maximum number of words of a concept, `max_candidates` that of concepts per mention.
    `nearest` does fuzzy matching, for content words that match nothing; capitalized words are taken for names
    and left out. Lookups are cached, so a running service queries the graph only for new surface forms.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        max_words: int = 5,
        max_candidates: int = 3,
        nearest: Nearest | None = None,
    ) -> None:
        self.graph = graph
        self.max_words = max_words
        self.max_candidates = max_candidates
        self.nearest = nearest
        self._found: Entities = {}
        self._relation_words: set[str] = set()
        self._relations_read = 0

    def link(self, text: str) -> list[Mention]:
        """Mentions of a text in reading order, longer before shorter. Raises InputError as `link_many` does."""
        return self.link_many([text])[0]

    def link_many(self, texts: Sequence[str], language: str = "") -> list[list[Mention]]:
        """Mentions of each text, with one `find` for all of them; `language` is a code where it is not English.

        Contiguous mentions do not overlap (the longest wins), but single words of a verb phrase are also
        mentions: "dig the foundation" mentions that event and a foundation.
        """
        spaceless = language in SPACELESS
        read = [_read(text, language, self._pieces(text, language) if spaceless else None) for text in texts]
        if len(self._found) > _MEMO_SIZE:
            self._found = {}
        # A local reference, since another thread may replace the cache. Korean is not cached: the analysis of
        # a word depends on its context. Nor are other languages: the same word may mean something else in English.
        found = {} if language or any(map(is_korean, texts)) else self._found
        wanted: dict[str, list[str]] = {}
        grams = [list(self._grams(text, found, wanted)) for text in read]
        if wanted:
            self._look_up(wanted, found, language)
        chosen = [_choose(text, list_, found) for text, list_ in zip(read, grams, strict=True)]
        self._by_part(texts, read, chosen)
        if self.nearest is not None and not language:  # it knows the preferred labels
            self._fill(texts, read, chosen)
        return [
            sorted(self._without_people(text, mentions), key=lambda m: (m.start, -m.end, m.entities))
            for text, mentions in zip(texts, chosen, strict=True)
        ]

    def _pieces(self, text: str, language: str) -> list[tuple[str, int, int]]:
        """The labels that a text without blanks between its words holds, as they are in the graph, with their character
        ranges: from the left, the longest first."""
        spans = _spans(text.lower() if len(text.lower()) == len(text) else text)
        known = self.graph.find([key for key, _, _ in spans], language)
        longest: dict[int, tuple[str, int]] = {}
        for (key, start, end), ids in cancellable(list(zip(spans, known, strict=True))):
            if len(ids) and end > longest.get(start, ("", 0))[1]:
                longest[start] = key, end
        at, found = 0, []
        for start in sorted(longest):
            if start >= at:
                key, at = longest[start]
                found.append((key, start, at))
        return found

    def _without_people(self, text: str, mentions: list[Mention]) -> list[Mention]:
        """Drop links of person names to common nouns ("Jack" is no car jack): a name links only to concepts
        with a capitalized label."""
        if not any(text[m.start].isupper() for m in mentions):
            return mentions
        names = {start for start, _ in people(text)}
        capital: dict[tuple[int, ...], bool] = {}
        kept = []
        for m in cancellable(mentions):
            if m.start in names and " " not in text[m.start : m.end]:
                if m.entities not in capital:
                    labels = self.graph.labels(np.array(m.entities))
                    capital[m.entities] = any(label[:1].isupper() for label in labels)
                if not capital[m.entities]:
                    continue
            kept.append(m)
        return kept

    def _grams(self, text: _Words, found: Entities, wanted: dict[str, list[str]]) -> Iterator[_Gram]:
        """Word groups that may be a concept. Those not in the cache `found` are added to `wanted`, with their
        lookup keys, most probable first."""
        forms, clauses = text.forms, text.clauses
        plain = [form.text for form in forms]
        kept = [i for i, word in enumerate(plain) if word not in ARTICLES] or list(range(len(forms)))
        total = len(kept)
        for a, first in enumerate(cancellable(kept)):
            form = forms[first]
            # a short text may be one concept as a whole even if it begins or ends with stop words: the choice "at home"
            whole = a == 0 and total <= self.max_words
            if form.stop and not whole and form.lemma not in OPENERS:
                continue
            run: tuple[int, ...] = (first,)
            if not form.stop or (whole and total == 1):
                if form.text not in found:
                    wanted[form.text] = _keys([form], form.text)
                yield run, form.text, False
            for place in kept[a + 1 : a + self.max_words]:
                if clauses[place] != clauses[first]:
                    break
                last = forms[place]
                run += (place,)
                if form.stop:
                    may_stand = form.lemma in OPENERS and not (last.stop or forms[run[1]].stop)
                else:
                    may_stand = not last.stop or last.particle
                if may_stand or (whole and len(run) == total):
                    name = " ".join(plain[first : place + 1])
                    if name not in found:
                        wanted[name] = _keys([forms[i] for i in run], name)
                    yield run, name, False
        for run, keys in _pronouns(forms):
            name = "?" + " ".join(keys)
            if name not in found:
                wanted[name] = keys
            yield run, name, True
        for run in _gapped(forms, clauses, kept):
            name = "~" + " ".join([plain[i] for i in run])
            if name not in found:
                wanted[name] = _bases([forms[i] for i in run])
            yield run, name, True

    def _look_up(self, wanted: dict[str, list[str]], found: Entities, language: str) -> None:
        keys = list(dict.fromkeys(key for list_ in wanted.values() for key in list_))
        known: dict[str, tuple[int, ...]] = {}
        for at in range(0, len(keys), _AT_ONCE):
            check_cancelled()
            part = keys[at : at + _AT_ONCE]
            entities = self.graph.find(part, language) if language else self.graph.find(part)
            found_here = (tuple(ids[: self.max_candidates].tolist()) for ids in entities)
            known.update(zip(part, found_here, strict=True))
        for name, list_ in wanted.items():
            own = [ids for key in list_ if (ids := known[key])]
            if len(own) > 1 and not is_hangul(list_[0][-1:]):
                found[name] = tuple(dict.fromkeys(i for ids in own for i in ids))[: self.max_candidates]
            else:  # the first key that matches: a Korean word with fewer particles removed is more probable
                found[name] = own[0] if own else ()

    def _by_part(self, texts: Sequence[str], read: list[_Words], chosen: list[list[Mention]]) -> None:
        """Link parts of names: "Curie" for Marie Curie, "1867" for a date in that year, "the goulash" for a
        named one."""
        missing = [
            (row, read[row].forms[n], start, end)
            for row, n, start, end in _uncovered(texts, read, chosen)
            if not texts[row][start].islower() or self._may_be_known(read[row].forms, n)
        ]
        if not missing:
            return
        check_cancelled()
        surfaces = [
            form.lemma if texts[row][start].islower() else form.text.removesuffix("'s").removesuffix("’s")
            for row, form, start, _ in missing
        ]
        distinct = list(dict.fromkeys(surfaces))
        found = dict(zip(distinct, self.graph.find_parts(distinct), strict=True))
        for (row, _, start, end), surface in zip(missing, surfaces, strict=True):
            ids = found[surface]
            known = not texts[row][start].islower() or [surface] == list(map(noun_of, self.graph.labels(ids)))
            if known and len(ids):
                chosen[row].append(Mention(start, end, tuple(ids.tolist()), _DOUBT))

    def _may_be_known(self, forms: list[_Form], place: int) -> bool:
        """Whether a noun may refer to a known entity, as in "the prize" but not in "what prize". Words in the
        label of a relation refer to the relation instead."""
        form, relations = forms[place], self.graph.relations
        if not self.graph.closed_world or form.text != form.lemma:  # "dairies" is no name of one of them
            return False
        if len(relations) != self._relations_read:
            relation_texts = (f"{relation.label} {relation.words}" for relation in relations)
            self._relation_words = {lemma(word) for text in relation_texts for word, _, _ in words(text)}
            self._relations_read = len(relations)
        before = {form.text for form in forms[:place][-2:]}
        return INDEFINITE.isdisjoint(before) and form.lemma not in self._relation_words

    def _fill(self, texts: Sequence[str], read: list[_Words], chosen: list[list[Mention]]) -> None:
        """Link content words without a mention to labels of similar spelling. Capitalized words are taken for
        names and left out, unless they are the whole text."""
        assert self.nearest is not None
        missing = [
            (row, word, start, end)
            for row, n, start, end in _uncovered(texts, read, chosen)
            if not (word := read[row].forms[n].text).isdigit()
            and (len(read[row].forms) == 1 or not texts[row][start].isupper())
        ]
        if not missing:
            return
        distinct = list(dict.fromkeys(word for _, word, _, _ in missing))  # a search takes a millisecond
        found = dict(zip(distinct, self.nearest(distinct), strict=True))
        for row, word, start, end in missing:
            if near := found[word]:
                ids = tuple(entity for entity, _ in near[: self.max_candidates])
                chosen[row].append(Mention(start, end, ids, _DOUBT * near[0][1]))


def _uncovered(
    texts: Sequence[str], read: list[_Words], chosen: list[list[Mention]]
) -> Iterator[tuple[int, int, int, int]]:
    """Content words that no mention covers: number of the text, number of the word, its start and end."""
    for row, (text, found, mentions) in enumerate(zip(texts, read, chosen, strict=True)):
        covered = bytearray(len(text))
        for m in mentions:
            covered[m.start : m.end] = b"\1" * (m.end - m.start)
        for n, (form, start, end) in enumerate(zip(found.forms, found.starts, found.ends, strict=True)):
            if not form.stop and not covered[start]:
                yield row, n, start, end


def _choose(text: _Words, grams: list[_Gram], found: Entities) -> list[Mention]:
    """Mentions by greedy longest match; groups with gaps, and the words of verb phrases, may overlap others."""
    matched = [(-len(run), run, ids, gapped) for run, name, gapped in grams if (ids := found[name])]
    matched.sort(key=_LONGEST_FIRST)  # then leftmost
    taken: set[int] = set()
    seen: set[tuple[int, ...]] = set()
    mentions: list[Mention] = []
    for _, run, ids, gapped in cancellable(matched):
        if run in seen or (not gapped and not taken.isdisjoint(run)):
            continue
        seen.add(run)
        if not gapped and not (len(run) > 1 and _is_verbal(text.forms, run)):
            taken.update(run)
        mentions.append(Mention(text.starts[min(run)], text.ends[max(run)], ids))
    return mentions


def _bases(forms: list[_Form]) -> list[str]:
    """The words in base form, once for each base form that the first word may have."""
    rest = "".join([" " + form.lemma for form in forms[1:]])
    return [base + rest for base in (forms[0].lemma, *forms[0].bases)]


def _keys(forms: list[_Form], plain: str) -> list[str]:
    """Lookup keys of a surface form: as written, in base form, and without the particles of the last word; a Korean
    predicate first in dictionary form."""
    bases = _bases(forms)
    before = plain[: -len(forms[-1].text)]
    written = bases if plain == bases[0] else [plain, *bases]
    stems = [before + stem for stem in forms[-1].stems]
    # 산 is bought, a form of 사다, not a mountain
    is_predicate = stems[:1] and stems[0].endswith(DICTIONARY_ENDING)
    return [*stems[:1], *written, *stems[1:]] if is_predicate else [*written, *stems]


def _pronouns(forms: list[_Form]) -> Iterator[tuple[tuple[int, ...], list[str]]]:
    """Verbs with a pronoun as object, resolved to nouns before it: "my hands were dirty, so I washed them"
    mentions washing hands."""
    before: deque[str] = deque(maxlen=_MAX_BACK)  # content words before the verb
    for place in cancellable(range(1, len(forms))):
        verb = forms[place - 1]
        if place > 1 and not forms[place - 2].stop:
            before.append(forms[place - 2].lemma)
        if forms[place].text in OBJECT_PRONOUNS and not verb.stop:
            nearest = dict.fromkeys(reversed(before))
            if nearest:
                keys = [f"{base} {noun}" for noun in nearest for base in (verb.lemma, *verb.bases)]
                yield (place - 1, place), keys


def _gapped(forms: list[_Form], clauses: list[int], kept: list[int]) -> Iterator[tuple[int, ...]]:
    """Verb and object, or verb and particle, with other words in between; for passives the order is reversed.

    "plant some lovely flowers", "dig the ground up", "the flowers were planted", "the hole that I dug".
    """
    for a, first in enumerate(cancellable(kept)):
        if forms[first].stop:
            continue
        plain = turned = True  # whether the gap so far may be between verb and object; between noun and verb
        for gap, place in enumerate(kept[a + 1 : a + _MAX_GAP + 2]):
            if clauses[place] != clauses[first]:
                break
            form = forms[place]
            if gap:
                if plain and (not form.stop or form.particle):
                    yield (first, place)
                    if gap > 1 and not form.stop and not forms[kept[a + gap]].stop:
                        yield (first, kept[a + gap], place)  # "dig a very deep hole" as "dig deep hole"
                if turned and form.inflected and not form.stop:
                    yield (place, first)
            plain = plain and form.before_object
            turned = turned and form.before_verb
            if not plain and not turned:
                break


def _is_verbal(forms: list[_Form], run: tuple[int, ...]) -> bool:
    """Whether a phrase is a verb with its object, judged by its form and the word before it."""
    first = forms[run[0]]
    before = forms[run[0] - 1].text if run[0] else ""
    article_inside = run[-1] - run[0] >= len(run)
    return article_inside or first.stop or first.inflected or before in SUBJECTS

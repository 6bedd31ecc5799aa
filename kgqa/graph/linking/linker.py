"""Text to mentions of concepts: longest match over lemmas, phrasal verbs, verbs with distant objects."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from kgqa.graph.linking.function_words import (
    ABBREVIATIONS,
    DETERMINERS,
    INDEFINITE,
    OBJECT_PRONOUNS,
    OPENERS,
    PARTICLES,
    PASSIVE,
    STOP_WORDS,
    SUBJECTS,
)
from kgqa.graph.linking.korean import is_hangul, stems
from kgqa.graph.linking.label_keys import noun_of
from kgqa.graph.linking.morphology import dictionary_form, has_analyser, is_korean
from kgqa.graph.linking.normalising import ARTICLES, lemma, verb_bases, words
from kgqa.graph.linking.person_names import people
from kgqa.limits.stopping import each, go_on
from kgqa.types import KnowledgeGraph, Mention

Nearest = Callable[[Sequence[str]], Sequence[Sequence[tuple[int, float]]]]
"""For each surface (entity, certainty 0..1), best first; nothing where nothing is near."""

_DOUBT = 0.5  # a near label is worth half of one that matches, even at certainty 1

_POSSESSIVES = ("'s", "’s")
_MAX_GAP = 3
_MAX_BACK = 10
_CLAUSE_MARKS = frozenset(',.;:!?()"\n')
_MEMO_SIZE = 400_000
_AT_ONCE = 5_000  # surface forms asked of a graph in one call
_LONGEST_FIRST = itemgetter(0, 1)


class _Form(NamedTuple):
    """What is known of a word wherever it stands."""

    text: str
    lemma: str
    bases: tuple[str, ...]  # verbs that an -ing form may be of, beside the lemma
    stems: tuple[str, ...]  # what a Korean word is without its particles, an English one without its 's
    stop: bool
    particle: bool
    before_object: bool  # may stand between a verb and its object
    before_verb: bool  # may stand between an object and the verb that follows it
    inflected: bool  # looks like a past or -ing form


class _Words(NamedTuple):
    """Words of a text, one row each."""

    forms: list[_Form]
    starts: list[int]
    ends: list[int]
    clauses: list[int]


# Words that may be one concept: their places in the text, what they are known by once they have been looked
# up, and whether other words stand between them.
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
    """What is known of a word of Korean text where it stands: the analysis of the text before the rules."""
    form = _form(word)
    found = dictionary_form(text, start, end)
    return form._replace(stems=(found, *form.stems)) if found else form


def _read(text: str) -> _Words:
    """Words of a text with the number of the clause each stands in: no concept crosses punctuation."""
    found = _Words([], [], [], [])
    clause, last = 0, 0
    korean = is_korean(text) and has_analyser()
    for word, start, end in each(words(text)):
        gap = text[last:start]
        if len(gap) > 1 and not _CLAUSE_MARKS.isdisjoint(gap):
            before = found.forms[-1].text if found.forms else ""
            shortened = gap == ". " and before in ABBREVIATIONS and not text[start].islower()
            clause += not shortened
        found.forms.append(_korean_form(text, word, start, end) if korean else _form(word))
        found.starts.append(start)
        found.ends.append(end)
        found.clauses.append(clause)
        last = end
    return found


class Linker:
    """Links text to the concepts of a graph.

    `max_words` bounds the words of one concept, `max_candidates` the concepts of one mention. `nearest` is
    asked for the content words that match nothing (not for names, as far as capitals tell).
    Looked-up surfaces are remembered, so a running service asks the graph only for what is new.
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

    def link_many(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Mentions of each text, with one `find` for all of them.

        Contiguous mentions do not overlap (longest first), but the single words of a verb phrase stay
        mentions of their own: "dig the foundation" is that event, and a foundation too.

        Raises:
            InputError: a text is Korean and the extra `ko` is not installed, or a graph on the network does not
                answer.
        """
        read = [_read(text) for text in texts]
        if len(self._found) > _MEMO_SIZE:
            self._found = {}
        # stays whole if another thread begins a new one; what a Korean word is, the text around it tells
        found = {} if any(map(is_korean, texts)) else self._found
        wanted: dict[str, list[str]] = {}
        grams = [list(self._grams(text, found, wanted)) for text in read]
        if wanted:
            self._look_up(wanted, found)
        chosen = [_choose(text, list_, found) for text, list_ in zip(read, grams, strict=True)]
        self._by_part(texts, read, chosen)
        if self.nearest is not None:
            self._fill(texts, read, chosen)
        return [
            sorted(self._without_people(text, mentions), key=lambda m: (m.start, -m.end, m.entities))
            for text, mentions in zip(texts, chosen, strict=True)
        ]

    def _without_people(self, text: str, mentions: list[Mention]) -> list[Mention]:
        """Jack is no car jack: a person's name means only what the graph writes with a capital too."""
        if not any(text[m.start].isupper() for m in mentions):
            return mentions
        names = {start for start, _ in people(text)}
        capital: dict[tuple[int, ...], bool] = {}
        kept = []
        for m in each(mentions):
            if m.start in names and " " not in text[m.start : m.end]:
                if m.entities not in capital:
                    labels = self.graph.labels(np.array(m.entities))
                    capital[m.entities] = any(label[:1].isupper() for label in labels)
                if not capital[m.entities]:
                    continue
            kept.append(m)
        return kept

    def _grams(self, text: _Words, found: Entities, wanted: dict[str, list[str]]) -> Iterator[_Gram]:
        """What may be a concept; what of it is not found yet is `wanted`: keys, the likeliest first."""
        forms, clauses = text.forms, text.clauses
        plain = [form.text for form in forms]
        kept = [i for i, word in enumerate(plain) if word not in ARTICLES] or list(range(len(forms)))
        total = len(kept)
        for a, first in enumerate(each(kept)):
            form = forms[first]
            # A text that is one concept as a whole may begin and end as it likes: the choice "at home".
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

    def _look_up(self, wanted: dict[str, list[str]], found: Entities) -> None:
        keys = list(dict.fromkeys(key for list_ in wanted.values() for key in list_))
        known: dict[str, tuple[int, ...]] = {}
        for at in range(0, len(keys), _AT_ONCE):
            go_on()
            part = keys[at : at + _AT_ONCE]
            found_here = (tuple(ids[: self.max_candidates].tolist()) for ids in self.graph.find(part))
            known.update(zip(part, found_here, strict=True))
        for name, list_ in wanted.items():
            own = [ids for key in list_ if (ids := known[key])]
            if len(own) > 1 and not is_hangul(list_[0][-1:]):
                found[name] = tuple(dict.fromkeys(i for ids in own for i in ids))[: self.max_candidates]
            else:  # with fewer particles off, a Korean word is likelier
                found[name] = own[0] if own else ()

    def _by_part(self, texts: Sequence[str], read: list[_Words], chosen: list[list[Mention]]) -> None:
        """Names of which a part is said: Curie for Marie Curie, 1867 for a day of it, the goulash if there is one."""
        missing = [
            (row, read[row].forms[n], start, end)
            for row, n, start, end in _uncovered(texts, read, chosen)
            if not texts[row][start].islower() or self._may_be_known(read[row].forms, n)
        ]
        if not missing:
            return
        go_on()
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
        """Whether a noun may stand for a thing that is known, as in "the prize", and not in "what prize"; a word that a
        relation is called by stands for that."""
        form, relations = forms[place], self.graph.relations
        if not self.graph.is_complete or form.inflected:
            return False
        if len(relations) != self._relations_read:
            said = (f"{relation.label} {relation.words}" for relation in relations)
            self._relation_words = {lemma(word) for text in said for word, _, _ in words(text)}
            self._relations_read = len(relations)
        before = {form.text for form in forms[:place][-2:]}
        return INDEFINITE.isdisjoint(before) and form.lemma not in self._relation_words

    def _fill(self, texts: Sequence[str], read: list[_Words], chosen: list[list[Mention]]) -> None:
        assert self.nearest is not None
        missing = [
            (row, word, start, end)
            for row, n, start, end in _uncovered(texts, read, chosen)
            if not (word := read[row].forms[n].text).isdigit()
            and (len(read[row].forms) == 1 or not texts[row][start].isupper())
        ]
        if not missing:
            return
        distinct = list(dict.fromkeys(word for _, word, _, _ in missing))  # a search costs a millisecond
        found = dict(zip(distinct, self.nearest(distinct), strict=True))
        for row, word, start, end in missing:
            if near := found[word]:
                ids = tuple(entity for entity, _ in near[: self.max_candidates])
                chosen[row].append(Mention(start, end, ids, _DOUBT * near[0][1]))


def _uncovered(
    texts: Sequence[str], read: list[_Words], chosen: list[list[Mention]]
) -> Iterator[tuple[int, int, int, int]]:
    """Content words that no mention covers: the row of the text, the number of the word, its start and end."""
    for row, (text, found, mentions) in enumerate(zip(texts, read, chosen, strict=True)):
        covered = bytearray(len(text))
        for m in mentions:
            covered[m.start : m.end] = b"\1" * (m.end - m.start)
        for n, (form, start, end) in enumerate(zip(found.forms, found.starts, found.ends, strict=True)):
            if not form.stop and not covered[start]:
                yield row, n, start, end


def _choose(text: _Words, grams: list[_Gram], found: Entities) -> list[Mention]:
    matched = [(-len(run), run, ids, gapped) for run, name, gapped in grams if (ids := found[name])]
    matched.sort(key=_LONGEST_FIRST)  # then leftmost
    taken: set[int] = set()
    seen: set[tuple[int, ...]] = set()
    mentions: list[Mention] = []
    for _, run, ids, gapped in each(matched):
        if run in seen or (not gapped and not taken.isdisjoint(run)):
            continue
        seen.add(run)
        if not gapped and not (len(run) > 1 and _is_verbal(text.forms, run)):
            taken.update(run)
        mentions.append(Mention(text.starts[min(run)], text.ends[max(run)], ids))
    return mentions


def _bases(forms: list[_Form]) -> list[str]:
    """Words in base form, with each verb that the first of them may be of."""
    rest = "".join([" " + form.lemma for form in forms[1:]])
    return [base + rest for base in (forms[0].lemma, *forms[0].bases)]


def _keys(forms: list[_Form], plain: str) -> list[str]:
    """As it is written, in base form, and without the particles of the last word."""
    bases = _bases(forms)
    before = plain[: -len(forms[-1].text)]
    return [*(bases if plain == bases[0] else [plain, *bases]), *(before + stem for stem in forms[-1].stems)]


def _pronouns(forms: list[_Form]) -> Iterator[tuple[tuple[int, ...], list[str]]]:
    """A verb with a pronoun for its object: "my hands were dirty, so I washed them" is washing hands."""
    before: deque[str] = deque(maxlen=_MAX_BACK)  # content words before the verb
    for place in each(range(1, len(forms))):
        verb = forms[place - 1]
        if place > 1 and not forms[place - 2].stop:
            before.append(forms[place - 2].lemma)
        if forms[place].text in OBJECT_PRONOUNS and not verb.stop:
            nearest = dict.fromkeys(reversed(before))
            if nearest:
                keys = [f"{base} {noun}" for noun in nearest for base in (verb.lemma, *verb.bases)]
                yield (place - 1, place), keys


def _gapped(forms: list[_Form], clauses: list[int], kept: list[int]) -> Iterator[tuple[int, ...]]:
    """Verb and object, or verb and particle, with other words between; passives turned round.

    "plant some lovely flowers", "dig the ground up", "the flowers were planted", "the hole that I dug".
    """
    for a, first in enumerate(each(kept)):
        if forms[first].stop:
            continue
        plain = turned = True  # may the gap so far stand between verb and object, between noun and verb?
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
    """Whether a phrase is a verb with its object, as far as form and the word before tell."""
    first = forms[run[0]]
    before = forms[run[0] - 1].text if run[0] else ""
    article_inside = run[-1] - run[0] >= len(run)
    return article_inside or first.stop or first.inflected or before in SUBJECTS

"""Text to mentions of concepts: longest match over lemmas, phrasal verbs, verbs with distant objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from kgqa.graph.function_words import (
    DETERMINERS,
    OBJECT_PRONOUNS,
    OPENERS,
    PARTICLES,
    PASSIVE,
    STOP_WORDS,
    SUBJECTS,
)
from kgqa.graph.korean import is_hangul, stems
from kgqa.graph.normalising import ARTICLES, lemma, verb_bases, words
from kgqa.types import KnowledgeGraph, Mention

Nearest = Callable[[Sequence[str]], Sequence[Sequence[tuple[int, float]]]]
"""For each surface (entity, certainty 0..1), best first; nothing where nothing is near."""

_DOUBT = 0.5  # a near label is worth half of one that matches, even at certainty 1

_MAX_GAP = 3
_MAX_BACK = 10
_CLAUSE_MARKS = frozenset(',.;:!?()"\n')
_MEMO_SIZE = 400_000


class _Form(NamedTuple):
    """What is known of a word wherever it stands."""

    text: str
    lemma: str
    bases: tuple[str, ...]  # verbs that an -ing form may be of, beside the lemma
    stems: tuple[str, ...]  # what a Korean word is without its particles
    stop: bool
    particle: bool
    before_object: bool  # may stand between a verb and its object
    before_verb: bool  # may stand between an object and the verb that follows it
    inflected: bool  # looks like a past or -ing form


class _Word(NamedTuple):
    form: _Form
    start: int
    end: int
    clause: int


# Words that may be one concept: their places in the text, what to look up (the likeliest first), and whether
# other words stand between them.
_Gram = tuple[tuple[int, ...], list[str], bool]


@lru_cache(maxsize=100_000)
def _form(word: str) -> _Form:
    base = lemma(word)
    stop = word.replace("’", "'") in STOP_WORDS
    return _Form(
        text=word,
        lemma=base,
        bases=verb_bases(word),
        stems=stems(word),
        stop=stop,
        particle=word in PARTICLES,
        before_object=not stop or word in DETERMINERS,
        before_verb=word in PASSIVE,
        inflected=word != base and not word.endswith("s"),
    )


def _read(text: str) -> list[_Word]:
    """Words of a text with the number of the clause each stands in: no concept crosses punctuation."""
    found: list[_Word] = []
    clause, last = 0, 0
    for word, start, end in words(text):
        if start - last > 1 and not _CLAUSE_MARKS.isdisjoint(text[last:start]):
            clause += 1
        found.append(_Word(_form(word), start, end, clause))
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
        self._memo: dict[str, tuple[int, ...]] = {}

    def link(self, text: str) -> list[Mention]:
        """Mentions of a text in reading order, longer before shorter. See `link_many`."""
        return self.link_many([text])[0]

    def link_many(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Mentions of each text, with one `find` for all of them.

        Contiguous mentions do not overlap (longest first), but the single words of a verb phrase stay
        mentions of their own: "dig the foundation" is that event, and a foundation too.
        """
        read = [_read(text) for text in texts]
        grams = [list(self._grams(tokens)) for tokens in read]
        self._look_up(grams)
        chosen = [self._choose(tokens, list_) for tokens, list_ in zip(read, grams, strict=True)]
        if self.nearest is not None:
            self._fill(texts, read, chosen)
        return [sorted(mentions, key=lambda m: (m.start, -m.end, m.entities)) for mentions in chosen]

    def _grams(self, tokens: list[_Word]) -> Iterator[_Gram]:
        forms = [word.form for word in tokens]
        clauses = [word.clause for word in tokens]
        kept = [i for i, form in enumerate(forms) if form.text not in ARTICLES] or list(range(len(forms)))
        total = len(kept)
        for a, first in enumerate(kept):
            form = forms[first]
            # A text that is one concept as a whole may begin and end as it likes: the choice "at home".
            whole = a == 0 and total <= self.max_words
            if form.stop and not whole and form.lemma not in OPENERS:
                continue
            plain, bases = form.text, [form.lemma, *form.bases]
            run: tuple[int, ...] = (first,)
            if not form.stop or (whole and total == 1):
                yield run, [*_keys(plain, bases), *form.stems], False
            for place in kept[a + 1 : a + self.max_words]:
                if clauses[place] != clauses[first]:
                    break
                last, before = forms[place], plain
                for between in range(run[-1] + 1, place + 1):
                    plain += " " + forms[between].text
                bases = [key + " " + last.lemma for key in bases]
                run += (place,)
                if form.stop:
                    may_stand = form.lemma in OPENERS and not (last.stop or forms[run[1]].stop)
                else:
                    may_stand = not last.stop or last.particle
                if may_stand or (whole and len(run) == total):
                    bare = [f"{before} {stem}" for stem in last.stems]
                    yield run, [*_keys(plain, bases), *bare], False
        yield from _pronouns(forms)
        for run in _gapped(forms, clauses, kept):
            rest = "".join([" " + forms[i].lemma for i in run[1:]])
            verb = forms[run[0]]
            yield run, [base + rest for base in (verb.lemma, *verb.bases)], True

    def _look_up(self, grams: list[list[_Gram]]) -> None:
        if len(self._memo) > _MEMO_SIZE:
            self._memo.clear()
        wanted = {key: None for list_ in grams for _, keys, _ in list_ for key in keys}
        unknown = [key for key in wanted if key not in self._memo]
        if unknown:
            for key, ids in zip(unknown, self.graph.find(unknown), strict=True):
                self._memo[key] = tuple(ids[: self.max_candidates].tolist())

    def _entities(self, keys: list[str]) -> tuple[int, ...]:
        found = [ids for key in keys if (ids := self._memo[key])]
        if len(found) < 2 or is_hangul(keys[0][-1:]):  # with fewer particles off, a Korean word is likelier
            return found[0] if found else ()
        return tuple(dict.fromkeys(i for ids in found for i in ids))[: self.max_candidates]

    def _choose(self, tokens: list[_Word], grams: list[_Gram]) -> list[Mention]:
        matched = [(run, ids, gapped) for run, keys, gapped in grams if (ids := self._entities(keys))]
        matched.sort(key=lambda item: (-len(item[0]), item[0]))  # longest first, then leftmost
        taken: set[int] = set()
        seen: set[tuple[int, ...]] = set()
        mentions: list[Mention] = []
        for run, ids, gapped in matched:
            if run in seen or (not gapped and not taken.isdisjoint(run)):
                continue
            seen.add(run)
            if not gapped and not (len(run) > 1 and _is_verbal(tokens, run)):
                taken.update(run)
            mentions.append(Mention(tokens[min(run)].start, tokens[max(run)].end, ids))
        return mentions

    def _fill(self, texts: Sequence[str], read: list[list[_Word]], chosen: list[list[Mention]]) -> None:
        assert self.nearest is not None
        missing = [
            (row, word)
            for row, tokens in enumerate(read)
            for word in tokens
            if not word.form.stop
            and not word.form.text.isdigit()
            and (len(tokens) == 1 or not texts[row][word.start].isupper())
            and not any(m.start <= word.start < m.end for m in chosen[row])
        ]
        if not missing:
            return
        found = self.nearest([word.form.text for _, word in missing])
        for (row, word), near in zip(missing, found, strict=True):
            if near:
                ids = tuple(entity for entity, _ in near[: self.max_candidates])
                chosen[row].append(Mention(word.start, word.end, ids, _DOUBT * near[0][1]))


def _keys(plain: str, bases: list[str]) -> list[str]:
    return bases if plain == bases[0] else [plain, *bases]


def _pronouns(forms: list[_Form]) -> Iterator[_Gram]:
    """A verb with a pronoun for its object: "my hands were dirty, so I washed them" is washing hands."""
    for place in range(1, len(forms)):
        verb = forms[place - 1]
        if forms[place].text in OBJECT_PRONOUNS and not verb.stop:
            before = [form.lemma for form in forms[: place - 1] if not form.stop]
            nearest = dict.fromkeys(reversed(before[-_MAX_BACK:]))
            if nearest:
                keys = [f"{base} {noun}" for noun in nearest for base in (verb.lemma, *verb.bases)]
                yield (place - 1, place), keys, True


def _gapped(forms: list[_Form], clauses: list[int], kept: list[int]) -> Iterator[tuple[int, ...]]:
    """Verb and object, or verb and particle, with other words between; passives turned round.

    "plant some lovely flowers", "dig the ground up", "the flowers were planted", "the hole that I dug".
    """
    for a, first in enumerate(kept):
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


def _is_verbal(tokens: list[_Word], run: tuple[int, ...]) -> bool:
    """Whether a phrase is a verb with its object, as far as form and the word before tell."""
    first = tokens[run[0]].form
    before = tokens[run[0] - 1].form.text if run[0] else ""
    article_inside = run[-1] - run[0] >= len(run)
    return article_inside or first.stop or first.inflected or before in SUBJECTS

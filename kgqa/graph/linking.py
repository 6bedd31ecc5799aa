"""Text to mentions of concepts: longest match over lemmas, phrasal verbs, verbs with distant objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from kgqa.graph.function_words import DETERMINERS, OPENERS, PARTICLES, PASSIVE, STOP_WORDS, SUBJECTS
from kgqa.graph.normalising import ARTICLES, lemma, verb_bases, words
from kgqa.types import KnowledgeGraph, Mention

Nearest = Callable[[Sequence[str]], list[tuple[int, ...]]]

_MAX_GAP = 3
_MEMO_SIZE = 400_000


class _Word(NamedTuple):
    text: str
    start: int
    end: int
    lemma: str
    stop: bool
    clause: int


# Words that may be one concept: their places in the text, what to look up (the likeliest first), and whether
# other words stand between them.
_Gram = tuple[tuple[int, ...], list[str], bool]


@lru_cache(maxsize=100_000)
def _facts(word: str) -> tuple[str, bool]:
    plain = word.replace("’", "'")
    return lemma(word), plain in STOP_WORDS


def _read(text: str) -> list[_Word]:
    """Words of a text with the number of the clause each stands in: no concept crosses punctuation."""
    found: list[_Word] = []
    clause, last = 0, 0
    for word, start, end in words(text):
        between = text[last:start]
        if len(between) > 1 and any(mark in between for mark in ',.;:!?()"\n'):
            clause += 1
        found.append(_Word(word, start, end, *_facts(word), clause))
        last = end
    return found


class Linker:
    """Links text to the concepts of a graph.

    `max_words` bounds the words of one concept, `max_candidates` the concepts of one mention. `nearest` is
    asked for the content words that match nothing: it gives ids for each surface, best first, or nothing.
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
            self._fill(read, chosen)
        return [sorted(mentions, key=lambda m: (m.start, -m.end, m.entities)) for mentions in chosen]

    def _grams(self, tokens: list[_Word]) -> Iterator[_Gram]:
        kept = [i for i, word in enumerate(tokens) if word.text not in ARTICLES] or list(range(len(tokens)))
        total = len(kept)
        for a, first in enumerate(kept):
            text, _, _, base, stop, clause = tokens[first]
            # A text that is one concept as a whole may begin and end as it likes: the choice "at home".
            whole = a == 0 and total <= self.max_words
            if stop and not whole and base not in OPENERS:
                continue
            plain, bases = text, [base, *verb_bases(text)] if text.endswith("ing") else [base]
            run: tuple[int, ...] = (first,)
            if not stop or (whole and total == 1):
                yield run, _keys(plain, bases), False
            for b in range(a + 1, min(a + self.max_words, total)):
                place = kept[b]
                word = tokens[place]
                if word.clause != clause:
                    break
                for between in range(run[-1] + 1, place + 1):
                    plain += " " + tokens[between].text
                bases = [key + " " + word.lemma for key in bases]
                run += (place,)
                if stop:
                    may_stand = base in OPENERS and not (word.stop or tokens[run[1]].stop)
                else:
                    may_stand = not word.stop or word.text in PARTICLES
                if may_stand or (whole and len(run) == total):
                    yield run, _keys(plain, bases), False
        for run in _gapped(tokens, kept):
            text = tokens[run[0]].text
            rest = "".join([" " + tokens[i].lemma for i in run[1:]])
            bases = [tokens[run[0]].lemma, *(verb_bases(text) if text.endswith("ing") else ())]
            yield run, [base + rest for base in bases], True

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
        if len(found) < 2:
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

    def _fill(self, read: list[list[_Word]], chosen: list[list[Mention]]) -> None:
        assert self.nearest is not None
        missing = [
            (row, word)
            for row, tokens in enumerate(read)
            for word in tokens
            if not word.stop
            and not word.text.isdigit()
            and not any(m.start <= word.start < m.end for m in chosen[row])
        ]
        if not missing:
            return
        for (row, word), ids in zip(missing, self.nearest([w.text for _, w in missing]), strict=True):
            if ids:
                chosen[row].append(Mention(word.start, word.end, tuple(ids[: self.max_candidates])))


def _keys(plain: str, bases: list[str]) -> list[str]:
    return bases if plain == bases[0] else [plain, *bases]


def _gapped(tokens: list[_Word], kept: list[int]) -> Iterator[tuple[int, ...]]:
    """Verb and object, or verb and particle, with other words between; passives turned round.

    "plant some lovely flowers", "dig the ground up", "the flowers were planted", "the hole that I dug".
    """
    for a, first in enumerate(kept):
        head = tokens[first]
        if head.stop:
            continue
        plain = turned = True  # may the gap so far stand between verb and object, between noun and verb?
        for b in range(a + 1, min(a + _MAX_GAP + 2, len(kept))):
            word = tokens[kept[b]]
            if word.clause != head.clause:
                break
            gap = b - a - 1
            if gap and plain and (not word.stop or word.text in PARTICLES):
                yield (first, kept[b])
                if gap > 1 and not word.stop and not tokens[kept[b - 1]].stop:
                    yield (first, kept[b - 1], kept[b])  # "dig a very deep hole" as "dig deep hole"
            if gap and turned and not word.stop and _inflected(word):
                yield (kept[b], first)
            plain = plain and (not word.stop or word.text in DETERMINERS)
            turned = turned and (word.text in PASSIVE)
            if not plain and not turned:
                break


def _inflected(word: _Word) -> bool:
    """Whether a word looks like a past or -ing form (no plural and no third person)."""
    return word.text != word.lemma and not word.text.endswith("s")


def _is_verbal(tokens: list[_Word], run: tuple[int, ...]) -> bool:
    """Whether a phrase is a verb with its object, as far as form and the word before tell."""
    first = tokens[run[0]]
    before = tokens[run[0] - 1].text if run[0] else ""
    article_inside = run[-1] - run[0] >= len(run)
    return article_inside or first.stop or _inflected(first) or before in SUBJECTS

"""Text to mentions of concepts: longest match over lemmas, phrasal verbs, verbs with distant objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class _Gram:
    """Words that may be one concept: `tokens` are their places in the text, `keys` what to look up,
    the likeliest first."""

    tokens: tuple[int, ...]
    keys: tuple[str, ...]
    gapped: bool


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
        kept = [i for i, word in enumerate(tokens) if word.text not in ARTICLES]
        if not kept:
            kept = list(range(len(tokens)))
        whole = len(kept)
        for a, first in enumerate(kept):
            for size in range(1, min(self.max_words, len(kept) - a) + 1):
                run = tuple(kept[a : a + size])
                last = tokens[run[-1]]
                if last.clause != tokens[first].clause:
                    break
                if size == whole or _may_stand(tokens, run):
                    yield _gram(tokens, run, False)
        for run in _gapped(tokens, kept):
            yield _gram(tokens, run, True)

    def _look_up(self, grams: list[list[_Gram]]) -> None:
        if len(self._memo) > _MEMO_SIZE:
            self._memo.clear()
        wanted = {key: None for list_ in grams for gram in list_ for key in gram.keys}
        unknown = [key for key in wanted if key not in self._memo]
        if unknown:
            for key, ids in zip(unknown, self.graph.find(unknown), strict=True):
                self._memo[key] = tuple(ids[: self.max_candidates].tolist())

    def _entities(self, gram: _Gram) -> tuple[int, ...]:
        found = [ids for key in gram.keys if (ids := self._memo[key])]
        if len(found) < 2:
            return found[0] if found else ()
        return tuple(dict.fromkeys(i for ids in found for i in ids))[: self.max_candidates]

    def _choose(self, tokens: list[_Word], grams: list[_Gram]) -> list[Mention]:
        matched = [(gram, ids) for gram in grams if (ids := self._entities(gram))]
        matched.sort(key=lambda item: (-len(item[0].tokens), item[0].tokens))  # longest first, then leftmost
        taken: set[int] = set()
        seen: set[tuple[int, ...]] = set()
        mentions: list[Mention] = []
        for gram, ids in matched:
            run = gram.tokens
            if run in seen or (not gram.gapped and any(i in taken for i in run)):
                continue
            seen.add(run)
            if not gram.gapped and not (len(run) > 1 and _is_verbal(tokens, run)):
                taken.update(run)
            places = sorted(run)
            mentions.append(Mention(tokens[places[0]].start, tokens[places[-1]].end, ids))
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


def _may_stand(tokens: list[_Word], run: tuple[int, ...]) -> bool:
    """No concept is of function words alone, or begins or ends with one, "have" and particles excepted."""
    first, last = tokens[run[0]], tokens[run[-1]]
    if len(run) == 1:
        return not first.stop
    begins = not first.stop or (first.lemma in OPENERS and not tokens[run[1]].stop)
    return begins and (not last.stop or (last.text in PARTICLES and not first.stop))


def _gram(tokens: list[_Word], run: tuple[int, ...], gapped: bool) -> _Gram:
    first = tokens[run[0]]
    rest = "".join([f" {tokens[i].lemma}" for i in run[1:]])
    keys = [first.lemma + rest]
    if not gapped:
        plain = " ".join([tokens[i].text for i in range(run[0], run[-1] + 1)])
        if plain != keys[0]:
            keys.insert(0, plain)
    if first.text.endswith("ing"):
        keys += [verb + rest for verb in verb_bases(first.text)]
    return _Gram(run, tuple(keys), gapped)


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

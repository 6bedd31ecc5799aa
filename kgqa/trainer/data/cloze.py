"""Cloze questions: from sentences that mention a fact, and in Korean from statements that a passage supports.

The Korean ones replace a noun of the statement by a question word, as in cloze translation (Lewis et al., 2019,
Unsupervised Question Answering by Cloze Translation); the statements are worded differently from the passage, and the
noun's particle is not part of the answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from kgqa.data.datasets.json_lines import spans_of
from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.normalize import Morpheme, morphemes, normalise, split_local_name, words
from kgqa.types import Example, Ints, KnowledgeGraph, Mention, Question

# Questions from sentences that mention both ends of a fact, with one end masked: align, mask, select (AMS, Ye
# et al., 2019, section 3).


GAP = "___"
"""Replaces the masked concept in the sentence."""
VAGUE = frozenset(
    {"related to", "synonym", "form of", "derived from", "similar to", "distinct from", "antonym"}
)
"""Relations (words of their local names) that are too vague for a sentence to determine the masked
concept."""
MIN_WORDS, MAX_WORDS = 6, 40
"""Length of a sentence that is used."""
AT_ONCE = 256
"""Number of sentences linked at once."""
PER_FACT = 2
"""Maximum number of questions made from one fact."""


def aligned(
    graph: KnowledgeGraph, sentences: Iterable[str], *, count: int, seed: int = 0, choices: int = 5
) -> Iterator[Example]:
    """Multiple-choice questions from sentences and the graph's facts; deterministic for the same arguments.

    "A ___ is a place where you can buy stamps": the masked end of the fact is the correct choice. The
    distractors share relation and other end with it, so that the graph alone does not give the answer and the
    sentence must be read.

    Args:
        sentences: running text, one sentence each.
        count: maximum number of questions.
        choices: number of choices per question; facts with too few distractors are skipped.
    """
    linker, draw = Linker(graph), np.random.default_rng(seed)
    useful = np.array([split_local_name(r.name) not in VAGUE for r in graph.relations] or [False])
    used: dict[tuple[int, int, int], int] = {}
    source = (s for s in sentences if MIN_WORDS <= len(words(s)) <= MAX_WORDS)
    made = 0
    while made < count and (batch := list(islice(source, AT_ONCE))):
        found = linker.link_many(batch)
        for sentence, mentions in zip(batch, found, strict=True):
            example = _question(graph, sentence, mentions, useful, used, draw, choices)
            if example is None:
                continue
            yield replace(example, question=replace(example.question, id=f"ams-{seed}-{made}"))
            made += 1
            if made == count:
                return


def _question(
    graph: KnowledgeGraph,
    sentence: str,
    mentions: Sequence[Mention],
    useful: np.ndarray,
    used: dict[tuple[int, int, int], int],
    draw: np.random.Generator,
    choices: int,
) -> Example | None:
    places = {m.entities[0]: m for m in mentions if m.entities and m.certainty == 1.0}
    if len(places) < 2:
        return None
    entities = np.array(sorted(places), dtype=np.int32)
    edges = graph.neighbours(entities)
    inside = np.isin(edges.head, entities) & np.isin(edges.tail, entities) & (edges.head != edges.tail)
    inside &= useful[edges.relation]
    rows = np.flatnonzero(inside)
    for row in draw.permutation(rows).tolist():
        fact = int(edges.head[row]), int(edges.relation[row]), int(edges.tail[row])
        one, other = places[fact[0]], places[fact[2]]
        if used.get(fact, 0) >= PER_FACT or (one.start < other.end and other.start < one.end):
            continue
        for hidden_tail in draw.permutation([True, False]).tolist():
            kept, hidden = (fact[0], fact[2]) if hidden_tail else (fact[2], fact[0])
            side, beyond = (edges.head, edges.tail) if hidden_tail else (edges.tail, edges.head)
            # the concepts that the kept end is joined to by the same relation, in the same direction
            distractors = np.unique(beyond[(edges.relation == fact[1]) & (side == kept)])
            labels = _labels(graph, distractors, hidden, sentence, draw, choices)
            if labels is None:
                continue
            used[fact] = used.get(fact, 0) + 1
            order = draw.permutation(choices)
            mention = places[hidden]
            text = f"{sentence[: mention.start]}{GAP}{sentence[mention.end :]}"
            return Example(Question(text, tuple(labels[i] for i in order)), choice=int(np.argmin(order)))
    return None


def _labels(
    graph: KnowledgeGraph,
    distractors: Ints,
    hidden: int,
    sentence: str,
    draw: np.random.Generator,
    choices: int,
) -> list[str] | None:
    """The masked concept's label, then those of distractors that the sentence does not mention; None if too
    few."""
    if len(distractors) < choices:
        return None
    drawn = [hidden, *(int(e) for e in draw.permutation(distractors)[: 3 * choices] if e != hidden)]
    labels = [label.replace("_", " ") for label in graph.labels(np.array(drawn, dtype=np.int32))]
    normalised = f" {normalise(sentence)} "
    chosen = [labels[0]]
    for label in labels[1:]:
        key = normalise(label)
        if key and f" {key} " not in normalised and key not in {normalise(c) for c in chosen}:
            chosen.append(label)
    return chosen[:choices] if len(chosen) >= choices else None


NOUNS = frozenset(("NNG", "NNP", "SN", "SL", "SH", "NR", "XSN", "XPN"))
NUMBERS = frozenset(("SN", "NR"))
TOPICS = ("은", "는")
PARTICLES = (("로", "으로"), ("가", "이"), ("를", "을"), ("와", "과"))
"""Forms of particles after a vowel, and after a consonant."""
MOST = 2
"""Maximum number of questions from one statement."""
_MAX_PLACES = 2
_ENDINGS = {
    "했다": "했는가",
    "었다": "었는가",
    "았다": "았는가",
    "였다": "였는가",
    "이다": "인가",
    "있다": "있는가",
}


def cloze_questions(
    statements: Sequence[Example], seed: int = 0, unanswerable: float = 0.15
) -> Iterator[Example]:
    """Questions with answers in the statements' passages; a share of them gets another passage, so they are
    unanswerable."""
    draw = random.Random(f"cloze/{seed}")
    borne_out = [example for example in statements if example.yes_no_label]
    for example in borne_out:
        made = list(_made(example))
        for question in draw.sample(made, min(MOST, len(made))):
            other = draw.choice(borne_out).question.passage
            answer = question.question.passage_text[slice(*question.spans[0])]
            if draw.random() < unanswerable and other is not None and answer not in other.text:
                yield replace(question, question=replace(question.question, passage=other), spans=())
            else:
                yield question


def _made(example: Example) -> Iterator[Example]:
    """A question for each noun of a statement that occurs in the passage, in few places."""
    question, statement = example.question, example.question.text.strip().rstrip(".?")
    found = morphemes(statement)
    for begin, end in _runs(found):
        start, stop = found[begin].start, found[end - 1].end
        noun = statement[start:stop]
        after = found[end] if end < len(found) else None
        spans = spans_of(question.passage_text, [noun])
        if not spans or len(spans) > _MAX_PLACES or (after and after.form in TOPICS):
            continue
        if len(noun) < 2 or not (after is None or after.tag[0] in "JS" or after.tag == "VCP"):
            continue
        text = statement[:start] + _fitting(_question_word(found[begin:end], after), statement[stop:])
        yield Example(replace(question, text=_asked(text), id=f"{question.id}-{begin}"), spans=spans)


def _runs(found: Sequence[Morpheme]) -> Iterator[tuple[int, int]]:
    """Half-open morpheme ranges of noun sequences; a number and its counter are one."""
    begin = 0
    while begin < len(found):
        end = begin
        while end < len(found) and (
            found[end].tag in NOUNS
            or (found[end].tag == "NNB" and end > begin and found[end - 1].tag in NUMBERS)
        ):
            end += 1
        if end > begin:
            yield begin, end
        begin = max(end, begin + 1)


def _question_word(run: Sequence[Morpheme], after: Morpheme | None) -> str:
    if run[-1].tag == "NNB":
        return f"몇 {run[-1].form}"
    if run[0].tag in NUMBERS:
        return "얼마"
    return "어디" if after and after.form == "에서" else "무엇"


def _fitting(word: str, rest: str) -> str:
    """A word with the rest of the sentence, with the particle in the form for the word's last sound."""
    closed = (ord(word[-1]) - ord("가")) % 28 > 0
    for particles in PARTICLES:
        given, wanted = (particles[1 - closed], particles[closed])
        if rest.startswith(given) and not rest.startswith(wanted):
            return word + wanted + rest.removeprefix(given)
    return word + rest


def _asked(text: str) -> str:
    ending = next((end for end in _ENDINGS if text.endswith(end)), "")
    return text.removesuffix(ending) + _ENDINGS.get(ending, "") + "?"

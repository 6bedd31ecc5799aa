"""The decide step, and two small ones: yes/no questions with an unrelated passage (`disregard`) and multi-span answers
(`aggregate`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgqa.graph.linking.normalize import lemma
from kgqa.language.overlap import content
from kgqa.models.collation.collate import ANSWER_TYPES
from kgqa.models.heads import FIRST_YES_NO_CLASS, says_yes_or_no
from kgqa.qa.evidence import sentence_around
from kgqa.qa.state import ComputedAnswer, QAState, QAStates
from kgqa.types import NO, YES, Candidate, InputError, Item, KnowledgeGraph, Question, Source, Span

RETIRED = ("following", "rereading", "verdicts", "silence", "computing", "stated", "everyday_gloss")
"""Keys of removed steps and settings, which cards of older readers may still have."""

LIKELY, SURE = 0.8, 0.9
"""Confidences between which `DecisionConfig.sure` lowers; lower ones stay."""

# Parameters that depend on a reader's weights, stored in its card; the defaults are those of a reader that has not been
# calibrated. `kgqa evaluate --calibrate` fits `calibration` and `graph_free_weight`.


class DecisionConfig(BaseModel):
    """Decision parameters, fitted on questions that the reader was not trained on; unknown keys are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    calibration: Mapping[str, tuple[float, float]] = {}
    """Platt scaling (a, b) for each `Candidate.sort`: the confidence is sigmoid(a * logit(probability) + b)."""
    sure: Mapping[str, float] = {}
    """For each `Candidate.sort`, the confidence from which enough answers are correct to tell them with `SURE` and
    more; `SURE` if there is none."""
    no_answer_threshold: float | None = None
    """No-answer threshold for open questions; None: no answer is given if "no answer" is the most probable class."""
    graph_free_weight: float = Field(0.0, ge=0, le=1)
    """Ensemble weight of the graph-free pass; open-world graphs only."""
    graph_free_choices: float | None = Field(None, ge=0, le=1)
    """The same for questions with choices; None: `graph_free_weight`."""
    gloss: float = Field(0.0, ge=0, le=1)
    """Weight of the English reader in the mean of both log-probabilities of concepts and answer types; see
    `kgqa/qa/gloss.py`."""
    unrelated: float = Field(0.0, ge=0, le=1)
    """Ensemble weight of a pass without the passage, for yes/no questions that share no content word with their passage
    (`disregard`); 0: no such pass."""
    rewording: float = Field(0.0, ge=0, le=1)
    """Ensemble weight of a reading in another wording (`reword`), for questions that have one; 0: no such reading."""

    @classmethod
    def of_card(cls, card: Mapping[str, Any]) -> DecisionConfig:
        """The decision parameters in a reader's card. Raises InputError if they are invalid."""
        table = {name: value for name, value in card.get("decision", {}).items() if name not in RETIRED}
        try:
            return cls.model_validate(table)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(
                f"the reader's card: decision {place}: {first['msg']}; copy the checkpoint again, or fit it anew with "
                "`kgqa evaluate --calibrate`"
            ) from None

    def graph_free(self, graph: KnowledgeGraph, question: Question) -> float:
        """Ensemble weight of the graph-free pass of a question over a graph; 0 for a closed-world graph."""
        if graph.closed_world:
            return 0.0
        of_choices = self.graph_free_choices if question.choices else None
        return self.graph_free_weight if of_choices is None else of_choices

    def confidence(self, candidate: Candidate) -> float:
        """Calibrated probability that a candidate is correct."""
        a, b = self.calibration.get(candidate.sort, (1.0, 0.0))
        # a saturated probability has no finite logit
        p = min(max(candidate.score, 1e-6), 1 - 1e-6)
        logit = torch.logit(torch.tensor(p))
        return float(torch.sigmoid(a * logit + b))

    def cautious(self, sort: str, confidence: float) -> float:
        """A confidence that reaches `SURE` only at the level in `sure`, interpolated between `LIKELY`, that and 1."""
        level = self.sure.get(sort, SURE)
        return float(np.interp(confidence, (0, LIKELY, level, 1), (0, LIKELY, SURE, 1)))


# The decide step: one ranking of all candidates, an answer and its confidence.

CANDIDATES = 10
"""Number of concepts in the ranking."""


def decide(states: QAStates, decision: DecisionConfig, closed_world: bool = False) -> QAStates:
    """Rank the candidates of each question, a computed one first, with source and confidence."""
    return tuple(_decided(state, decision, closed_world) for state in states)


def _decided(state: QAState, decision: DecisionConfig, closed_world: bool) -> QAState:
    if state.computed is not None and not len(state.scores.answer_type):  # the read step skipped it
        return _computed(state, state.computed, state.computed.others, decision)
    found = ranked(state, closed_world)
    # a question may have both a passage and a closed-world graph; the passage wins only if it is more probable
    if state.computed is not None and not _passage_answers(found[0], state.computed):
        left = (replace(c, score=c.score * (1 - state.computed.candidate.score)) for c in found)
        return _computed(state, state.computed, left, decision)
    state = replace(state, computed=None)
    none = next((candidate for candidate in found if candidate.source is Source.NONE), None)
    if none is not None and decision.no_answer_threshold is not None:
        rest = [candidate for candidate in found if candidate is not none]
        found = [none, *rest] if none.score > decision.no_answer_threshold else [*rest, none]
    best, source = found[0], found[0].source
    confidence = decision.confidence(replace(best, score=whole_probability(best, found)))
    confidence = min(confidence, 1 - state.doubt)
    candidates = [candidate for candidate in found if candidate.source is not Source.NONE]
    return replace(
        state,
        candidates=tuple(candidates),
        best=best,
        source=source,
        none=none.score if none else 0.0,
        confidence=decision.cautious(best.sort, confidence),
    )


def whole_probability(best: Candidate, candidates: Iterable[Candidate]) -> float:
    """Probability of an answer; a span also gets a share of the probability of the spans that overlap it.

    "roll up his sleeve" and "to roll up his sleeve" are the same answer with its probability split in two.
    Each overlapping span counts with its Dice coefficient (Dice, 1945, over characters), so that the sum is
    the expected overlap with the gold span.
    """
    span = best.span
    if span is None or best.sort != Source.PASSAGE.value:
        return best.score
    # yes and no have the evidence sentence as span, which is not an answer span
    same = ((c.score, c.span) for c in candidates if c.span and c.sort == best.sort)
    return min(1.0, sum(score * _dice(span, other) for score, other in same))


def _dice(one: Span, other: Span) -> float:
    shared = max(0, min(one.end, other.end) - max(one.start, other.start))
    return 2 * shared / (one.end - one.start + other.end - other.start)


def _computed(
    state: QAState, computed: ComputedAnswer, others: Iterable[Candidate], decision: DecisionConfig
) -> QAState:
    """The state with the computed answer ranked before all other candidates."""
    best = computed.candidate
    found = [best, *(c for c in others if c.text != best.text)]
    # the score of an answer computed from a passage is calibrated already
    confidence = best.score if computed.of_passage else decision.confidence(best)
    return replace(
        state,
        candidates=tuple(c for c in found if c.source is not Source.NONE),
        best=best,
        source=best.source,
        none=next((c.score for c in found if c.source is Source.NONE), 0.0),
        confidence=confidence,
        evidence=computed.evidence,
        items=computed.items,
    )


def _passage_answers(best: Candidate, computed: ComputedAnswer) -> bool:
    """Whether the best candidate is from the passage, and the computed answer is neither more probable nor computed
    from the passage itself."""
    answer = computed.candidate
    computed_wins = computed.of_passage or (answer.source is not Source.NONE and answer.score > best.score)
    return best.source is Source.PASSAGE and not computed_wins


def ranked(state: QAState, closed_world: bool = False) -> list[Candidate]:
    """Candidates of a state, best first; "no answer" is a candidate of source `Source.NONE` among them."""
    scores = state.scores
    if not state.is_open:
        return list(scores.choices)
    weights = scores.answer_type.softmax(-1).tolist()
    answer_type = dict(zip(ANSWER_TYPES, weights, strict=False))
    concepts: Sequence[Candidate] = scores.concepts
    if not closed_world:  # in a closed-world graph, "Painted" may be a name
        concepts = one_form_each(concepts, state.question.text)
    found = merged(answer_type, scores.spans, concepts[:CANDIDATES])
    yes_no = weights[FIRST_YES_NO_CLASS:]
    source = Source.PASSAGE if scores.spans else Source.KNOWLEDGE
    return with_yes_no(found, answer_type, yes_no, source, _sentence(state) if yes_no else None)


def _sentence(state: QAState) -> Span | None:
    """The evidence sentence for yes or no: the one with the best span."""
    passage, spans = state.question.passage_text, state.scores.spans
    best = spans[0].span if spans else None
    return sentence_around(passage, best) if passage and best else None


_PAST = re.compile(r"\bwhat (?:had |has )?(?:happened|did)\b", re.IGNORECASE)
_HAPPENED = re.compile(r"\bhappened to ([^?.,]+)", re.IGNORECASE)


def one_form_each(concepts: Sequence[Candidate], question: str) -> list[Candidate]:
    """Merge concepts that differ only by a verb's past form ("melt", "melted"), and sum their probabilities: the past
    form is kept if the question asks what happened or what somebody did, else the most probable one. What happened to
    the vase may or may not name it: "broken vase" and "broken" are one.

    Plurals and -ing forms are different concepts ("glass" and "glasses", "paint" and "painting").

    >>> found = [Candidate(text, Source.KNOWLEDGE, p) for text, p in (("melt", 0.5), ("freeze", 0.3), ("melted", 0.2))]
    >>> [(c.text, c.score) for c in one_form_each(found, "What happened to the ice?")]
    [('melted', 0.7), ('freeze', 0.3)]
    """
    asked_past, thing = _PAST.search(question) is not None, _HAPPENED.search(question)
    named = content(thing[1]) if thing else frozenset()
    groups: dict[str, list[Candidate]] = {}
    for concept in concepts:
        words = concept.text.split()
        others = [word for word in words if not content(word) & named]
        groups.setdefault(" ".join(map(_verb_base, others or words)), []).append(concept)
    best = (
        replace(
            min(group, key=lambda c: (len(c.text.split()), asked_past and c.text == base)),
            score=sum(c.score for c in group),
        )
        for base, group in groups.items()
    )
    return sorted(best, key=lambda c: -c.score)


def _verb_base(word: str) -> str:
    # "Turkey" is not a "turkey"
    return lemma(word) if word.islower() and not word.endswith(("s", "ing")) else word


def merged(
    answer_type: Mapping[Source, float], spans: Sequence[Candidate], concepts: Sequence[Candidate]
) -> list[Candidate]:
    """Merge the candidates of two heads: the answer-type classifier decides the source of the first one;
    within a source the order of the head is kept."""
    pool = {Source.PASSAGE: spans, Source.KNOWLEDGE: concepts}
    none = Candidate("", Source.NONE, answer_type[Source.NONE])
    # a source without candidates cannot win, whatever the classifier predicts
    open_to = [source for source in pool if pool[source]]
    source = max([*open_to, Source.NONE], key=lambda s: answer_type[s])
    weighed = [replace(c, score=c.score * answer_type[s]) for s in open_to for c in pool[s]]
    weighed.sort(key=lambda c: (c.source is not source, -c.score, c.text))
    return [none, *weighed] if source is Source.NONE else [*weighed, none]


def with_yes_no(
    ranked: list[Candidate],
    answer_type: Mapping[Source, float],
    yes_no: Sequence[float],
    source: Source,
    sentence: Span | None,
) -> list[Candidate]:
    """Insert yes and no, supported by a sentence or by knowledge, among the candidates; they come first if their mean
    probability exceeds that of every other answer type."""
    if not yes_no:
        return ranked
    probabilities = zip((YES, NO), yes_no, strict=True)
    both = [Candidate(text, source, value, span=sentence) for text, value in probabilities]
    if says_yes_or_no(list(answer_type.values()), yes_no):
        return [*sorted(both, key=lambda c: -c.score), *ranked]
    rest = sorted([*ranked[1:], *both], key=lambda c: (c.source is Source.NONE, -c.score))
    return [*ranked[:1], *rest]


# The disregard step: a yes/no question whose passage has nothing to do with it is answered without the passage.


def disregard(states: QAStates, alone: Callable[[QAStates], QAStates], share: float) -> QAStates:
    """Replace the scores of yes/no questions with an unrelated passage by those of a pass without the passage.

    A passage may be unrelated if it has no content word in common with the question, and the answer-type classifier
    predicts no answer, or yes or no. Such questions are read again by `alone`, without their passage, and the
    log-probabilities of the two passes are averaged; `share` is the weight of the second. If that mean predicts yes or
    no, the scores of the second pass replace those of the first, and no sentence is cited.
    """
    doubted = [n for n, state in enumerate(states) if share and _is_doubtful(state)]
    if not doubted:
        return states
    again = alone(tuple(QAState(replace(states[n].question, passage=None)) for n in doubted))
    found = list(states)
    for n, no_passage in zip(doubted, again, strict=True):
        first, second = (d.scores.answer_type.log_softmax(-1) for d in (states[n], no_passage))
        # a geometric mean of the two distributions: one confident pass cannot be outvoted by a flat one
        weights = ((1 - share) * first + share * second).softmax(-1).tolist()
        if says_yes_or_no(weights[:FIRST_YES_NO_CLASS], weights[FIRST_YES_NO_CLASS:]):
            found[n] = replace(states[n], scores=no_passage.scores, subgraphs=no_passage.subgraphs)
    return tuple(found)


def _is_doubtful(state: QAState) -> bool:
    """Whether the passage may be unrelated to an open question that may be a yes/no question (see `disregard`)."""
    question = state.question
    if state.computed is not None or not state.is_open or not question.passage_text:
        return False
    weights = state.scores.answer_type.softmax(-1).tolist()
    sources, yes_no = weights[:FIRST_YES_NO_CLASS], weights[FIRST_YES_NO_CLASS:]
    doubtful = max(sources) == sources[ANSWER_TYPES.index(Source.NONE)] or says_yes_or_no(sources, yes_no)
    return doubtful and not content(question.text) & content(question.passage_text)


# The aggregate step: a span that lists several items becomes a multi-span answer.

_PARTICLE = r"(?:과|와|하고)\s+"
"""The Korean "and", which follows its noun."""
_JOINS = re.compile(rf",\s+(?:and\s+|or\s+)?|\s+(?:and|or)\s+|(?<=[가-힣]){_PARTICLE}")
_LAST = re.compile(rf"\s(?:and|or)\s|{_PARTICLE}")
LONGEST = 6
"""Longest item, in words."""


def aggregate(states: QAStates) -> QAStates:
    """Split spans that list several items; computed answers have their own items."""
    return tuple(
        state if state.source is Source.KNOWLEDGE else replace(state, items=_joined(state))
        for state in states
    )


def _joined(state: QAState) -> tuple[Item, ...]:
    """The items listed by the best span. "A and B" may be one name, so two items are split only if one of
    them alone is a candidate too."""
    span, passage = state.best.span, state.question.passage_text
    if state.source is not Source.PASSAGE or span is None or state.best.text != passage[slice(*span)]:
        return ()
    found = [Span(span.start + start, span.start + end) for start, end in parts(state.best.text)]
    # "salt and pepper", "Smith and Sons": if a part were an answer, it would be a candidate too
    if len(found) == 2 and not {c.span for c in state.candidates} & set(found):
        return ()
    return tuple(Item(passage[place.start : place.end], span=place) for place in found)


def parts(text: str) -> list[Span]:
    """Spans of the items that a text lists with commas and a final "and" or "or"; empty if it is not a list.

    >>> ["bread, cheese, and two jars of honey"[a:b] for a, b in parts("bread, cheese, and two jars of honey")]
    ['bread', 'cheese', 'two jars of honey']
    >>> ["빛과 물과 이산화탄소"[a:b] for a, b in parts("빛과 물과 이산화탄소")]
    ['빛', '물', '이산화탄소']
    >>> parts("Paris, France")
    []
    """
    joins = list(_JOINS.finditer(text))
    if not joins or not _LAST.search(joins[-1][0]) or re.search(r"[.;:?!]\s", text):
        return []
    places = [0, *(place for join in joins for place in join.span()), len(text)]
    found = [Span(*pair) for pair in zip(places[::2], places[1::2], strict=True)]
    short = all(0 < len(text[start:end].split()) <= LONGEST for start, end in found)
    return found if short else []

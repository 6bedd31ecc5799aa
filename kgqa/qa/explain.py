"""The explain, ground and attribute steps: select evidence, drop it if the passage does not matter, and rank
evidence paths by leave-one-out attribution."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kgqa.graph.linking.normalize import STOP_WORDS, is_korean, people, words
from kgqa.graph.retrieval.ablation import without_edges
from kgqa.models.collation.rows import CandidateRow
from kgqa.models.load import concept_log_odds
from kgqa.qa.evidence import MIN_ATTRIBUTION, answer_paths, is_shared, path_nodes, targets, touches_answer
from kgqa.qa.reasons import reasons, worth
from kgqa.qa.render import edited_facts, remove
from kgqa.qa.retrieve import Retriever
from kgqa.qa.state import QAState, QAStates, Score, ScoredRow
from kgqa.types import NO, YES, Answer, Candidate, Evidence, EvidencePath, Question, Source, Subgraph

MIN_FALL = math.log(2)
"""Minimum drop of the log-odds of a yes or no without its passage for the passage to count as evidence: the
odds are halved."""
TOLD = 0.6
"""Share of the words of a yes/no question about something certain that its passage has, if the passage answers it: so
are 1,016 more of 5,198 training questions that passages settle, and 1 more of 510 of common sense."""
MAX_PATHS = 3
MAX_ALONE = 2
"""Maximum number of paths that are left out one at a time, before all paths are left out together."""
SHARED = 0.2
"""Penalty of a path that supports the runner-up as well."""
MAX_CHARACTERS = 6_000
"""Budget of text that is scored again for attribution, in characters; enough for all tests of a short question."""


def explain(states: QAStates, is_open_world: bool) -> QAStates:
    """Select the supporting span or evidence paths of each answer."""
    return tuple(
        state if state.computed is not None else replace(state, evidence=evidence_of(state, is_open_world))
        for state in states
    )


def best_row(best: Candidate, question: Question, rows: Sequence[ScoredRow]) -> ScoredRow:
    """The row of a question with the highest score for the answer."""

    def rated(read: ScoredRow) -> float:
        nodes = read.row.subgraph.nodes
        if best.source is Source.CHOICE and question.choices[read.row.choice] == best.text:
            return read.choice
        if best.source is Source.KNOWLEDGE and best.concept in nodes:
            return float(read.concepts.log_softmax(0)[nodes.index(best.concept)])
        return float("-inf")

    return max(rows, key=rated)


def evidence_of(state: QAState, is_open_world: bool = True) -> Evidence:
    """The answer span, or paths to the answer's nodes: those that the reasoner decoded, else those that a
    person would give as the reason (`kgqa.qa.reasons`). Over an open-world graph there may be none: then no
    fact decides the answer."""
    best, question = state.best, state.question
    read = best_row(best, question, state.scores.rows)
    graph, attention = read.row.subgraph, read.fused.attention
    if best.source is Source.PASSAGE:
        return Evidence(span=best.span, subgraph=graph, score=best.score)
    if not len(graph.edges):
        return Evidence(subgraph=graph, score=best.score)
    own = [path for node in targets(best, graph) for path in _own_path(read, node)]
    paths = own or reasons(best, question, graph, None, is_open_world)
    # over a closed-world graph an answer always rests on facts, so some path is shown
    if own or (not paths and not is_open_world):
        # fill up with the cheapest paths, by attention where the reasoner has any
        cost = None
        if attention is not None:
            weight = attention[read.row.first_edge : read.row.first_edge + len(graph.edges)]
            # at most 1 + ln(10^4) = 10.2 per fact: an edge without attention is expensive, not impassable
            cost = (1.0 - weight.clamp(min=1e-4).log()).numpy()
        own.sort(key=lambda path: -path.score)
        paths = list({path.steps: path for path in [*own, *answer_paths(best, graph, cost)]}.values())
    attribution = None if paths or best.source is not Source.KNOWLEDGE else 0.0
    return Evidence(paths=tuple(paths[:MAX_PATHS]), subgraph=graph, score=best.score, attribution=attribution)


def _own_path(read: ScoredRow, node: int) -> list[EvidencePath]:
    """The path that the reasoner decoded for a node, as a list of at most one; empty if it decodes no paths.

    A decoded step e below E is edge e of the batch, followed from head to tail; E + e is the same edge
    followed from tail to head.
    """
    fused, row = read.fused, read.row
    if fused.paths is None or fused.path_weight is None or fused.attention is None:
        return []
    count, place = len(fused.attention), row.first_node + 1 + node
    steps = [step for step in fused.paths[place].tolist() if step >= 0]
    if not steps:
        return []
    edges = tuple(step % count - row.first_edge for step in steps)
    return [EvidencePath(edges, tuple(step < count for step in steps), float(fused.path_weight[place]))]


def ground(states: QAStates, deciding: Callable[[QAStates], QAStates]) -> QAStates:
    """Check that a yes or no depends on the passage that it cites.

    It does not if question and passage share no word, or if the answer is about as probable without the
    passage, unless the question is about what the passage tells. Its source is then `Source.KNOWLEDGE`, and no
    sentence is cited as evidence. `deciding` takes a question to the decision on its answer.
    """
    is_asked = [state.best.sort == "yes_no" and state.computed is None for state in states]
    places = [place for place, is_one in enumerate(is_asked) if is_one]
    apart = [place for place in places if not _shares_words(states[place])]
    asked = [place for place in places if place not in apart and not _is_about(states[place].question)]
    no_passage = tuple(QAState(replace(states[place].question, passage=None)) for place in asked)
    again = deciding(no_passage) if no_passage else ()
    apart += [p for p, without in zip(asked, again, strict=True) if not _falls(states[p].best, without)]
    return tuple(_ungrounded(state) if place in apart else state for place, state in enumerate(states))


def _shares_words(state: QAState) -> bool:
    asked, told = (_beginnings(text) for text in (state.question.text, state.question.passage_text))
    return not asked.isdisjoint(told)


_DEFINITE = re.compile(
    r"\b(?:the|this|that|these|those|my|our|your|his|her|its|their|he|she|it|they|we|you|I|there)\b",
    re.IGNORECASE,
)
_PAST = re.compile(rf"(?:^|[,.;:!?]\s+)(?:did|was|were|had)\s+({_DEFINITE.pattern})?", re.IGNORECASE)


def _is_about(question: Question) -> bool:
    """Whether a yes/no question that shares words with its passage can only be about what the passage tells: it asks
    what a certain thing did or was, about something certain in mostly the words of the passage, or about a person of
    it. What is so in general does not say whether Tom paid, but it does say whether dinosaurs laid eggs, even beside a
    toy dinosaur."""
    texts = question.text, question.passage_text
    asked, told = ({text[a:b] for a, b in people(text)} for text in texts)
    words, known = map(_beginnings, texts)
    past, is_certain = _PAST.search(question.text), _DEFINITE.search(question.text)
    is_told = (past and (past[1] or words <= known)) or (
        is_certain and len(words & known) >= TOLD * len(words)
    )
    return bool(is_told) or not asked.isdisjoint(told)


def _beginnings(text: str) -> set[str]:
    """The first letters of the words of a text, without function words: a crude stem that inflections share."""
    found = (word for word, _, _ in words(text) if word not in STOP_WORDS)
    # a Korean syllable carries about as much as two Latin letters
    return {word[:2] if is_korean(word) else word[:4] for word in found}


def _falls(best: Candidate, without: QAState) -> bool:
    """Whether a yes or no changes without the passage, or becomes far less probable."""
    left = next((c.score for c in without.candidates if c.text == best.text), 0.0)
    return without.best.text != best.text or log_odds(best.score) - log_odds(left) >= MIN_FALL


def _ungrounded(state: QAState) -> QAState:
    def known(candidate: Candidate) -> Candidate:
        is_yes_no = candidate.sort == "yes_no"
        return replace(candidate, source=Source.KNOWLEDGE, span=None) if is_yes_no else candidate

    evidence = Evidence(subgraph=state.evidence.subgraph, score=state.evidence.score, attribution=0.0)
    candidates = tuple(map(known, state.candidates))
    return replace(
        state, best=known(state.best), candidates=candidates, source=Source.KNOWLEDGE, evidence=evidence
    )


def attribute(states: QAStates, retriever: Retriever, score: Score) -> QAStates:
    """Leave-one-out attribution of evidence paths: how far the answer's log-odds drop without the facts of a path.

    The first path whose removal lowers them is ranked first. Paths are tested in order of their probability
    of being a reason; those shared with the runner-up get a penalty.
    """
    return tuple(_attributed(state, retriever, score) for state in states)


def _attributed(state: QAState, retriever: Retriever, score: Score) -> QAState:
    """Leave out one path, then the next, then all of them, until the answer's log-odds drop or the budget of
    `MAX_CHARACTERS` is spent. Questions that are too long for a single test keep their order of paths."""
    if state.candidates and state.candidates[0].text in (YES, NO):
        return state  # its evidence, if any, is the fact or sentence that states it
    question, evidence = state.question, _reranked(state, retriever)
    state = state if evidence is state.evidence else replace(state, evidence=evidence)
    row = len(question.text) + len(question.passage_text) + 100  # the subgraph costs about 100 characters

    affordable = MAX_CHARACTERS // (row * (1 if state.is_open else 2)) - 1
    if not evidence.paths or affordable < 1 or evidence.query:
        return state
    paths = sorted(evidence.paths, key=lambda path: SHARED * (not _discriminates(path, state)) - worth(path))
    tested = [[path] for path in paths[:MAX_ALONE]] + [paths] * (len(paths) > 1)
    before, most = _known_log_odds(state), 0.0
    for left_out in tested[:affordable]:
        steps = {step for path in left_out for step in path.steps}
        # a second relation between the same two concepts would hide the effect
        facts = sorted({edge for step in steps for edge in _facts_between(evidence.subgraph, step)})
        ((drop,), before) = _drops(state, [facts], retriever, score, before)
        most = max(most, drop)
        if drop >= MIN_ATTRIBUTION:
            paths = [left_out[0], *(path for path in paths if path is not left_out[0])]
            break
    return replace(state, evidence=replace(evidence, paths=tuple(paths), attribution=most))


def _reranked(state: QAState, retriever: Retriever) -> Evidence:
    """The evidence with its paths ranked again with the fact encoder's features, which `explain` leaves out
    to keep batches fast."""
    evidence, encoder = state.evidence, retriever.encoder
    is_ranked = evidence.query or not (evidence.paths or evidence.attribution == 0.0)
    if encoder is None or is_ranked or state.candidates[0].source is Source.PASSAGE:
        return evidence
    is_open_world = not retriever.graph.closed_world
    found = reasons(state.candidates[0], state.question, evidence.subgraph, encoder.encode, is_open_world)
    if not found and not is_open_world:
        return evidence
    return replace(evidence, paths=tuple(found[:MAX_PATHS]), attribution=None if found else 0.0)


def _discriminates(path: EvidencePath, state: QAState) -> bool:
    """Whether a path discriminates between the answer and the runner-up. If a fact relates the two (camera,
    tripod), all paths do except those through the runner-up itself."""
    graph, best = state.evidence.subgraph, state.candidates[0]
    kin = {*graph.edges[touches_answer(best, graph)][:, ::2].flat}
    return not any(
        runner_up in path_nodes(path, graph) if runner_up in kin else is_shared(path, graph, runner_up)
        for runner_up in _runner_up_nodes(state)
    )


def _facts_between(graph: Subgraph, edge: int) -> list[int]:
    """All facts between head and tail of a fact, in either direction: removing one of them alone would change
    little."""
    ends = np.sort(graph.edges[:, ::2], axis=1)
    return np.flatnonzero((ends == ends[edge]).all(1)).tolist()


def _runner_up_nodes(state: QAState) -> list[int]:
    """Nodes of the runner-up: the first candidate that is neither the answer nor one of its items."""
    graph = state.evidence.subgraph
    taken = {state.candidates[0].text, *(item.text for item in state.items)}
    runner_up = next((c for c in state.candidates if c.text not in taken), None)
    if runner_up is None:
        return []
    named = zip(graph.nodes, graph.labels, strict=True)
    text = runner_up.text.casefold()
    return [
        n for n, (name, label) in enumerate(named) if name == runner_up.concept or label.casefold() == text
    ]


def _known_log_odds(state: QAState) -> float | None:
    """Log-odds of a concept from the read step, if the question was read in one row; None for other answers,
    whose log-odds must be scored again."""
    concept, rows = state.candidates[0].concept, state.scores.rows
    if concept is None or len(rows) != 1 or not len(rows[0].concepts):
        return None
    return float(concept_log_odds(rows[0].concepts, rows[0].row.subgraph.nodes, concept))


def log_odds_drops(
    state: QAState, removed: Sequence[Sequence[int]], retriever: Retriever, score: Score
) -> list[float]:
    """Drop of the answer's log-odds without each of several sets of facts (rows of the evidence's edges).

    A choice is scored over the remaining facts of its subgraph. For a concept the subgraph is retrieved anew,
    since facts also affect the relevance of concepts.
    """
    return _drops(state, removed, retriever, score, None)[0]


def _drops(
    state: QAState, removed: Sequence[Sequence[int]], retriever: Retriever, score: Score, before: float | None
) -> tuple[list[float], float]:
    """The drops, and the log-odds with all facts, which are computed unless given as `before`."""
    best, question, shown = state.candidates[0], state.question, state.evidence.subgraph
    with_all = [shown] if before is None else []
    if best.source is Source.CHOICE:
        chosen = replace(question, choices=(best.text,))
        variants = (without_edges(shown, edges) for edges in removed)
        rows = [CandidateRow(chosen, graph) for graph in (*with_all, *variants)]
    elif best.concept is None:
        return [0.0] * len(removed), 0.0
    else:
        edits = (edited_facts([remove(shown, edge) for edge in edges]) for edges in removed)
        edited = (retriever.with_edits(*some).retrieve(question)[0] for some in edits)
        rows = [CandidateRow(question, graph, best.concept) for graph in (*with_all, *edited)]
    scores = score(rows).tolist()
    # the first row was scored with all facts
    known = scores.pop(0) if before is None else before
    return [known - value for value in scores], known


def near_edges(answer: Answer, limit: int) -> list[int]:
    """Facts to test, at most `limit`: those of the evidence paths, then those of the answer's concept."""
    graph = answer.evidence.subgraph
    if answer.source in (Source.PASSAGE, Source.NONE) or not len(graph.edges):
        return []
    shown = [edge for path in answer.evidence.paths for edge in path.steps]
    best = answer.candidates[0]
    node = graph.nodes.index(best.concept) if best.concept in graph.nodes else -1
    touching = np.flatnonzero((graph.edges[:, ::2] == node).any(1)).tolist()
    return list(dict.fromkeys([*shown, *touching]))[:limit]


def probability(candidates: Sequence[Candidate], candidate: Candidate) -> float:
    """Uncalibrated probability of a candidate in a list; 0 if it is not in it."""
    same = (candidate.text, candidate.source, candidate.concept)
    return next(
        (other.score for other in candidates if (other.text, other.source, other.concept) == same), 0.0
    )


def log_odds(probability: float) -> float:
    """Log-odds of a probability, which is clipped to 1e-7 .. 1 - 1e-7."""
    p = min(max(probability, 1e-7), 1 - 1e-7)
    return float(np.log(p / (1 - p)))

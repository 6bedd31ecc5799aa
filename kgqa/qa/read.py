"""The read step: one forward pass over questions, passages and subgraphs, in one batch.

Over open-world common-sense graphs irrelevant facts can mislead the reader, while its encoder knows much of what is
relevant anyway. There the scores may be averaged with those of a second, graph-free pass (an ensemble of two inputs).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from kgqa.batch import PackedCandidates
from kgqa.graph.retrieval.ablation import no_facts
from kgqa.language.detect import ENGLISH
from kgqa.language.rewording import reworded
from kgqa.models.collation.collate import Collated
from kgqa.models.collation.rows import Similarity
from kgqa.models.load import LoadedReader
from kgqa.models.reader import Scores
from kgqa.qa.negated import as_read, inverted
from kgqa.qa.state import HeadScores, QAState, QAStates, ScoredRow
from kgqa.types import Candidate, Question, Subgraph

Weight = Callable[[Question], float]


def read(
    states: QAStates,
    reader: LoadedReader,
    graph_free: Weight | None = None,
    similarity: Similarity | None = None,
) -> QAStates:
    """Score the candidates of each question. `graph_free` is the ensemble weight of the graph-free pass, without which
    there is none; `similarity` helps to choose the windows of a long passage.

    A question without a passage whose answer was computed is skipped.
    """
    wanted = [n for n, d in enumerate(states) if d.computed is None or d.question.passage_text]
    asked = tuple(replace(states[n], question=as_read(states[n].question)) for n in wanted)
    found = {
        n: _restored(states[n], state)
        for n, state in zip(wanted, _read_all(asked, reader, graph_free, similarity), strict=True)
    }
    return tuple(found[n] if n in found else d.spent(encode=0.0, reason=0.0) for n, d in enumerate(states))


def _restored(asked: QAState, state: QAState) -> QAState:
    if state.question == asked.question:
        return state
    return replace(
        state, question=asked.question, scores=replace(state.scores, choices=inverted(state.scores.choices))
    )


def _read_all(
    states: QAStates, reader: LoadedReader, graph_free: Weight | None, similarity: Similarity | None
) -> QAStates:
    if not states:
        return ()
    once = _read(states, reader, similarity)
    weights = [graph_free(state.question) if graph_free else 0.0 for state in states]
    known = [n for n, state in enumerate(states) if weights[n] and any(len(g.edges) for g in state.subgraphs)]
    if not known:
        return once
    stripped = (replace(once[n], subgraphs=_graph_free(once[n])) for n in known)
    again = dict(zip(known, _read(tuple(stripped), reader, similarity), strict=True))
    return tuple(
        replace(
            state, scores=_averaged(state.scores, again[n].scores, weights[n]), timing_ms=again[n].timing_ms
        )
        if n in again
        else state
        for n, state in enumerate(once)
    )


def _graph_free(state: QAState) -> tuple[Subgraph, ...]:
    """The subgraphs of the graph-free pass: choices are read without any node, as in training without a graph; the
    nodes of an open question stay, so that the same concepts can be scored."""
    return (Subgraph(),) if state.question.choices else tuple(map(no_facts, state.subgraphs))


def _read(states: QAStates, reader: LoadedReader, similarity: Similarity | None) -> QAStates:
    begin = time.perf_counter()
    questions, graphs = [state.question for state in states], [state.subgraphs for state in states]
    collated = reader.collate(questions, graphs, similarity)
    encoded = time.perf_counter()
    scores, heads = reader.heads(collated.batch), reader.network
    spans = heads.span.decode(scores.span, collated)
    concepts = heads.concept.decode(scores.concept, collated, reader.settings.max_nodes)
    choices = heads.choice.decode(scores.choice, collated)
    share = 1000 / len(states)
    encode, reason = share * (encoded - begin), share * (time.perf_counter() - encoded)
    return tuple(
        replace(
            state,
            scores=HeadScores(
                answer_type=scores.answer_type[n],
                spans=tuple(spans[n]),
                concepts=tuple(concepts[n]),
                choices=tuple(choices[n]),
                rows=_rows(n, state, collated, scores),
            ),
        ).spent(encode=encode, reason=reason)
        for n, state in enumerate(states)
    )


def reword(
    states: QAStates,
    reading: Callable[[QAStates], QAStates],
    language: Callable[[Question], str],
    share: float,
) -> QAStates:
    """Average the scores of open questions with those of a second reading in the wording of `reworded`, where that is
    another; `share` is the weight of the second, 0: there is none.

    Paraphrases of a question then get more alike scores; evidence is taken from the first reading.
    """
    other: dict[int, QAState] = {}
    for n, state in enumerate(states if share else ()):
        question = state.question
        if state.computed is None and state.is_open and not state.is_glossed:
            text = reworded(question.text, language(question) or ENGLISH)
            if text != question.text:
                other[n] = QAState(replace(question, text=text))
    again = dict(zip(other, reading(tuple(other.values())) if other else (), strict=True))
    return tuple(
        replace(state, scores=_averaged(state.scores, again[n].scores, share)) if n in again else state
        for n, state in enumerate(states)
    )


def _averaged(full: HeadScores, graph_free: HeadScores, share: float) -> HeadScores:
    """Average the scores of the two passes; the rows, which evidence is taken from, stay those of the full pass."""
    return replace(
        full,
        answer_type=(1 - share) * full.answer_type + share * graph_free.answer_type,
        spans=_mean(full.spans, graph_free.spans, share),
        concepts=_mean(full.concepts, graph_free.concepts, share),
        choices=_mean(full.choices, graph_free.choices, share),
    )


def _mean(full: Sequence[Candidate], graph_free: Sequence[Candidate], share: float) -> tuple[Candidate, ...]:
    """Candidates of two passes by their mean probability, best first."""
    first, second = ({replace(c, score=0.0): c.score for c in found} for found in (full, graph_free))
    only = [c for c in graph_free if replace(c, score=0.0) not in first]
    keys = [replace(c, score=0.0) for c in (*full, *only)]
    mean = (replace(c, score=(1 - share) * first.get(c, 0.0) + share * second.get(c, 0.0)) for c in keys)
    return tuple(sorted(mean, key=lambda c: -c.score))


def _rows(number: int, state: QAState, collated: Collated, scores: Scores) -> tuple[ScoredRow, ...]:
    packed = collated.batch.packed
    if packed is not None and state.question.choices:
        return _packed_rows(number, state, collated, scores, packed)
    return tuple(
        ScoredRow(
            row,
            0.0 if packed is not None else float(scores.choice[place]),
            scores.concept[row.first_node + 1 : row.first_node + 1 + len(row.subgraph.nodes)],
            scores.fused,
        )
        for place, row in enumerate(collated.rows)
        if row.question == number
    )


def _packed_rows(
    number: int, state: QAState, collated: Collated, scores: Scores, packed: PackedCandidates
) -> tuple[ScoredRow, ...]:
    """Split packed choices into rows of their own, each with its own subgraph, as if they had not been packed."""
    # they are indexed by the packed row's edges, not by those of a choice's own subgraph
    fused = replace(scores.fused, attention=None, paths=None)
    graphs = state.subgraphs
    return tuple(
        ScoredRow(
            replace(collated.rows[place], choice=choice, subgraph=graphs[choice if len(graphs) > 1 else 0]),
            score,
            scores.concept[:0],
            fused,
        )
        for place, choice, score in zip(
            packed.row.tolist(), packed.choice.tolist(), scores.choice.tolist(), strict=True
        )
        if collated.rows[place].question == number
    )

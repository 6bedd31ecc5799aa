"""Following facts: which way from what is named, over one fact or two, leads to what is asked.

Ways are told apart by their relations, so that all things one relation leads to are judged together, as relation paths
are ranked in knowledge-base question answering (Yih et al., 2015, section 3; Sun et al., 2019, PullNet). What a way's
words share with the question's chooses the few that the reader then reads; its judgement decides between those.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgqa.answering.decision import Following
from kgqa.answering.draft import Reached
from kgqa.answering.ways.features import (
    asks_when_or_where,
    is_doing,
    nested_in,
    rest_of,
    way_features,
    wordings,
)
from kgqa.answering.ways.ways import Way, between_in, mentioned_in, middle_of, sources_of, ways
from kgqa.graph.linking.function_words import STOP_WORDS
from kgqa.graph.linking.person_names import people
from kgqa.graph.meanings import is_by, is_kind
from kgqa.language.overlap import overlap
from kgqa.language.relations import is_oblique
from kgqa.metrics import accepts
from kgqa.models.collation.rereading import CandidateRow, as_choices, choice_rows, part_of, shortened
from kgqa.types import EvidencePath, Example, NodeRole, Question, Relation, Subgraph

MOST_READ = 10
"""Ways that are read against the question."""
_ASKED_NOUN = re.compile(
    r"\b(?:what|which)\s+((?:[\w-]+\s+){0,2}?[\w-]+)\s+"
    r"(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|must)\b",
    re.IGNORECASE,
)
_KIND_OF = re.compile(r"(?:kind|type|sort)s? of\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=\s)(?<!do )(?<!does )(?<!did )(?!I\b)[A-Z]\w+")
FAR_AHEAD = 3.0
MOST_RELATIONS = 2_000
"""Relations of a graph that are compared with the question's words."""


def as_choices_along(
    question: Question, subgraph: Subgraph, chosen: Sequence[tuple[Way, int]]
) -> tuple[Question, list[Subgraph]]:
    """Ends of ways as choices of the question, each with the facts of its way and what kind of thing it is.

    `chosen` has each way with the place of one of its ends.
    """
    question, subgraph = shortened(question, subgraph)
    parts, labels = [], []
    for way, place in chosen:
        end, rows = way.ends[place], list(way.edges[place])
        rows += [row for row in _kind_of(subgraph, end) if row not in rows]
        labels.append(subgraph.labels[end])
        parts.append(part_of(subgraph, rows, [way.source, *mentioned_in(subgraph)], end))
    return replace(question, choices=tuple(labels)), parts


def _kind_of(subgraph: Subgraph, node: int) -> list[int]:
    own = np.flatnonzero(subgraph.edges[:, 0] == node).tolist()
    return [row for row in own if is_kind(subgraph.relations[int(subgraph.edges[row, 1])])][:1]


class Plan(NamedTuple):
    """The ways of one question: what their words say for each, and those that are to be read, best first."""

    ways: list[Way]
    scores: NDArray[np.float64]
    """(W,) by these features alone."""
    chosen: list[tuple[int, int]]
    """Way, and the place of the end that stands for it."""
    lacks: float
    """How much more of the question's words the graph says of other things than of what is named, 0 to 1."""
    weights: Following


def plan(
    question: str,
    subgraph: Subgraph,
    first: Mapping[str, float],
    relations: Sequence[Relation] = (),
    most: int = MOST_READ,
    weights: Following = Following(),
) -> Plan:
    """The ways of a question, and up to `most` that are read.

    `first` are the first probabilities of concepts by name, `relations` those of the whole graph.
    """
    found = ways(subgraph)
    features = way_features(question, subgraph, found)
    scores = sum(
        (getattr(weights, name) * column for name, column in features._asdict().items()), np.zeros(len(found))
    )
    best = [max(range(len(way.ends)), key=lambda at: _first(subgraph, way.ends[at], first)) for way in found]
    scores += weights.asked_for * np.array([ends_with(question, subgraph, way) for way in found], dtype=float)
    prior = [
        scores[n] + weights.first * _first(subgraph, way.ends[best[n]], first) for n, way in enumerate(found)
    ]
    order = sorted(range(len(found)), key=lambda n: -prior[n])[:most]
    lacks = lacking(question, subgraph, found, relations)
    return Plan(found, scores, [(n, best[n]) for n in order], lacks, weights)


def ends_with(question: str, subgraph: Subgraph, way: Way) -> bool:
    """Whether the last relation of a way is what the question asks for by a noun: "what soil does it grow in"."""
    if (match := _ASKED_NOUN.search(question)) is None:
        return False
    relation, forward = way.steps[-1]
    last = subgraph.relations[relation]
    if _KIND_OF.match(match[1]):
        return forward and is_kind(last)
    return forward and max(overlap(last.label, match[1]), overlap(last.words, match[1])) >= 0.7


def lacking(question: str, subgraph: Subgraph, found: Sequence[Way], relations: Sequence[Relation]) -> float:
    """How much better some relation of the graph is told by the question's words than those that the ways have: ways of
    one fact, unless the question names a thing by what it is to another, or a record stands between."""
    sources = sources_of(subgraph)
    rests = wordings(question, rest_of(question, subgraph, sources))
    nested = any(nested_in(question, subgraph, sources))
    between = between_in(subgraph, sources)
    own = {
        step
        for way in found
        if nested or len(way.steps) == 1 or middle_of(subgraph, way) in between
        for step, _ in way.steps
    }

    doing = any(is_doing(question, subgraph, source) for source in sources)
    timed = not nested and asks_when_or_where(question)

    def shared(relation: Relation) -> float:
        if (doing and is_oblique(relation)) or (timed and is_by(relation)):
            return 0.0
        wording = f"{relation.label} {relation.words}"
        return max((overlap(rest, wording) + overlap(wording, rest)) / 2 for rest in rests)

    if not rests[0]:
        return 0.0
    best = max((shared(relation) for relation in relations[:MOST_RELATIONS]), default=0.0)
    return max(0.0, best - max((shared(subgraph.relations[step]) for step in own), default=0.0))


def _first(subgraph: Subgraph, node: int, first: Mapping[str, float]) -> float:
    return float(np.log(max(first.get(subgraph.nodes[node], 0.0), 1e-6)))


def reached_by(
    made: Plan, subgraph: Subgraph, first: Mapping[str, float], read: Sequence[float]
) -> list[Reached]:
    """Every node that a way which was `read` (scores in the order of `made.chosen`) leads to, best first."""
    found: dict[int, Reached] = {}
    weights = made.weights
    for (number, _), score in zip(made.chosen, read, strict=True):
        way = made.ways[number]
        sure = [float(np.log(subgraph.weights[list(rows)].clip(1e-3)).sum()) for rows in way.edges]
        for end, rows, less in zip(way.ends, way.edges, sure, strict=True):
            value = float(made.scores[number]) + weights.read * score
            value += weights.first * _first(subgraph, end, first)
            value += weights.sure * (less - max(sure))
            if end not in found or value > found[end].score:
                path = EvidencePath(rows, tuple(forward for _, forward in way.steps), value)
                found[end] = Reached(end, value, path)
    return sorted(found.values(), key=lambda reached: (-reached.score, reached.node))


def names_something(subgraph: Subgraph) -> bool:
    """Whether the question itself names what it is about, or nothing is named at all."""
    sources = sources_of(subgraph)
    return not sources or any(subgraph.roles[node] == NodeRole.QUESTION for node in sources)


def names_unknown(question: str, subgraph: Subgraph) -> bool:
    """Whether a question names something that the graph does not know: a word with a capital that no concept is linked
    at, is nobody's given name and does nothing itself ("what do Koreans eat")."""
    known = [(link.start, link.end) for link in subgraph.links if link.part is NodeRole.QUESTION]
    known += people(question)
    names = list(_NAME.finditer(question))
    if any(name[0].lower() in STOP_WORDS for name in names):  # "What Is a Spade For?": capitals tell nothing
        return False
    return any(not any(start <= name.start() < end for start, end in known) for name in names)


def log_odds_of_none(
    made: Plan, subgraph: Subgraph, first: Mapping[str, float], read: Sequence[float]
) -> float:
    """Log-odds that the graph does not tell what is asked, against the best of the ways that were `read`."""
    weights = made.weights
    if not made.chosen:
        return weights.none_before + weights.unnamed
    scores = np.sort(
        [
            float(made.scores[n])
            + weights.read * score
            + weights.first * _first(subgraph, made.ways[n].ends[end], first)
            for (n, end), score in zip(made.chosen, read, strict=True)
        ]
    )
    return (
        weights.none_before
        + weights.none_lacks * made.lacks
        + weights.none_worth * float(scores[-1])
        + weights.none_margin * margin_of(scores)
    )


def margin_of(scores: NDArray[np.float64]) -> float:
    """How far the best of ways is ahead of the next by worth (W,), ascending; at most `FAR_AHEAD`."""
    return min(float(scores[-1] - scores[-2]), FAR_AHEAD) if len(scores) > 1 else FAR_AHEAD


def as_choices_to(
    question: Question, subgraph: Subgraph, nodes: Sequence[int], weights: Following = Following()
) -> tuple[Question, list[Subgraph]]:
    """Nodes as choices, each with the facts of the way to it whose words fit the question best, if there is one."""
    question, subgraph = shortened(question, subgraph)
    made = plan(question.text, subgraph, {}, weights=weights)
    order = np.argsort(-made.scores, kind="stable").tolist()
    parts = []
    for node in nodes:
        way = next((made.ways[n] for n in order if node in made.ways[n].ends), None)
        rows = list(way.edges[way.ends.index(node)]) if way else []
        parts.append(part_of(subgraph, rows, mentioned_in(subgraph), node))
    return replace(question, choices=tuple(subgraph.labels[node] for node in nodes)), parts


def rows_to(
    question: Question,
    subgraph: Subgraph,
    names: Sequence[str],
    facts: int,
    followed: bool,
    weights: Following = Following(),
) -> list[CandidateRow]:
    """Concepts as rows that can be compared: each with the facts of the way to it where facts are followed, elsewhere
    with those of its best paths; none where a concept is not in the subgraph."""
    at = {name: node for node, name in enumerate(subgraph.nodes)}
    if any(name not in at for name in names):
        return []
    nodes = [at[name] for name in names]
    if followed:
        return choice_rows(*as_choices_to(question, subgraph, nodes, weights))
    return choice_rows(*as_choices(question, subgraph, nodes, facts))


def training_ways(
    example: Example, subgraph: Subgraph, count: int, draw: np.random.Generator
) -> tuple[Example, list[Subgraph]] | None:
    """An open question as one of up to `count` ends of ways: an accepted one, and those that are read beside it.

    None where no way leads to an accepted answer, or no other way leads elsewhere.
    """
    made = plan(example.question.text, subgraph, {})
    right, wrong = [], []
    for way in made.ways:
        accepted = [at for at, end in enumerate(way.ends) if accepts(example.concepts, subgraph.labels[end])]
        if accepted:
            right.append((way, int(draw.choice(accepted))))
        else:
            wrong.append((way, int(draw.integers(len(way.ends)))))
    if not right or not wrong:
        return None
    scores = {id(way): float(value) for way, value in zip(made.ways, made.scores, strict=True)}
    # of several right ways the one that the question's words tell is meant; the likeliest wrong ones are the hard ones
    right.sort(key=lambda pair: -scores[id(pair[0])])
    noise = draw.gumbel(size=len(wrong))
    order = np.argsort([-scores[id(way)] - value for (way, _), value in zip(wrong, noise, strict=True)])
    chosen = [right[0], *(wrong[at] for at in order[: count - 1].tolist())]
    places = draw.permutation(len(chosen)).tolist()
    question, graphs = as_choices_along(example.question, subgraph, [chosen[at] for at in places])
    return Example(question, choice=places.index(0), kind=example.kind), graphs

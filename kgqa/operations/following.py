"""Following facts: which way from what is named, over one fact or two, leads to what is asked.

Ways are told apart by their relations, so that all things one relation leads to are judged together, as relation paths
are ranked in knowledge-base question answering (Yih et al., 2015, section 3; Sun et al., 2019, PullNet). What a way's
words share with the question's chooses the few that the reader then reads; its judgement decides between those.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.linking.function_words import STOP_WORDS
from kgqa.graph.linking.normalising import words
from kgqa.graph.retrieval.names import SMALL
from kgqa.metrics import accepts
from kgqa.models.rereading import part_of, shortened
from kgqa.operations.checking import OPEN_WORLD
from kgqa.operations.choosing import alike
from kgqa.operations.lookup import is_kind
from kgqa.operations.values import value_asked
from kgqa.types import EvidencePath, Example, KnowledgeGraph, NodeRole, Question, Relation, Subgraph

MOST_READ = 10
"""Ways that are read against the question."""
WEIGHTS = {"told": 1.8, "covers": 2.8, "far": -0.9, "to_kind": -1.0, "fits": 0.5, "value": 0.2, "nested": 1.5}
READ, FIRST = 0.45, 0.7
"""Weights of a way's clues, of the reader's score of it, and of the log-probability that its end had at first. Listwise
softmax over ways, fitted on seven of the graphs in tests/graphs, checked on the other seven (training/RESULTS.md)."""
SILENT, SILENT_READ, SILENT_WORDS, UNNAMED = 1.5, -0.3, -0.9, 1.2
"""What is added to the gate's score of no answer: a constant, for each point of the best way's reading, for the words
that it shares with the question, and where the graph knows nothing of what is named."""
_ASKS_KIND = re.compile(r"\b(?:kinds?|types?|sorts?|class|category|genus)\b", re.IGNORECASE)
_ASKS_WHAT = re.compile(r"^what (?:is|are) [^?]*\??$", re.IGNORECASE)

_ROLE_OF = re.compile(
    r"^(.*)\bthe ([\w' -]+?) (of|from|in|at|on|by|with|for|that|which|who|whom|whose|where)\b([\w' -]*)$",
    re.IGNORECASE,
)
_REDUCED = re.compile(r"^(.*)\bthe ([\w-]+) (?:the )?$", re.IGNORECASE)
_RELATIVE = frozenset({"that", "which", "who", "whom", "whose", "where"})


def follows(graph: KnowledgeGraph, subgraph: Subgraph) -> bool:
    """Whether a question is answered by following facts: over an endpoint, a small graph, or where all that is asked
    about is named. A graph that does not say all there is (everyday knowledge) is read with what is known besides."""
    if graph.name in OPEN_WORLD:
        return False
    if graph.is_remote or (graph.entity_count is not None and graph.entity_count < SMALL):
        return True
    sources = sources_of(subgraph)
    asked = [node for node in sources if subgraph.roles[node] == NodeRole.QUESTION] or sources
    return bool(asked) and not any(subgraph.labels[node][:1].islower() for node in asked)


class Way(NamedTuple):
    """All facts that lead from one concept over the same one or two relations, each in one direction."""

    source: int
    steps: tuple[tuple[int, bool], ...]
    """Relation of each step, and whether it is walked from head to tail."""
    ends: tuple[int, ...]
    edges: tuple[tuple[int, ...], ...]
    """For each end the rows of the subgraph's edges that lead there."""


def ways(subgraph: Subgraph) -> list[Way]:
    """The ways of one and two facts that lead from what the texts mention to something else with a label.

    A kind that is mentioned beside a thing ("which medicine does Nils prescribe") says what is asked for: no way
    begins there.
    """
    sources = sources_of(subgraph)
    mentioned = set(_mentioned(subgraph))
    edges = subgraph.edges.tolist()
    beside: dict[int, list[tuple[tuple[int, bool], int, int]]] = defaultdict(list)
    for row, (head, relation, tail) in enumerate(edges):
        if head != tail:
            beside[head].append(((relation, True), tail, row))
            beside[tail].append(((relation, False), head, row))
    found: dict[tuple[int, tuple[tuple[int, bool], ...]], dict[int, tuple[int, ...]]] = defaultdict(dict)
    for source in sources:
        for step, middle, row in beside[source]:
            if middle not in mentioned:
                found[source, (step,)].setdefault(middle, (row,))
            if middle in sources:
                continue
            for onward, end, second in beside[middle]:
                if end not in mentioned and second != row:
                    found[source, (step, onward)].setdefault(end, (row, second))
    made = []
    for (source, steps), ends in found.items():
        said = {end: rows for end, rows in ends.items() if subgraph.labels[end]}
        if said:
            made.append(Way(source, steps, tuple(said), tuple(said.values())))
    return made


def _mentioned(subgraph: Subgraph) -> list[int]:
    roles = np.isin(subgraph.roles, (int(NodeRole.QUESTION), int(NodeRole.PASSAGE)))
    found: list[int] = np.flatnonzero(roles).tolist()
    return found


def kinds_in(subgraph: Subgraph) -> dict[int, set[int]]:
    """For each node the kinds that it is of, over one and two facts."""
    kind = np.array([is_kind(relation) for relation in subgraph.relations], dtype=bool)
    found: dict[int, set[int]] = defaultdict(set)
    for head, relation, tail in subgraph.edges.tolist():
        if kind[relation]:
            found[head].add(tail)
    return {node: own.union(*(found.get(other, ()) for other in own)) for node, own in list(found.items())}


def sources_of(subgraph: Subgraph) -> list[int]:
    """Nodes that the question mentions (else the passage), without kinds where there is anything else."""
    kinds = set().union(*kinds_in(subgraph).values())
    mentioned = _mentioned(subgraph)
    things = [node for node in mentioned if node not in kinds]
    return things or mentioned


class Clues(NamedTuple):
    """What a way's words say for it, each (W,)."""

    told: NDArray[np.float64]
    """Share of its relations' words that the question says, 0 to 1."""
    covers: NDArray[np.float64]
    """Share of the question's words that the relations, or the kind of the ends, say, 0 to 1."""
    far: NDArray[np.float64]
    """Whether it has two facts."""
    to_kind: NDArray[np.float64]
    """Whether it ends at a kind: 1 where none is asked for, -1 where one is."""
    fits: NDArray[np.float64]
    """Whether it ends at things of the kind that the question mentions: 1, or -1 where it mentions another."""
    value: NDArray[np.float64]
    """Whether it ends at the kind of value that is asked for, a date or an amount: 1, or -1 where it does not, or where
    a person or place is asked for and it ends at a value."""
    nested: NDArray[np.float64]
    """Where a thing is named by what it is to another ("the maker of the Dachs"): 1 for two facts, -1 for one."""


def clues(question: str, subgraph: Subgraph, found: Sequence[Way]) -> Clues:
    """What the words of a question say about ways."""
    mentioned = _mentioned(subgraph)
    kinds = kinds_in(subgraph)
    classes = set().union(*kinds.values())
    asked_kinds = {
        node for node in mentioned if node in classes and subgraph.roles[node] == NodeRole.QUESTION
    }
    sources = sources_of(subgraph)
    rest = rest_of(question, subgraph, sources)
    rows = []
    inner, outer = nested_in(question, subgraph, sources)
    kind = 1.0
    if not asked_kinds - set(sources):
        kind = -1.0 if _ASKS_KIND.search(question) else float(not _ASKS_WHAT.match(question))
    wanted = value_asked(question)
    for way in found:
        relations = [subgraph.relations[relation] for relation, _ in way.steps]
        said = " ".join(f"{r.label} {r.words}" for r in relations if len(way.steps) == 1 or not is_kind(r))
        end_kinds = set().union(*(kinds.get(end, set()) for end in way.ends))
        named = " ".join(subgraph.labels[kind] for kind in end_kinds)
        last, forward = way.steps[-1]
        fits = 0.0
        if asked_kinds - set(sources):
            fits = 1.0 if end_kinds & asked_kinds else -1.0
        two = len(way.steps) > 1
        told = alike(rest, said)
        if outer and two:
            told = (alike(inner, _words(relations[0])) + alike(outer, _words(relations[1]))) / 2
        rows.append(
            (
                told,
                alike(f"{said} {named}", rest),
                two,
                kind if forward and is_kind(subgraph.relations[last]) else 0.0,
                fits,
                wanted.fits(subgraph.nodes[way.ends[0]]),
                (1.0 if two else -1.0) if outer else 0.0,
            )
        )
    return Clues(*np.array(rows, dtype=np.float64).reshape(-1, len(Clues._fields)).T)


def _words(relation: Relation) -> str:
    return f"{relation.label} {relation.words}"


def nested_in(question: str, subgraph: Subgraph, sources: Sequence[int]) -> tuple[str, str]:
    """Of a question that names a thing by what it is to another, the words that do so and the words about it.

    "Where is the maker of the Dachs based?" has ("maker", "based"), "Who operates the line the Reiher runs on?" ("line
    runs on", "operates"). Both are empty where the question asks for the very thing: "Who is the maker of the Dachs?".
    """
    for link in subgraph.links:
        if link.part is not NodeRole.QUESTION or link.node not in sources:
            continue
        before, after = question[: link.start], question[link.end :]
        found = None
        if (match := _REDUCED.match(before)) and re.match(r"\s+\w", after):
            found = f"{match[2]} {after}", match[1]
        elif match := _ROLE_OF.match(before):
            relative = match[3].lower() in _RELATIVE
            found = (
                f"{match[2]} {match[4]} {after if relative else ''}",
                f"{match[1]} {'' if relative else after}",
            )
        elif match := re.match(r"['’]s ([\w-]+)\b(.*)", after):
            found = match[1], f"{before} {match[2]}"
        if found and _content(found[0]) and _content(found[1]):
            return _content(found[0]), _content(found[1])
    return "", ""


def _content(text: str) -> str:
    return " ".join(word for word, _, _ in words(text) if word not in STOP_WORDS)


def rest_of(question: str, subgraph: Subgraph, sources: Sequence[int]) -> str:
    """The content words of a question without those that name where a way begins."""
    named = set(sources)
    at = [
        (link.start, link.end)
        for link in subgraph.links
        if link.part is NodeRole.QUESTION and link.node in named
    ]
    return " ".join(
        word
        for word, start, end in words(question)
        if word not in STOP_WORDS and not any(first <= start and end <= last for first, last in at)
    )


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
        parts.append(part_of(subgraph, rows, [way.source, *_mentioned(subgraph)], end))
    return replace(question, choices=tuple(labels)), parts


def _kind_of(subgraph: Subgraph, node: int) -> list[int]:
    own = np.flatnonzero(subgraph.edges[:, 0] == node).tolist()
    return [row for row in own if is_kind(subgraph.relations[int(subgraph.edges[row, 1])])][:1]


class Plan(NamedTuple):
    """The ways of one question: what their words say for each, and those that are to be read, best first."""

    ways: list[Way]
    worth: NDArray[np.float64]
    """(W,) by the clues alone."""
    shared: NDArray[np.float64]
    """(W,) the larger share of words: the way's that the question says, or the question's that the way says."""
    chosen: list[tuple[int, int]]
    """Way, and the place of the end that stands for it."""


class Led(NamedTuple):
    """What the best way to a node says for it, and the path."""

    node: int
    score: float
    path: EvidencePath


def plan(question: str, subgraph: Subgraph, first: Mapping[str, float], most: int = MOST_READ) -> Plan:
    """The ways of a question, and up to `most` that are read; `first`: the first probabilities of concepts by name."""
    found = ways(subgraph)
    told = clues(question, subgraph, found)
    worth = sum((weight * getattr(told, name) for name, weight in WEIGHTS.items()), np.zeros(len(found)))
    best = [max(range(len(way.ends)), key=lambda at: _first(subgraph, way.ends[at], first)) for way in found]
    prior = [worth[n] + FIRST * _first(subgraph, way.ends[best[n]], first) for n, way in enumerate(found)]
    order = sorted(range(len(found)), key=lambda n: -prior[n])[:most]
    return Plan(found, worth, np.maximum(told.told, told.covers), [(n, best[n]) for n in order])


def _first(subgraph: Subgraph, node: int, first: Mapping[str, float]) -> float:
    return float(np.log(max(first.get(subgraph.nodes[node], 0.0), 1e-6)))


def led_to(made: Plan, subgraph: Subgraph, first: Mapping[str, float], read: Sequence[float]) -> list[Led]:
    """Every node that a way which was `read` (scores in the order of `made.chosen`) leads to, best first."""
    found: dict[int, Led] = {}
    for (number, _), score in zip(made.chosen, read, strict=True):
        way = made.ways[number]
        for end, rows in zip(way.ends, way.edges, strict=True):
            value = float(made.worth[number]) + READ * score + FIRST * _first(subgraph, end, first)
            if end not in found or value > found[end].score:
                path = EvidencePath(rows, tuple(forward for _, forward in way.steps), value)
                found[end] = Led(end, value, path)
    return sorted(found.values(), key=lambda led: (-led.score, led.node))


def silence(made: Plan, read: Sequence[float]) -> float:
    """What speaks for saying that the graph does not tell, as a change of the gate's score for no answer."""
    if not made.chosen:
        return SILENT + UNNAMED
    best = max(range(len(read)), key=lambda at: made.worth[made.chosen[at][0]] + READ * read[at])
    return SILENT + SILENT_READ * read[best] + SILENT_WORDS * float(made.shared[made.chosen[best][0]])


def as_choices_to(
    question: Question, subgraph: Subgraph, nodes: Sequence[int]
) -> tuple[Question, list[Subgraph]]:
    """Nodes as choices, each with the facts of the way to it whose words fit the question best, if there is one."""
    question, subgraph = shortened(question, subgraph)
    made = plan(question.text, subgraph, {})
    order = np.argsort(-made.worth, kind="stable").tolist()
    parts = []
    for node in nodes:
        way = next((made.ways[n] for n in order if node in made.ways[n].ends), None)
        rows = list(way.edges[way.ends.index(node)]) if way else []
        parts.append(part_of(subgraph, rows, _mentioned(subgraph), node))
    return replace(question, choices=tuple(subgraph.labels[node] for node in nodes)), parts


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
    worth = {id(way): float(value) for way, value in zip(made.ways, made.worth, strict=True)}
    # of several right ways the one that the question's words tell is meant; the likeliest wrong ones are the hard ones
    right.sort(key=lambda pair: -worth[id(pair[0])])
    noise = draw.gumbel(size=len(wrong))
    order = np.argsort([-worth[id(way)] - value for (way, _), value in zip(wrong, noise, strict=True)])
    chosen = [right[0], *(wrong[at] for at in order[: count - 1].tolist())]
    places = draw.permutation(len(chosen)).tolist()
    question, graphs = as_choices_along(example.question, subgraph, [chosen[at] for at in places])
    return Example(question, choice=places.index(0), kind=example.kind), graphs

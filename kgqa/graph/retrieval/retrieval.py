"""Question and graph to ranked subgraphs: link, expand, rank, cut, and only then take the facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.linking.linker import Linker
from kgqa.graph.retrieval.dense import FactHits, fused_ranks, nearest_concepts
from kgqa.graph.retrieval.expansion import Walk, WalkSettings, best, distinct, join, locate, take, walk
from kgqa.graph.retrieval.languages import called, with_other_names
from kgqa.graph.retrieval.names import about_names
from kgqa.graph.retrieval.question_types import asked, kind_likelihood, vague_relations
from kgqa.graph.retrieval.ranking import ranker, score_bridges, score_context, weights_for
from kgqa.types import (
    Edges,
    Floats,
    InputError,
    Ints,
    KnowledgeGraph,
    Link,
    Mention,
    NodeRole,
    Question,
    Subgraph,
)

Relevance = Callable[[str, Sequence[str]], NDArray[np.floating]]

_PART_WEIGHT = {NodeRole.QUESTION: 1.0, NodeRole.PASSAGE: 0.7, NodeRole.CHOICE: 1.0}
_SHARE = {NodeRole.CHOICE: 0.15, NodeRole.QUESTION: 0.2, NodeRole.PASSAGE: 0.25}
_FACT_CAP = 300
_JUDGED = 3  # times max_nodes: concepts whose own facts are looked at
_WALK = WalkSettings()


def node_budget(question: Question, max_nodes: int) -> int:
    """Concepts for one row of a question: a choice is found among half as many, so its rows stay cheap."""
    return max(max_nodes // 2, 1) if question.choices else max_nodes


def read_together(question: Question) -> list[str]:
    """The texts that retrieval reads: passage, question and, where there are some, one choice in each."""
    return [f"{_asked_for(question)} {choice}" for choice in question.choices] or [_asked_for(question)]


def _asked_for(question: Question) -> str:
    return f"{question.passage_text} {question.text}".strip()


@dataclass(frozen=True, slots=True)
class _Seeds:
    """Linked concepts of one text. `weight` says how much each tells: long and rare mentions most."""

    part: NodeRole
    mentions: Sequence[Mention]
    ids: Ints  # (S,) best first
    weight: NDArray[np.float64]  # (S,)


def retrieve(
    question: Question,
    graph: KnowledgeGraph,
    linker: Linker,
    *,
    max_nodes: int = 200,
    relevance: Relevance | None = None,
    hits: Sequence[FactHits] = (),
    language: str = "",
) -> list[Subgraph]:
    """One subgraph for each choice, or exactly one for a question without choices.

    The side of question and passage is walked once and shared. Nodes come ranked: linked concepts of
    question, passage and choice, then the others; linked concepts have a quota for each part, so that a long
    passage crowds nobody out. `relevance(text, labels)` may judge concepts by their words (any scale, shape
    (N,)); it is asked about the best few hundred only. `hits` are facts found by meaning for each of
    `read_together`, to which no hop need lead: their ends are ranked with those of the walk, and how near each is is
    kept in `Subgraph.near`. Concepts are called as in `language`, where the graph has a label in it. A graph is asked
    at most six times: `find`, `degrees` twice, `neighbours` for each hop and for the facts, `labels`; a store on disk
    once more, for what kind of thing the best are.
    Raises InputError for max_nodes below 1.
    """
    if max_nodes < 1:
        raise InputError(f"max_nodes={max_nodes}: must be 1 or more")
    texts = [question.text, question.passage_text, *question.choices]
    parts = [NodeRole.QUESTION, NodeRole.PASSAGE, *(NodeRole.CHOICE for _ in question.choices)]
    mentions = linker.link_many(texts)
    seeds = _weigh(graph, parts, mentions, texts)
    everyone, _ = distinct(np.concatenate([s.ids for s in seeds]))
    columns = np.zeros((len(everyone), 1 + len(question.choices)))
    for i, seed in enumerate(seeds):
        columns[np.searchsorted(everyone, seed.ids), max(0, i - 1)] += seed.weight
    also = join([own.edges for own in hits]) if hits else None
    reached = walk(graph, everyone, columns, _WALK, also)
    relations = graph.relations
    wanted, vague = asked(question.text, relations), vague_relations(relations)
    # choices show themselves what kind of thing is asked for, and an endpoint would be asked too much
    plain = bool(question.choices) or graph.is_remote
    weights = weights_for(graph)
    weights = ranker("edited") if plain and "kind" in weights else weights
    likelihood = None
    if "kind" in weights:
        likelihood = kind_likelihood(question.text, graph.kind_names, graph.kinds(reached.ids))
    context = score_context(
        reached,
        columns[:, 0],
        wanted,
        vague,
        weights,
        None if plain else lambda ids: graph.neighbours(ids, _WALK.hub_facts),
        _JUDGED * max_nodes,
        likelihood,
    )
    # a graph that does not say all there is says a great deal of common words, of which the ranking chooses
    if graph.is_complete and not question.choices:
        context = about_names(context, reached, question.text, relations, max_nodes)
    if hits and not question.choices:
        context = fused_ranks([context, nearest_concepts(hits[0], reached.ids)])
    place = locate(graph.added_ends, reached.ids)
    context[place[place >= 0]] = 2.0  # above all others: what if it were so: it is read, whatever it is worth
    if relevance is not None:
        context = _with_relevance(context, _asked_for(question), graph, reached, relevance, 4 * max_nodes)
    picks = []
    for choice in range(max(1, len(question.choices))):
        score = context
        if question.choices:
            score = 0.5 * context + 0.5 * score_bridges(reached, choice)
            if hits:
                score = fused_ranks([score, nearest_concepts(hits[choice], reached.ids)])
        own = [*seeds[:2], *seeds[2 + choice : 3 + choice]]
        picks.append((own, *_cut(reached, score, own, max_nodes)))
    subgraphs = _assemble(graph, reached, picks, hits)
    if language:
        kept = (ids.tolist() for _, ids, _, _ in picks)
        subgraphs = [called(own, graph, language, ids) for own, ids in zip(subgraphs, kept, strict=True)]
    if question.choices:
        return subgraphs
    return [with_other_names(subgraphs[0], graph, question.text, picks[0][1].tolist())]


def _weigh(
    graph: KnowledgeGraph, parts: Sequence[NodeRole], mentions: Sequence[list[Mention]], texts: Sequence[str]
) -> list[_Seeds]:
    flat = np.array([e for list_ in mentions for m in list_ for e in m.entities], dtype=np.int32)
    degree = dict(zip(flat.tolist(), graph.degrees(flat).tolist(), strict=True)) if len(flat) else {}
    seeds = []
    for part, list_, text in zip(parts, mentions, texts, strict=True):
        weight: dict[int, float] = {}
        for mention in list_:
            size = text.count(" ", mention.start, mention.end) + 1
            for rank, entity in enumerate(mention.entities):
                worth = _PART_WEIGHT[part] * size**0.5 / (1 + rank) / np.log2(4 + degree[entity])
                worth *= mention.certainty
                weight[entity] = max(weight.get(entity, 0.0), worth)
        order = sorted(weight, key=lambda e: (-weight[e], e))
        values = np.array([weight[e] for e in order], dtype=np.float64)
        seeds.append(_Seeds(part, list_, np.array(order, dtype=np.int32), values))
    return seeds


def _with_relevance(
    context: NDArray[np.float64],
    text: str,
    graph: KnowledgeGraph,
    reached: Walk,
    relevance: Relevance,
    count: int,
) -> NDArray[np.float64]:
    top = best(context, count)
    told = np.asarray(relevance(text, graph.labels(reached.ids[top])), dtype=np.float64)
    spread = np.ptp(told) if len(told) else 0.0
    mixed = np.zeros_like(context)
    mixed[top] = 0.5 * context[top] + 0.5 * (told - told.min()) / spread if spread > 0 else context[top]
    return mixed


def _cut(
    reached: Walk, score: NDArray[np.float64], seeds: Sequence[_Seeds], max_nodes: int
) -> tuple[Ints, NDArray[np.int8], NDArray[np.float64]]:
    """Ids, roles and scores of the kept nodes, ranked."""
    role: dict[int, NodeRole] = {}
    weight: dict[int, float] = {}
    for seed in sorted(seeds, key=lambda s: s.part):  # choice speaks last: it is the strongest
        for entity, value in zip(seed.ids.tolist(), seed.weight.tolist(), strict=True):
            role[entity] = seed.part
            weight[entity] = max(weight.get(entity, 0.0), value)
    top = max(weight.values(), default=1.0)
    linked = sorted(role, key=lambda e: (-weight[e], e))
    kept: list[int] = []
    spare: list[int] = []
    for part, share in _SHARE.items():
        own = [e for e in linked if role[e] == part]
        quota = max(1, int(share * max_nodes))
        kept += own[:quota]
        spare += own[quota:]
    kept = sorted(kept[:max_nodes], key=lambda e: (role[e], -weight[e], e))
    room = max_nodes - len(kept)
    open_score = score.copy()
    open_score[np.searchsorted(reached.ids, linked)] = 0.0
    others = best(open_score, room)
    kept += sorted(spare[: room - len(others)], key=lambda e: (role[e], -weight[e], e))
    kept.sort(key=lambda e: role[e])
    ids = np.concatenate([np.array(kept, dtype=np.int32), reached.ids[others]])
    roles = np.array([*(role[e] for e in kept), *([NodeRole.OTHER] * len(others))], dtype=np.int8)
    scores = np.concatenate([[0.5 + 0.5 * weight[e] / top for e in kept], score[others]])
    return ids, roles, scores


def _assemble(
    graph: KnowledgeGraph,
    reached: Walk,
    picks: Sequence[tuple[Sequence[_Seeds], Ints, NDArray[np.int8], NDArray[np.float64]]],
    hits: Sequence[FactHits],
) -> list[Subgraph]:
    """Facts, labels and links of the kept nodes, asked for once for all subgraphs."""
    union, _ = distinct(np.concatenate([ids for _, ids, _, _ in picks]))
    facts = _facts_among(graph, reached, union)
    names = dict(zip(union.tolist(), graph.names(union), strict=True))
    labels = dict(zip(union.tolist(), graph.labels(union), strict=True))
    table = graph.relations
    subgraphs = []
    for number, (seeds, ids, roles, scores) in enumerate(picks):
        place = np.full(len(union), -1, dtype=np.int32)
        place[np.searchsorted(union, ids)] = np.arange(len(ids), dtype=np.int32)
        inside = _renamed(facts, place.take)
        used, relation = distinct(inside.relation)
        rows = np.empty((len(relation), 3), dtype=np.int32)
        rows[:, 0], rows[:, 1], rows[:, 2] = inside.head, relation, inside.tail
        kept = ids.tolist()
        index = dict(zip(kept, range(len(kept)), strict=True))
        links = tuple(
            Link(seed.part, mention.start, mention.end, index[entity])
            for seed in seeds
            for mention in seed.mentions
            for entity in mention.entities
            if entity in index
        )
        subgraphs.append(
            Subgraph(
                nodes=tuple(map(names.__getitem__, kept)),
                labels=tuple(map(labels.__getitem__, kept)),
                roles=roles.astype(np.int32),
                scores=np.clip(scores, 0.0, 1.0).astype(np.float32),
                edges=rows,
                weights=inside.weight.astype(np.float32),
                relations=tuple(table[r] for r in used.tolist()),
                links=links,
                near=_nearness(hits[number], ids, inside) if hits else np.zeros(0, dtype=np.float32),
            )
        )
    return subgraphs


def _nearness(hits: FactHits, ids: Ints, inside: Edges) -> Floats:
    """Cosine of each fact of a subgraph (relations by the graph's own numbers), 0 where it was not found by meaning."""
    place = locate(hits.edges.head, ids), hits.edges.relation, locate(hits.edges.tail, ids)
    found = dict(zip(_facts(place), hits.similarity.tolist(), strict=True))
    return np.array([found.get(fact, 0.0) for fact in _facts(inside[:3])], dtype=np.float32)


def _facts(columns: Sequence[Ints]) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _facts_among(graph: KnowledgeGraph, reached: Walk, ids: Ints) -> Edges:
    """Facts with both ends in `ids` (ascending), each once, ends given as places in `ids`.

    Most are known from the walk; only concepts whose facts it did not see all of are asked about.
    """
    at = np.searchsorted(reached.ids, ids)
    place = np.full(len(reached.ids), -1, dtype=np.int32)
    place[at] = np.arange(len(ids), dtype=np.int32)
    parts = [_renamed(reached.edges, place.take)]
    unsure = ids[~reached.complete[at]]
    if len(unsure):
        more = graph.facts_among(unsure, ids, _FACT_CAP)
        parts.append(_renamed(more, lambda ends: locate(ends, ids)))
    edges = join(parts)
    key = (edges.head.astype(np.int64) * len(ids) + edges.tail) * len(graph.relations) + edges.relation
    return take(edges, np.unique(key, return_index=True)[1])


def _renamed(edges: Edges, place: Callable[[Ints], Ints]) -> Edges:
    """The facts whose ends both have a new number; most are out by their head already."""
    head = place(edges.head)
    rows = np.flatnonzero(head >= 0)
    tail = place(edges.tail.take(rows))
    inside = tail >= 0
    rows = rows[inside]
    return Edges(head.take(rows), edges.relation.take(rows), tail[inside], edges.weight.take(rows))

"""Retrieve ranked subgraphs for a question: link, expand, rank, cut to the best nodes, and only then fetch
facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.normalize import STOP_WORDS, is_korean_question, lemma, words
from kgqa.graph.retrieval.dense import FactHits, fused_ranks, nearest_concepts
from kgqa.graph.retrieval.expansion import (
    HUB_FACTS,
    Expansion,
    best,
    distinct,
    expand,
    join,
    locate,
    take,
)
from kgqa.graph.retrieval.label_languages import relabelled, with_other_names
from kgqa.graph.retrieval.ranking import (
    asked_ends,
    asked_in_english,
    ranker,
    score_bridges,
    score_context,
    type_likelihood,
    vague_relations,
    weights_for,
)
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
    Relation,
    Subgraph,
)

# Ranking for questions about named entities: the neighbours of the linked entities come before all other
# concepts. A common word ("house", "work") has thousands of facts, from which the ranker has to select. A
# named entity has few, and the answer is in one of them or in a fact of a neighbour. So the neighbours of
# linked entities are kept, and of the neighbours' neighbours those whose relations share words with the
# question.


NEAR_SHARE, FAR_SHARE = 0.4, 0.4
"""Maximum share of the concepts kept for neighbours of linked entities, and for the neighbours of these."""
_STEM = 5  # letters of a word that are compared: a crude stem
_NEAR, _FAR, _OTHERS = 0.7, 0.4, 0.6  # minimum scores of near and far neighbours; factor of the others
_KINDS = frozenset({"a", "is", "kind"})


def rank_named_entities(
    context: NDArray[np.float64],
    reached: Expansion,
    question: str,
    relations: Sequence[Relation],
    max_nodes: int,
) -> NDArray[np.float64]:
    """The scores `context` (V,), 0 to 1, changed so that neighbours of the linked concepts rank high."""
    is_seed = np.zeros(len(reached.ids), dtype=bool)
    is_seed[reached.seeds] = True
    overlap = word_overlap(question, relations)[reached.edges.relation]
    head, tail = reached.edges.head, reached.edges.tail
    near, near_overlap = _beyond(is_seed, head, tail, overlap)
    near &= ~is_seed
    far, far_overlap = _beyond(near, head, tail, overlap, near_overlap)
    far &= ~is_seed & ~near
    score = _OTHERS * context
    chosen = best(np.where(near, 1e-6 + near_overlap + context, 0.0), max(1, int(NEAR_SHARE * max_nodes)))
    score[chosen] = _NEAR + (1 - _NEAR) * (near_overlap + context)[chosen] / 2
    chosen = best(np.where(far, 1e-6 + far_overlap + 0.1 * context, 0.0), max(1, int(FAR_SHARE * max_nodes)))
    score[chosen] = _FAR + (1 - _FAR) * far_overlap[chosen]
    return score


def _beyond(
    source: NDArray[np.bool_],
    head: NDArray[Any],
    tail: NDArray[Any],
    overlap: NDArray[np.float64],
    before: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """(V,) which concepts one fact joins to `source`, and the word overlap of the best path there with the
    question."""
    found, best_overlap = np.zeros(len(source), dtype=bool), np.zeros(len(source))
    for here, there in ((head, tail), (tail, head)):
        rows = np.flatnonzero(source[here])
        found[there[rows]] = True
        worth = overlap[rows] if before is None else (overlap[rows] + before[here[rows]]) / 2
        np.maximum.at(best_overlap, there[rows], worth)
    return found, best_overlap


def word_overlap(question: str, relations: Sequence[Relation]) -> NDArray[np.float64]:
    """(R,) share of each relation's words that occur in the question, compared by their first letters."""
    asked = _stems(question)
    found = np.zeros(len(relations))
    for row, relation in enumerate(relations):
        own = _stems(f"{relation.label} {relation.words} {relation.inverse}") - _KINDS
        if own:
            found[row] = len(own & asked) / len(own)
    return found


@lru_cache(maxsize=20_000)
def _stems(text: str) -> frozenset[str]:
    return frozenset(lemma(word)[:_STEM] for word, _, _ in words(text) if word not in STOP_WORDS)


Relevance = Callable[[str, Sequence[str]], NDArray[np.floating]]
"""Scores (N,) of the relevance of N concept labels to a text, on any scale."""

_PART_WEIGHT = {NodeRole.QUESTION: 1.0, NodeRole.PASSAGE: 0.7, NodeRole.CHOICE: 1.0}
"""Weight of a mention by the part of the text that it is in."""
_SHARE = {NodeRole.CHOICE: 0.15, NodeRole.QUESTION: 0.2, NodeRole.PASSAGE: 0.25}
"""Quota of the linked concepts of each part, as a share of the nodes."""
_FACT_CAP = 300
_JUDGED = 3  # times max_nodes: the number of concepts whose own facts are fetched to determine their type


def node_budget(question: Question, max_nodes: int) -> int:
    """Number of concepts in one subgraph: half for multiple choice, where each choice has a subgraph of its
    own."""
    return max(max_nodes // 2, 1) if question.choices else max_nodes


def query_texts(question: Question) -> list[str]:
    """Query texts for dense retrieval: passage and question and, for multiple choice, one text per choice."""
    return [f"{_asked_for(question)} {choice}" for choice in question.choices] or [_asked_for(question)]


def _asked_for(question: Question) -> str:
    return f"{question.passage_text} {question.text}".strip()


@dataclass(frozen=True, slots=True)
class _Seeds:
    """Linked concepts of one text. `weight` is their informativeness: highest for long mentions of rare
    concepts."""

    part: NodeRole
    mentions: Sequence[Mention]
    ids: Ints  # (S,) best first
    weight: NDArray[np.float64]  # (S,)


def retrieve_subgraphs(
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

    The expansion from question and passage is computed once and shared by all choices. Nodes come ranked: linked
    concepts of question, passage and choice, then the others, `max_nodes` in all. The linked concepts of each part have
    a quota, so that those of a long passage do not crowd out the rest.

    `relevance` scores the best `4 * max_nodes` concepts by their labels, in addition to the ranker. `hits` are facts
    found by dense retrieval for each text of `query_texts`: they need not be within two hops; their ends are ranked
    with the concepts of the expansion, and `Subgraph.near` holds their similarity. Labels are in `language`, where the
    graph has them.

    A graph is queried at most six times: `find`, `degrees` twice, `neighbours` for each hop and for the facts,
    `labels`; a store on disk once more, for the facts that show the types of the best concepts.

    Raises:
        InputError: `max_nodes` is below 1.
    """
    if max_nodes < 1:
        raise InputError(f"max_nodes={max_nodes}: must be 1 or more")
    texts = [question.text, question.passage_text, *question.choices]
    parts = [NodeRole.QUESTION, NodeRole.PASSAGE, *(NodeRole.CHOICE for _ in question.choices)]
    mentions = linker.link_many(texts, language)
    seeds = _weigh(graph, parts, mentions, texts)
    everyone, _ = distinct(np.concatenate([s.ids for s in seeds]))
    columns = np.zeros((len(everyone), 1 + len(question.choices)))
    for i, seed in enumerate(seeds):
        columns[np.searchsorted(everyone, seed.ids), max(0, i - 1)] += seed.weight
    also = join([own.edges for own in hits]) if hits else None
    reached = expand(graph, everyone, columns, also)
    relations = graph.relations
    asked = question.text
    if code := language or ("ko" if is_korean_question(asked) else ""):
        named = (
            graph.labels(np.array([m.entities[0] for m in mentions[0]], dtype=np.int32)) if language else []
        )
        asked = " ".join([asked_in_english(asked, code), *named])
    wanted, vague = asked_ends(asked, relations), vague_relations(relations)
    # without answer types: choices show which type is asked for, and an endpoint would need too many queries
    plain = bool(question.choices) or graph.is_remote
    weights = weights_for(graph)
    weights = ranker("edited") if plain and "kind" in weights else weights
    likelihood = None
    if "kind" in weights:
        likelihood = type_likelihood(asked, graph.type_names, graph.types_of(reached.ids))
    context = score_context(
        reached,
        columns[:, 0],
        wanted,
        vague,
        weights,
        None if plain else lambda ids: graph.neighbours(ids, HUB_FACTS),
        _JUDGED * max_nodes,
        likelihood,
    )
    # closed-world graphs only: in an open-world graph common words have too many neighbours to keep most of
    # them
    if graph.closed_world and not question.choices:
        context = rank_named_entities(context, reached, question.text, relations, max_nodes)
    if hits and not question.choices:
        context = fused_ranks([context, nearest_concepts(hits[0], reached.ids)])
    place = locate(graph.added_entities, reached.ids)
    context[place[place >= 0]] = 2.0  # above all others: the subgraph must have the concepts of what-if edits
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
        subgraphs = [relabelled(own, graph, language, ids) for own, ids in zip(subgraphs, kept, strict=True)]
    if question.choices:
        return subgraphs
    return [with_other_names(subgraphs[0], graph, question.text, picks[0][1].tolist())]


def _weigh(
    graph: KnowledgeGraph, parts: Sequence[NodeRole], mentions: Sequence[list[Mention]], texts: Sequence[str]
) -> list[_Seeds]:
    """Weight of each linked concept: it grows with the words of the mention, and falls with the concept's
    rank among the candidates of the mention and with the log of its degree."""
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
    reached: Expansion,
    relevance: Relevance,
    count: int,
) -> NDArray[np.float64]:
    """`context` averaged with the relevance of the best `count` concepts, scaled to 0..1; 0 for all other
    concepts."""
    top = best(context, count)
    judged = np.asarray(relevance(text, graph.labels(reached.ids[top])), dtype=np.float64)
    spread = np.ptp(judged) if len(judged) else 0.0
    mixed = np.zeros_like(context)
    mixed[top] = 0.5 * context[top] + 0.5 * (judged - judged.min()) / spread if spread > 0 else context[top]
    return mixed


def _cut(
    reached: Expansion, score: NDArray[np.float64], seeds: Sequence[_Seeds], max_nodes: int
) -> tuple[Ints, NDArray[np.int8], NDArray[np.float64]]:
    """Ids, roles and scores of the kept nodes, ranked."""
    role: dict[int, NodeRole] = {}
    weight: dict[int, float] = {}
    for seed in sorted(seeds, key=lambda s: s.part):  # the choice comes last: its role overrides the others
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
    reached: Expansion,
    picks: Sequence[tuple[Sequence[_Seeds], Ints, NDArray[np.int8], NDArray[np.float64]]],
    hits: Sequence[FactHits],
) -> list[Subgraph]:
    """The subgraphs: facts, labels and links of the kept nodes, queried once for all of them."""
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
    """Cosine similarity of each fact of a subgraph (relations by the graph's numbers) to the query, 0 for
    facts that dense retrieval did not find."""
    place = locate(hits.edges.head, ids), hits.edges.relation, locate(hits.edges.tail, ids)
    found = dict(zip(_facts(place), hits.similarity.tolist(), strict=True))
    return np.array([found.get(fact, 0.0) for fact in _facts(inside[:3])], dtype=np.float32)


def _facts(columns: Sequence[Ints]) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _facts_among(graph: KnowledgeGraph, reached: Expansion, ids: Ints) -> Edges:
    """Distinct facts with both ends in `ids` (ascending); their ends are indices into `ids`.

    Most are known from the expansion; the graph is queried only about concepts whose facts the expansion
    capped.
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
    """The facts with both ends renumbered by `place`, without those that have an end of -1.

    Heads are filtered first, which drops most facts before their tails are looked up.
    """
    head = place(edges.head)
    rows = np.flatnonzero(head >= 0)
    tail = place(edges.tail.take(rows))
    inside = tail >= 0
    rows = rows[inside]
    return Edges(head.take(rows), edges.relation.take(rows), tail[inside], edges.weight.take(rows))

"""The rows of a batch: windows of long passages; candidates packed behind a shared prefix, or one per row."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgqa.graph.linking.normalize import STOP_WORDS, lemma, words
from kgqa.graph.relation_types import is_opposite, is_type_relation, is_vague
from kgqa.limits.cancellation import cancellable, check_cancelled
from kgqa.metrics import accepts, surface_key
from kgqa.models.collation.input_config import InputConfig
from kgqa.types import NO, YES, Example, Link, NodeRole, Question, Relation, Span, Subgraph
from kgqa.verbalize.fact_sentences import verbalize_triple

LONGER = 0.5
"""Factor on the scores of paths of two facts."""


class VerbalizedPath(NamedTuple):
    """A path to verbalize: rows of the subgraph's edges in path order, and its score."""

    steps: tuple[int, ...]
    worth: float


class PathTable:
    """The best paths of one or two facts from mentioned concepts to each node of a subgraph."""

    def __init__(self, subgraph: Subgraph) -> None:
        self.subgraph = subgraph
        count = len(subgraph.nodes)
        asked = (int(NodeRole.QUESTION), int(NodeRole.PASSAGE))
        self.sources = np.flatnonzero(np.isin(subgraph.roles, asked))
        edges = subgraph.edges
        vague = np.array([is_vague(r) or is_opposite(r) for r in subgraph.relations], dtype=bool)
        weight = np.sqrt(np.clip(subgraph.weights.astype(np.float64), 0.05, 4.0))
        if len(edges):
            weight = np.where(vague[edges[:, 1]], 0.2 * weight, weight)
        # the heaviest fact between each two nodes, in either direction; vague and opposite ones count less
        self._worth = np.zeros((count, count))
        self._edge = np.full((count, count), -1, dtype=np.int64)
        order = np.argsort(weight, kind="stable")
        for begin, end in ((0, 2), (2, 0)):
            rows = order
            head, tail = edges[rows, begin], edges[rows, end]
            better = weight[rows] >= self._worth[head, tail]
            head, tail, rows = head[better], tail[better], rows[better]
            self._worth[head, tail] = weight[rows]
            self._edge[head, tail] = rows
        self._relevance = np.clip(subgraph.scores.astype(np.float64), 0.05, 1.0)

    def paths(self, node: int, count: int) -> list[VerbalizedPath]:
        """Up to `count` paths to a node, best first; no path runs through another concept of question or passage."""
        sources = self.sources[self.sources != node]
        if not len(sources) or not len(self.subgraph.edges):
            return []
        direct = self._worth[sources, node] * self._relevance[sources]
        found = [
            VerbalizedPath((int(self._edge[source, node]),), float(value))
            for source, value in zip(sources.tolist(), direct.tolist(), strict=True)
            if value > 0
        ]
        middle = np.ones(len(self._worth), dtype=bool)
        middle[self.sources] = False
        middle[node] = False
        through = np.where(middle, self._worth[:, node] * self._relevance, 0.0)  # (N,)
        if through.any():
            value = self._worth[sources] * through[None, :] * self._relevance[sources, None] * LONGER
            best = np.argsort(-value, axis=None, kind="stable")[: 2 * count]
            for place in best.tolist():
                row, via = divmod(place, len(self._worth))
                if value[row, via] > 0:
                    steps = (int(self._edge[sources[row], via]), int(self._edge[via, node]))
                    found.append(VerbalizedPath(steps, float(value[row, via])))
        found.sort(key=lambda path: (-path.worth, path.steps))
        return found[:count]

    def type_fact(self, node: int) -> int | None:
        """The fact of highest weight that states the type of a node; None without one."""
        edges, relations = self.subgraph.edges, self.subgraph.relations
        rows = np.flatnonzero(edges[:, 0] == node).tolist()
        kinds = [row for row in rows if is_type_relation(relations[int(edges[row, 1])])]
        return max(kinds, key=lambda row: float(self.subgraph.weights[row]), default=None)


def verbalize_edge(subgraph: Subgraph, edge: int) -> str:
    """A verbalized fact: "to plant flowers, people use a trowel"."""
    head, number, tail = (int(v) for v in subgraph.edges[edge])
    relation = subgraph.relations[number]
    return verbalize_triple(
        subgraph.labels[head], relation.name, relation.words or relation.label, subgraph.labels[tail]
    )


def paths_text(table: PathTable, nodes: Sequence[int], count: int) -> str:
    """Verbalize the `count` best paths to any of `nodes`, and the type of the first node; "" without any."""
    found = [path for node in nodes for path in table.paths(node, count)]
    found.sort(key=lambda path: (-path.worth, path.steps))
    edges = list(dict.fromkeys(edge for path in found[:count] for edge in path.steps))
    type_fact = table.type_fact(nodes[0]) if len(nodes) else None
    if type_fact is not None and type_fact not in edges:
        edges.append(type_fact)
    return "; ".join(verbalize_edge(table.subgraph, edge) for edge in edges)


def nearest_facts_text(subgraph: Subgraph, count: int, nodes: Sequence[int] | None = None) -> str:
    """Verbalize the `count` facts nearest to the question by embedding, of given nodes or of all; "" without any."""
    if not len(subgraph.near) or not count:
        return ""
    near = subgraph.near
    if nodes is not None:
        near = np.where(np.isin(subgraph.edges[:, [0, 2]], nodes).any(1), near, 0.0)
    order = np.argsort(-near, kind="stable")[:count]
    return "; ".join(verbalize_edge(subgraph, edge) for edge in order.tolist() if near[edge] > 0)


def choice_with_facts(choice: str, subgraph: Subgraph, count: int) -> str:
    """A choice with verbalized facts: those nearest to the question, else the best paths."""
    nodes = choice_nodes(subgraph) if count else []
    if not nodes:
        return choice
    fact_text = nearest_facts_text(subgraph, count, nodes) or paths_text(PathTable(subgraph), nodes, count)
    return f"{choice}. {fact_text}" if fact_text else choice


def choice_nodes(subgraph: Subgraph) -> list[int]:
    """The first three concepts that the choice of a subgraph mentions, longest mention first."""
    links = [link for link in subgraph.links if link.part is NodeRole.CHOICE]
    links.sort(key=lambda link: link.start - link.end)
    return list(dict.fromkeys(link.node for link in links))[:3]


# Building rows, and the record of what each was made from, which decoding needs.


class Pieces(NamedTuple):
    """A tokenised text: token ids, and the character range of each token."""

    ids: list[int]
    offsets: list[tuple[int, int]]


def without_blanks(text: str, offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Character ranges without blanks at either end; some tokenizers include the blank before a word in its token.

    >>> without_blanks("a  dog ", [(0, 1), (1, 6), (6, 7)])
    [(0, 1), (3, 6), (7, 7)]
    """
    found = []
    for start, end in offsets:
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        found.append((start, end))
    return found


@dataclass(frozen=True, slots=True)
class BatchRow:
    """What a row of the batch was made from, for decoding.

    `question` and `choice` are indices (choice -1: none). `offsets` is the character range in the passage of
    each token, (0, 0) outside the passage. Nodes first_node + 1 .. first_node + N of the batch are the
    subgraph's nodes in order (`first_node` is the context node), and its edges begin at `first_edge`.
    """

    question: int
    choice: int
    offsets: tuple[tuple[int, int], ...]
    subgraph: Subgraph
    first_node: int
    first_edge: int


class RowBuilder:
    """Collects the rows of a batch, as lists that are padded afterwards."""

    def __init__(self) -> None:
        self.ids: list[list[int]] = []
        self.segments: list[list[int]] = []
        self.rows: list[BatchRow] = []
        self.mentions: list[tuple[int, int, int]] = []
        self.spans: list[tuple[int, int]] = []
        self.candidate_index: list[list[int]] = []
        self.position: list[list[int]] = []
        self.packed: list[tuple[int, int, int, int]] = []  # row, number, choice, node
        self._nodes = 0
        self._edges = 0

    def add_row(
        self,
        question: int,
        choice: int,
        ids: list[int],
        segments: list[int],
        passage: Pieces,
        passage_at: int,
        left: int,
        graph: Subgraph,
    ) -> int:
        """Append a row with its own copy of the subgraph; returns the row's index.

        The row's passage begins at its token `passage_at`, with token `left` of the whole passage.
        """
        check_cancelled()
        offsets = [(0, 0)] * passage_at + passage.offsets[left : left + max(len(ids) - passage_at - 1, 0)]
        self.ids.append(ids)
        self.segments.append(segments)
        self.rows.append(BatchRow(question, choice, tuple(offsets), graph, self._nodes, self._edges))
        self._nodes += len(graph.nodes) + 1
        self._edges += len(graph.edges)
        return len(self.ids) - 1


def padded(rows: Sequence[Sequence[int]], width: int, value: int) -> Tensor:
    """Rows as a tensor (B, width) of int64, padded with `value`."""
    table = torch.full((len(rows), width), value, dtype=torch.long)
    for i, row in enumerate(rows):
        if row:
            table[i, : len(row)] = torch.tensor(row)
    return table


def gold_tokens(
    spans: Sequence[Span], passage: Pieces, left: int, right: int, passage_at: int
) -> tuple[int, int]:
    """First and last token of the first gold span that lies fully inside the window, else (0, 0)."""
    for span in spans:
        inside = [i for i, (s, e) in enumerate(passage.offsets) if s < span.end and e > span.start and e > s]
        if inside and left <= inside[0] and inside[-1] < right:
            return inside[0] - left + passage_at, inside[-1] - left + passage_at
    return 0, 0


Places = dict[NodeRole, list[tuple[int, int, int]]]
"""For each part of the text its sorted (token, index of the link, node) triples."""
MAX_MENTION_TOKENS = 4
"""Maximum number of tokens of a mention that are aligned to its node."""


def mention_places(graph: Subgraph, pieces: Mapping[NodeRole, Pieces]) -> Places:
    """The tokens of each part that its links cover, at most `MAX_MENTION_TOKENS` per link."""
    return {
        part: sorted(
            (token, order, link.node)
            for order, link in enumerate(graph.links)
            if link.part is part
            for token in _covering(text, link.start, link.end)
        )
        for part, text in pieces.items()
    }


def mentions_of_row(
    places: Places, seen: Mapping[NodeRole, tuple[int, int, int]], row: int, first_node: int
) -> list[tuple[int, int, int]]:
    """(row, token, node) of each mention in the tokens that a row holds.

    `seen` holds (shift, least, end) for each part: the row has the part's tokens least to end (half-open),
    and token t of the part is token shift + t of the row.
    """
    return [
        (row, shift + token, first_node + node)
        for order, token, node, shift in sorted(
            (order, token, node, shift)
            for part, (shift, least, end) in seen.items()
            for token, order, node in _between(places.get(part, []), least, end)
        )
    ]


def _covering(encoding: Pieces, start: int, end: int) -> list[int]:
    """Tokens that overlap the character range, at most `MAX_MENTION_TOKENS`. Offsets ascend, so the first is
    found by binary search."""
    found: list[int] = []
    for token in range(
        bisect_right(encoding.offsets, start, key=lambda offset: offset[1]), len(encoding.offsets)
    ):
        left, right = encoding.offsets[token]
        if left >= end or len(found) == MAX_MENTION_TOKENS:
            break
        if right > left:
            found.append(token)
    return found


def _between(places: Sequence[tuple[int, int, int]], least: int, end: int) -> Sequence[tuple[int, int, int]]:
    """The sorted (token, order, node) triples whose token is in the half-open range."""
    return places[bisect_left(places, (least,)) : bisect_left(places, (end,))]


# Selecting the windows of a long passage that are nearest to the question, by words and by embeddings.

Similarity = Callable[[str, Sequence[str]], Sequence[float]]
"""Cosine similarities (n,) of a text to each of n others."""
Window = tuple[int, int]
"""Tokens of a passage, half-open."""
STRETCH = 48
"""Length, in tokens, of the pieces of a passage that are embedded and compared with the question."""


def windows_with(spans: Sequence[Span], passage: Pieces, windows: Sequence[Window]) -> list[Window]:
    """The windows that contain one of the spans."""
    places = passage.offsets
    return [
        (left, right)
        for left, right in windows
        if left < right
        and any(places[left][0] <= span.start and span.end <= places[right - 1][1] for span in spans)
    ]


def nearest_windows(
    windows: Sequence[Window],
    most: int,
    question: tuple[str, Pieces],
    passage: tuple[str, Pieces],
    similarity: Similarity | None = None,
) -> list[Window]:
    """The `most` windows of a passage nearest to the question, in passage order; `question` and `passage` are
    texts with their tokens.

    The score of a window is the sum of the inverse document frequencies (over windows) of the question's
    tokens in it and, with `similarity`, the highest similarity of its stretches; both are standardized.
    Windows that overlap a selected one come after all that do not.
    """
    if len(windows) <= most:
        return list(windows)
    (asked, (tokens, _)), (text, (ids, offsets)) = question, passage
    held = [set(ids[left:right]) for left, right in windows]
    seen = Counter(token for own in held for token in own)
    rarity = {token: math.log((len(windows) + 1) / (seen[token] + 0.5)) for token in set(tokens)}
    scores = _standardised([sum(rarity[token] for token in rarity.keys() & own) for own in held])
    if similarity is not None:
        starts = range(0, len(ids), STRETCH)
        stretches = [text[offsets[at][0] : offsets[min(at + STRETCH, len(ids)) - 1][1]] for at in starts]
        near = list(zip(starts, similarity(asked, stretches), strict=True))
        best = [max(v for at, v in near if at < right and left < at + STRETCH) for left, right in windows]
        scores = scores + _standardised(best)
    order = [windows[number] for number in np.argsort(-scores, kind="stable").tolist()]
    kept: list[Window] = []
    for left, right in order:
        if len(kept) < most and all(right <= start or end <= left for start, end in kept):
            kept.append((left, right))
    rest = [window for window in order if window not in kept]
    return sorted(kept + rest[: most - len(kept)])


def _standardised(values: Sequence[float]) -> NDArray[np.float64]:
    """Values shifted and scaled to mean 0 and standard deviation 1, so that two scores can be added."""
    found = np.array(values, dtype=np.float64)
    moved: NDArray[np.float64] = (found - found.mean()) / (found.std() + 1e-9)
    return moved


# Candidates packed behind a row's shared prefix: the choices, or concepts that may answer an open question.


@dataclass(frozen=True, slots=True)
class PackedCandidate:
    """A candidate: a choice with its verbalized facts, a concept, or yes or no.

    `choice` is the index of a choice, else -1; `node` is that of a concept, -1 for yes and no and for choices
    without a linked concept.
    """

    text: str
    choice: int
    node: int


def pack_candidates(
    example: Example, graphs: Sequence[Subgraph], config: InputConfig, with_gold: bool
) -> tuple[Subgraph, list[PackedCandidate]]:
    """The subgraph shared by a question's rows, and their packed candidates.

    `graphs` holds one subgraph per choice, or one. Choices are packed with verbalized facts, concepts with
    their labels only: there are many of them, and the shared prefix has facts for all. With `with_gold`, an
    accepted concept of the subgraph is always among the candidates.
    """
    if not example.question.choices:
        (graph,) = graphs
        golds = {surface_key(c) for c in example.concepts} if with_gold else set()
        nodes = candidate_nodes(graph, config.candidates, golds)
        yes_no = [PackedCandidate(text, -1, -1) for text in (YES, NO) if config.yes_no]
        return graph, [*(PackedCandidate(graph.labels[node], -1, node) for node in nodes), *yes_no]
    own = graphs if len(graphs) > 1 else [graphs[0]] * len(example.question.choices)
    graph = merged_subgraph(graphs)
    place = {name: node for node, name in enumerate(graph.nodes)}
    packed = []
    for number, (choice, of) in enumerate(zip(example.question.choices, own, strict=True)):
        linked = choice_nodes(of)
        node = place[of.nodes[linked[0]]] if linked and len(graphs) > 1 else -1
        packed.append(PackedCandidate(choice_with_facts(choice, of, config.facts), number, node))
    return graph, packed


def candidate_nodes(graph: Subgraph, count: int, golds: Collection[str] = ()) -> list[int]:
    """The `count` top-ranked concepts, unmentioned ones first; if none of them is in `golds`, the last is
    replaced by one that is."""
    other = graph.roles == int(NodeRole.OTHER)
    order = np.lexsort((-graph.scores, ~other)).tolist()
    order = [node for node in order if graph.labels[node]]
    chosen = order[:count]
    if golds and chosen and not any(surface_key(graph.labels[node]) in golds for node in chosen):
        right = next((node for node in order[count:] if surface_key(graph.labels[node]) in golds), None)
        chosen = chosen if right is None else [*chosen[:-1], right]
    return chosen


def merged_subgraph(graphs: Sequence[Subgraph]) -> Subgraph:
    """Merge the subgraphs of a question's choices. Each concept occurs once, with the role CHOICE if it has
    that role in any of them; if there are several, links of choices are left out."""
    if len(graphs) == 1:
        return graphs[0]
    concepts: dict[str, list[Any]] = {}  # label, role and score of each
    relations: dict[str, Relation] = {}
    for graph in graphs:
        for name, *own in zip(
            graph.nodes, graph.labels, graph.roles.tolist(), graph.scores.tolist(), strict=True
        ):
            known = concepts.setdefault(name, own)
            if own[1] == int(NodeRole.CHOICE):
                known[1] = own[1]
        for relation in graph.relations:
            relations.setdefault(relation.name, relation)
    node = {name: number for number, name in enumerate(concepts)}
    kind = {name: number for number, name in enumerate(relations)}
    facts: dict[tuple[int, int, int], tuple[float, float]] = {}  # weight and nearness of each
    links: dict[Link, None] = {}
    for graph in graphs:
        near = graph.near if len(graph.near) else np.zeros(len(graph.edges), np.float32)
        for (head, number, tail), *own in zip(
            graph.edges.tolist(), graph.weights.tolist(), near.tolist(), strict=True
        ):
            fact = node[graph.nodes[head]], kind[graph.relations[number].name], node[graph.nodes[tail]]
            facts.setdefault(fact, (own[0], own[1]))
        own_links = (link for link in graph.links if link.part is not NodeRole.CHOICE)
        links |= dict.fromkeys(replace(link, node=node[graph.nodes[link.node]]) for link in own_links)
    weights, near = np.array(list(facts.values()), dtype=np.float32).reshape(-1, 2).T
    return Subgraph(
        nodes=tuple(concepts),
        labels=tuple(label for label, _, _ in concepts.values()),
        roles=np.array([role for _, role, _ in concepts.values()], dtype=np.int32),
        scores=np.array([score for _, _, score in concepts.values()], dtype=np.float32),
        edges=np.array(list(facts), dtype=np.int32).reshape(-1, 3),
        weights=weights,
        relations=tuple(relations.values()),
        links=tuple(links),
        near=near,
    )


# Candidates of an open question as its choices, each with its own facts.
#
# The reader then is a cross-encoder that reranks what a cheaper model retrieved (Nogueira and Cho, 2019).

LONGEST = 480
"""Maximum length of the passage of a question with such candidates, in characters (about 100 tokens)."""
_BEGIN = attrgetter("start")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*\s*|[.!?\n]+\s*")


class CandidateRow(NamedTuple):
    """A question, a subgraph, and the candidate to score: the only choice, else a concept by its name."""

    question: Question
    subgraph: Subgraph
    concept: str = ""


def as_choices(
    question: Question, subgraph: Subgraph, nodes: Sequence[int], facts: int
) -> tuple[Question, list[Subgraph]]:
    """The question with the labels of `nodes` as choices, and for each the part of the subgraph with the best
    paths to it."""
    question, subgraph = shortened(question, subgraph)
    table = PathTable(subgraph)
    labels = tuple(subgraph.labels[node] for node in nodes)
    return replace(question, choices=labels), [around(table, node, facts) for node in nodes]


def shortened(question: Question, subgraph: Subgraph) -> tuple[Question, Subgraph]:
    """The question with a long passage shortened to its most relevant sentences, at most `LONGEST` characters.

    Sentences are scored by the question's words in them and by their density of linked concepts. Those kept
    stay in order, and the character ranges of the subgraph's links are shifted accordingly.
    """
    passage = question.passage
    if passage is None or len(passage.text) <= LONGEST:
        return question, subgraph
    sentences = [match.span() for match in _SENTENCE.finditer(passage.text)]
    asked = {lemma(word) for word, _, _ in words(question.text)} - STOP_WORDS
    here = sorted((link for link in subgraph.links if link.part is NodeRole.PASSAGE), key=_BEGIN)

    def within(start: int, end: int) -> list[Link]:
        return here[bisect_left(here, start, key=_BEGIN) : bisect_left(here, end, key=_BEGIN)]

    worth = [
        2 * len(asked & {lemma(word) for word, _, _ in words(passage.text[start:end])})
        + len(within(start, end)) / (20 + end - start) * 20
        for start, end in cancellable(sentences)
    ]
    kept: list[int] = []
    room = LONGEST
    for number in sorted(range(len(sentences)), key=lambda n: (-worth[n], n)):
        start, end = sentences[number]
        if end - start <= room:
            kept.append(number)
            room -= end - start
    kept.sort()
    if not kept:  # every sentence is too long: the beginning of the passage
        sentences, kept = [(0, LONGEST)], [0]
    moved, links, at = [], [link for link in subgraph.links if link.part is not NodeRole.PASSAGE], 0
    for number in kept:
        start, end = sentences[number]
        moved.append(passage.text[start:end])
        links += [
            replace(link, start=link.start - start + at, end=link.end - start + at)
            for link in within(start, end)
            if link.end <= end
        ]
        at += end - start
    short = replace(question, passage=replace(passage, text="".join(moved)))
    return short, replace(subgraph, links=tuple(links))


def around(table: PathTable, node: int, facts: int) -> Subgraph:
    """The part of a subgraph with the best paths to a node and the node's type; the node gets the role CHOICE."""
    subgraph, rows = table.subgraph, {edge for path in table.paths(node, facts) for edge in path.steps}
    if (type_fact := table.type_fact(node)) is not None:
        rows.add(type_fact)
    some = subgraph.only(np.array(sorted(rows), dtype=np.int64))
    edges = some.edges.copy()
    kept = np.unique(np.concatenate([edges[:, 0], edges[:, 2], table.sources, [node]])).astype(np.int64)
    place = np.full(len(subgraph.nodes), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    edges[:, 0], edges[:, 2] = place[edges[:, 0]], place[edges[:, 2]]
    roles = subgraph.roles[kept].copy()
    roles[place[node]] = int(NodeRole.CHOICE)
    links = [replace(link, node=int(place[link.node])) for link in subgraph.links if place[link.node] >= 0]
    links = [link for link in links if link.node != place[node]]
    links.append(Link(NodeRole.CHOICE, 0, len(subgraph.labels[node]), int(place[node])))
    return replace(
        some,
        nodes=tuple(subgraph.nodes[number] for number in kept.tolist()),
        labels=tuple(subgraph.labels[number] for number in kept.tolist()),
        roles=roles,
        scores=subgraph.scores[kept],
        edges=edges,
        links=tuple(links),
    )


def row_key(row: CandidateRow) -> tuple[object, ...]:
    """Cache key: equal for rows with the same texts and facts whose relevances agree to two decimals.

    When attribution removes a fact, most candidates keep their facts, and relevances differ only in the third
    decimal: these need not be scored again.
    """
    question, subgraph, _ = row
    texts = (question.text, question.passage_text, question.choices, subgraph.nodes, subgraph.labels)
    facts = (subgraph.edges.tobytes(), subgraph.weights.tobytes(), subgraph.roles.tobytes(), subgraph.links)
    return (*texts, *facts, (100 * subgraph.scores).round().tobytes())


def training_choices(
    example: Example, subgraph: Subgraph, count: int, facts: int, draw: np.random.Generator
) -> tuple[Example, list[Subgraph]] | None:
    """An open question as multiple choice for training: an accepted concept and `count` - 1 hard negatives,
    sampled by relevance.

    None if the subgraph has no accepted concept, or too few others.
    """
    right = np.array([accepts(example.concepts, label) for label in subgraph.labels], dtype=bool)
    asked = subgraph.roles == int(NodeRole.QUESTION)
    gold = np.flatnonzero(right)
    others = np.flatnonzero(~right & ~asked)
    if not len(gold) or len(others) < count - 1:
        return None
    # the exponent favours the highest-ranked: harder negatives
    chance = np.clip(subgraph.scores[others].astype(np.float64), 1e-3, None) ** 1.5
    linked = subgraph.roles[others] == int(NodeRole.PASSAGE)
    # concepts that the passage mentions have high scores; sampled by these, they would crowd out the others
    chance = np.where(linked, 0.1 * chance.mean(), chance)
    wrong = draw.choice(others, size=count - 1, replace=False, p=chance / chance.sum())
    nodes = [int(draw.choice(gold)), *wrong.tolist()]
    draw.shuffle(nodes)
    question, graphs = as_choices(example.question, subgraph, nodes, facts)
    chosen = next(i for i, node in enumerate(nodes) if right[node])
    return Example(question, choice=chosen, kind=example.kind), graphs

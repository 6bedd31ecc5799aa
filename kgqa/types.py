"""The words of kgqa: what questions, graphs, evidence and answers are. No torch, no files, no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from networkx import MultiDiGraph

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]
_HARMLESS = frozenset("\u00a0\u3000\u2009\u202f\u200c\u200d")


class InputError(ValueError):
    """Something the user gave cannot be used. The message is one line: what, where (file, line), remedy.

    The command line prints it on standard error and exits with 2; the app shows it as a sentence.
    """


def printable(text: str) -> str:
    """A text of unknown origin for a terminal: what would move the cursor, recolour or break the line is shown.

    >>> printable(chr(27) + "[31mred")
    '\\\\x1b[31mred'
    """
    return "".join(c if c.isprintable() or c in _HARMLESS else repr(c)[1:-1] for c in text)


def first_line(error: BaseException, most: int = 200) -> str:
    """What an error says, cut to one line of at most so many characters."""
    return (str(error).splitlines() or [type(error).__name__])[0][:most]


class NodeRole(IntEnum):
    """Why a concept is in a subgraph. The order is the row of the role embedding; never reorder."""

    QUESTION = 0
    PASSAGE = 1
    CHOICE = 2
    OTHER = 3
    CONTEXT = 4


LINKED = (NodeRole.QUESTION, NodeRole.PASSAGE, NodeRole.CHOICE)
"""Roles of the concepts that were linked: the texts name them."""


class Source(StrEnum):
    """Where an answer came from."""

    PASSAGE = "passage"
    KNOWLEDGE = "knowledge"
    CHOICE = "choice"
    NONE = "none"


CAUTION = 0.2
"""Confidence below which an answer is given as a guess, unless a user says otherwise."""
YES, NO = "yes", "no"
"""What a yes/no question is answered with."""


class Span(NamedTuple):
    """Half-open character range."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact. `head`, `relation` and `tail` are names: IRIs for RDF, plain strings for TSV."""

    head: str
    relation: str
    tail: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Passage:
    """The text a question is asked about."""

    text: str
    id: str = ""
    made_of: str = ""
    """Text of the passage that this one is a copy of, with other names."""


@dataclass(frozen=True, slots=True)
class Question:
    """One type for span, choice and open questions: choices may be empty, the passage may be missing."""

    text: str
    choices: tuple[str, ...] = ()
    passage: Passage | None = None
    id: str = ""

    @property
    def passage_text(self) -> str:
        """The passage's text, empty where there is none."""
        return self.passage.text if self.passage else ""


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its gold answer. A question without any gold is one that cannot be answered.

    `choice` is an index into `question.choices`; any of `spans` of the passage, and of `concepts` by their surface, is
    right; `verdict` is the answer to a yes/no question."""

    question: Question
    choice: int | None = None
    spans: tuple[Span, ...] = ()
    concepts: tuple[str, ...] = ()
    kind: str = ""
    verdict: bool | None = None

    @property
    def source(self) -> Source:
        """Where the gold answer stands."""
        if self.choice is not None:
            return Source.CHOICE
        if self.spans or (self.verdict is not None and self.question.passage):
            return Source.PASSAGE
        return Source.KNOWLEDGE if self.concepts or self.verdict is not None else Source.NONE

    @property
    def golds(self) -> tuple[str, ...]:
        """Accepted answers as text: the choice, else spans and concept surfaces; empty where none is right."""
        question = self.question
        if self.choice is not None:
            return (question.choices[self.choice],)
        if self.verdict is not None:
            return (YES if self.verdict else NO,)
        spans = (question.passage_text[span.start : span.end] for span in self.spans)
        return tuple(dict.fromkeys((*spans, *self.concepts)))


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of text that may name concepts: `entities` are graph ids, best candidate first.

    `certainty` is below 1 where no label matches and the nearest ones stand in.
    """

    start: int
    end: int
    entities: tuple[int, ...]
    certainty: float = 1.0


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of a graph: `name` (IRI or string), readable `label`, and `words` such as "is used for".

    `inverse` says it from tail to head ("is done with"), where there are words for that; `means` is what the graph
    knows of it (`graph.meanings`), None where that is told by its name and words alone.
    """

    name: str
    label: str
    words: str = ""
    inverse: str = ""
    means: frozenset[str] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Label:
    """A surface form of the entity or relation `name`. An alternate has `preferred=False`."""

    name: str
    text: str
    language: str = ""
    preferred: bool = True


class Edges(NamedTuple):
    """Facts in bulk, one row each, in stored direction. Ids belong to the graph that gave them."""

    head: Ints  # (E,) entity ids
    relation: Ints  # (E,) indices into KnowledgeGraph.relations
    tail: Ints  # (E,) entity ids
    weight: Floats  # (E,)


@runtime_checkable
class KnowledgeGraph(Protocol):
    """Any graph: bulk questions (`find`, `neighbours`, `labels`) and what is known without asking.

    Entities are int32 ids that the graph hands out; they mean nothing to another graph. Each question
    takes many at once, so that two hops over a remote graph cost four round trips however long the text.
    """

    name: str  # short, for people
    hash: str  # of the content (hex), names caches; a remote graph hashes its URL
    is_remote: bool  # whether each question costs a round trip; then only what is needed is asked
    is_complete: bool  # whether what it does not state is not so (closed world)

    @property
    def added_ends(self) -> Ints:
        """Concepts of facts that an edit added, which retrieval keeps; empty for a graph as it was written."""

    @property
    def entity_count(self) -> int | None:
        """Concepts of the graph, with ids 0 to this, excluded, those aside that an edit adds; None for a remote one."""

    @property
    def relations(self) -> Sequence[Relation]:
        """Relation table; grows for a remote graph as relations are met."""

    @property
    def kind_names(self) -> Sequence[str]:
        """Kinds of thing that the graph tells apart (tool, place, feeling); empty where it tells none apart."""

    def kinds(self, entities: Ints) -> Ints:
        """Kind of each entity by its place in `kind_names`, -1 where it is not known (local, never a round trip)."""

    def find(self, surfaces: Sequence[str]) -> list[Ints]:
        """Entities that bear each surface form, as it stands or as `normalise` gives it, best first."""

    def find_parts(self, words: Sequence[str]) -> list[Ints]:
        """Entities in whose name each word stands, in lower case: "curie" in Marie Curie; none where many are, or of a
        remote graph."""

    def neighbours(self, entities: Ints, limit: int | None = None) -> Edges:
        """Facts that have one of `entities` as head or tail, each fact once.

        `limit` caps the facts taken per entity and direction, heaviest first (hubs).
        """

    def facts_among(self, entities: Ints, others: Ints, limit: int | None = None) -> Edges:
        """Those of `neighbours(entities, limit)` whose both ends are in `others`."""

    def labels(self, entities: Ints) -> list[str]:
        """Preferred label of each entity."""

    def all_labels(self, entity: int) -> list[Label]:
        """Every label of an entity, the preferred one first; none of a remote graph, which is not asked for them."""

    def names(self, entities: Ints) -> list[str]:
        """IRI or name of each entity (local, never a round trip)."""

    def ids(self, names: Sequence[str]) -> Ints:
        """Id of each IRI or name, -1 where the graph has no such entity."""

    def degrees(self, entities: Ints) -> Ints:
        """Number of facts each entity takes part in (an estimate for a remote graph)."""


def _empty(*shape: int) -> Ints:
    return np.zeros(shape, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Link:
    """A mention that was aligned to a node of the subgraph. `part` is question, passage or choice."""

    part: NodeRole
    start: int
    end: int
    node: int


@dataclass(frozen=True, slots=True)
class Subgraph:
    """What was retrieved for one question (or one choice of it): ranked concepts and the facts among them."""

    nodes: tuple[str, ...] = ()  # names, (N)
    labels: tuple[str, ...] = ()  # (N)
    roles: Ints = field(default_factory=lambda: _empty(0))  # (N,) NodeRole
    scores: Floats = field(default_factory=lambda: np.zeros(0, dtype=np.float32))  # (N,) relevance 0..1
    edges: Ints = field(default_factory=lambda: _empty(0, 3))  # (E, 3) head node, relation, tail node
    weights: Floats = field(default_factory=lambda: np.zeros(0, dtype=np.float32))  # (E,)
    relations: tuple[Relation, ...] = ()  # the table that edges[:, 1] points into
    links: tuple[Link, ...] = ()  # mentions aligned to nodes
    near: Floats = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    """(E,) cosine of each fact and the question, 0 where it was not found by meaning; (0,) where none was sought."""

    def only(self, facts: NDArray[np.integer] | NDArray[np.bool_]) -> Subgraph:
        """The same concepts with some of the facts: rows, or a mask (E,)."""
        near = self.near[facts] if len(self.near) else self.near
        return replace(self, edges=self.edges[facts], weights=self.weights[facts], near=near)

    def triple(self, edge: int) -> Triple:
        """The fact in row `edge`, by names."""
        head, relation, tail = (int(v) for v in self.edges[edge])
        return Triple(
            self.nodes[head], self.relations[relation].name, self.nodes[tail], float(self.weights[edge])
        )

    @property
    def triples(self) -> tuple[Triple, ...]:
        """All facts, by names."""
        return tuple(self.triple(e) for e in range(len(self.edges)))

    def to_networkx(self) -> MultiDiGraph:
        """A `networkx.MultiDiGraph`: nodes by name with `label`, `role` and `score`, edges by relation with `label` and
        `weight`."""
        import networkx  # for those who ask alone

        graph = networkx.MultiDiGraph()
        for name, label, role, score in zip(self.nodes, self.labels, self.roles, self.scores, strict=True):
            graph.add_node(name, label=label, role=NodeRole(int(role)).name.lower(), score=float(score))
        for (head, relation, tail), weight in zip(self.edges.tolist(), self.weights, strict=True):
            kind = self.relations[relation]
            ends = (self.nodes[head], self.nodes[tail])
            graph.add_edge(*ends, key=kind.name, label=kind.words or kind.label, weight=float(weight))
        return graph


@dataclass(frozen=True, slots=True)
class EvidencePath:
    """Facts that lead from a concept of the question or passage to the answer: rows of the subgraph's edges in walking
    order, and for each whether it is walked from head to tail."""

    steps: tuple[int, ...]
    forward: tuple[bool, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Reading:
    """A logical form as a question was understood: in words, its result, as an s-expression, and how likely it is."""

    phrase: str
    result: str
    form: str
    probability: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why an answer was given: a span of the passage, or paths of facts in a subgraph."""

    span: Span | None = None
    paths: tuple[EvidencePath, ...] = ()
    subgraph: Subgraph = field(default_factory=Subgraph)
    score: float = 0.0
    influence: float | None = None
    """How far the answer's log-odds fall without the fact of the first path that matters most; None if not measured."""
    query: str = ""
    """For an answer that was computed from the facts of the first path: the same in SPARQL."""
    reading: Reading | None = None
    """What the question was read as, where a logical form answers it."""
    other_readings: tuple[Reading, ...] = ()
    """The next likely ones that give something else."""
    near: Reading | None = None
    """Where the graph does not say what was asked: what it does say that comes nearest."""

    def triples(self, path: EvidencePath) -> tuple[Triple, ...]:
        """The facts of a path, by names."""
        return tuple(self.subgraph.triple(e) for e in path.steps)

    def to_networkx(self) -> MultiDiGraph:
        """The facts of all paths, as `Subgraph.to_networkx` has them."""
        steps = sorted({step for path in self.paths for step in path.steps})
        graph = self.subgraph.only(np.array(steps, dtype=np.int64)).to_networkx()
        graph.remove_nodes_from([name for name, degree in dict(graph.degree()).items() if not degree])
        return graph


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible answer. `concept` is its node's name where it is a concept of the graph."""

    text: str
    source: Source
    score: float
    span: Span | None = None
    concept: str | None = None

    @property
    def sort(self) -> str:
        """What its confidence is calibrated with: its source, or "verdict" for a yes or no from the passage."""
        verdict = self.source is Source.PASSAGE and self.text in (YES, NO)
        return "verdict" if verdict else self.source.value


@dataclass(frozen=True, slots=True)
class Item:
    """One of several things that are the answer together: the path of facts in the evidence that leads to it, or where
    it stands in the passage."""

    text: str
    concept: str | None = None
    span: Span | None = None
    path: EvidencePath | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the reader decided, with the runners-up and the evidence. `text` is None for `Source.NONE`; where the answer
    is several things, they are its `items`, and the text names them all. `none`: how likely nothing was it."""

    question: Question
    text: str | None
    source: Source
    confidence: float
    candidates: tuple[Candidate, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)
    timing_ms: dict[str, float] = field(default_factory=dict)
    model: str = ""
    graph: str = ""
    items: tuple[Item, ...] = ()
    none: float = 0.0

    @property
    def best(self) -> str | None:
        """The likeliest single answer: `text`, or of several things the one that was found first."""
        return self.candidates[0].text if self.items and self.candidates else self.text

    @property
    def runners_up(self) -> tuple[Candidate, ...]:
        """The candidates that were not taken, best first; of those that read alike the best one."""
        taken = {self.text, self.best, *(item.text for item in self.items)}
        distinct: dict[str, Candidate] = {}
        for candidate in (c for c in self.candidates if c.text not in taken):
            distinct.setdefault(candidate.text, candidate)
        return tuple(distinct.values())

"""Data types of kgqa: questions, graphs, evidence, answers and errors. No torch, no files, no network."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kgqa.notebook import LAYOUTS, answer_html, laid_out, networkx_of, rdf_of

if TYPE_CHECKING:
    from networkx import MultiDiGraph
    from rdflib import Graph as RdfGraph

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]
_HARMLESS = frozenset("\u00a0\u3000\u2009\u202f\u200c\u200d")  # spaces and joiners


class InputError(ValueError):
    """Invalid user input. The message is one line: what is wrong, where (file, line), and the remedy.

    The command line prints it on standard error and exits with 2; the app shows it as a sentence.
    """


class DamagedError(InputError):
    """A file of the installation or cache is damaged; the user's input is not at fault."""


class ArgumentError(InputError, TypeError):
    """A Python call was given an argument of the wrong type."""


def printable(text: str) -> str:
    """A text of unknown origin made safe for a terminal: control characters are escaped.

    >>> printable(chr(27) + "[31mred")
    '\\\\x1b[31mred'
    """
    return "".join(c if c.isprintable() or c in _HARMLESS else repr(c)[1:-1] for c in text)


def first_line(error: BaseException, most: int = 200) -> str:
    """The first line of an error's message, at most `most` characters of it."""
    return (str(error).splitlines() or [type(error).__name__])[0][:most]


@contextmanager
def report_damage(wrong: str, remedy: str, most: int = 200) -> Iterator[None]:
    """Context that turns any error into an InputError: reading a damaged file may fail anywhere."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{wrong} ({first_line(error, most)}); {remedy}") from error


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """Remedy for an unknown name: "did you mean ...?" with the most similar known one, else `otherwise`."""
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise


def _check_type(value: object, kind: Any, what: str, remedy: str) -> None:
    if not isinstance(value, kind) or (kind is Iterable and isinstance(value, str)):
        given = "missing" if value is None else f"of type {type(value).__name__}"
        raise ArgumentError(f"{what} {given}; {remedy}")


def _checked_layout(name: str) -> str:
    if name and name not in LAYOUTS:
        raise InputError(
            f"unknown layout {name!r}; {did_you_mean(name, LAYOUTS, 'choose ' + ', '.join(LAYOUTS))}"
        )
    return name


class NodeRole(IntEnum):
    """Why a concept is in a subgraph. The values index the role embedding: never reorder."""

    QUESTION = 0
    PASSAGE = 1
    CHOICE = 2
    OTHER = 3  # retrieved, not mentioned
    CONTEXT = 4  # the extra node of each row


LINKED = (NodeRole.QUESTION, NodeRole.PASSAGE, NodeRole.CHOICE)
"""Roles of linked concepts, which the texts mention."""


class Source(StrEnum):
    """Where an answer came from. Example: `answer.source is Source.PASSAGE`, or `answer.source == "passage"`."""

    PASSAGE = "passage"
    KNOWLEDGE = "knowledge"
    CHOICE = "choice"
    NONE = "none"


CAUTION = 0.5
"""Default confidence below which an answer is presented as a guess."""
YES, NO = "yes", "no"
"""Answers to yes/no questions."""


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
    """The passage that a question is about. Example: `Passage("It rains.", id="weather")`"""

    text: str
    id: str = ""
    made_of: str = ""
    """Original text, if this passage is a copy with person names replaced (data augmentation)."""

    def __post_init__(self) -> None:
        _check_type(self.text, str, "the passage is", "give it as text")


@dataclass(frozen=True, slots=True, init=False)
class Question:
    """A span, multiple-choice or open question: `choices` may be empty, `passage` None. Letters of `text` are composed
    with their marks (Unicode's NFC), as graphs write them.

    Raises:
        ArgumentError: an argument has the wrong type.

    >>> Question("What did he open?", ["umbrella", "oven"], passage="It began to rain.").passage
    Passage(text='It began to rain.', id='', made_of='')
    """

    text: str
    choices: tuple[str, ...] = ()
    passage: Passage | None = None
    id: str = ""

    def __init__(
        self,
        text: str,
        choices: Iterable[str] = (),
        passage: Passage | str | None = None,
        id: str = "",
    ) -> None:
        _check_type(text, str, "the question is", "give it as text")
        text = unicodedata.normalize("NFC", text)
        _check_type(choices, Iterable, "the choices are", "give a list of texts")
        choices = tuple(choices)
        for choice in choices:
            _check_type(choice, str, "a choice is", "give each as text")
        _check_type(passage, Passage | str | None, "the passage is", "give it as text, or leave it out")
        if isinstance(passage, str):
            passage = Passage(passage) if passage else None
        _check_type(id, str, "the question's id is", "give it as text")
        for name, value in (("text", text), ("choices", choices), ("passage", passage), ("id", id)):
            object.__setattr__(self, name, value)

    @property
    def passage_text(self) -> str:
        """The passage's text; "" without a passage."""
        return self.passage.text if self.passage else ""


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its gold answers. Without any gold answer it is unanswerable.

    `choice` is an index into `question.choices`. Each of the `spans` of the passage and each of the
    `concepts` (surface forms) is a correct answer. `kind` is the question type. `yes_no_label` answers a
    yes/no question; `known` marks an answer that is common knowledge, whatever the passage says. `same` is
    the key of a group of paraphrases: questions about one passage with the same answer."""

    question: Question
    choice: int | None = None
    spans: tuple[Span, ...] = ()
    concepts: tuple[str, ...] = ()
    kind: str = ""
    yes_no_label: bool | None = None
    known: bool = False
    same: str = ""

    @property
    def source(self) -> Source:
        """Source of the gold answer."""
        if self.choice is not None:
            return Source.CHOICE
        if self.spans or (self.yes_no_label is not None and self.question.passage and not self.known):
            return Source.PASSAGE
        return Source.KNOWLEDGE if self.concepts or self.yes_no_label is not None else Source.NONE

    @property
    def golds(self) -> tuple[str, ...]:
        """Accepted answers as text: the choice, yes or no, or spans and concepts; empty if unanswerable."""
        question = self.question
        if self.choice is not None:
            return (question.choices[self.choice],)
        if self.yes_no_label is not None:
            return (YES if self.yes_no_label else NO,)
        spans = (question.passage_text[span.start : span.end] for span in self.spans)
        return tuple(dict.fromkeys((*spans, *self.concepts)))


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention: a span of a text with candidate entities (graph ids, best first).

    `certainty` is below 1 if no label matches exactly, but a part of one or a similar one does.
    """

    start: int
    end: int
    entities: tuple[int, ...]
    certainty: float = 1.0


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of a graph: `name` (IRI or string), readable `label`, and `words` such as "is used for".

    `inverse` are the words from tail to head ("is done with"), if any; `types` are the relation types that the graph
    states (`kgqa.graph.relation_types`), None if they follow from name and words alone. `sentence` is a template for
    displaying a fact, with {A} and {B} for head and tail; empty: `words` are used.
    """

    name: str
    label: str
    words: str = ""
    inverse: str = ""
    types: frozenset[str] | None = field(default=None, compare=False)
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """A label of the entity or relation `name`; alternative labels have `preferred=False`."""

    name: str
    text: str
    language: str = ""
    preferred: bool = True


class Edges(NamedTuple):
    """Facts in columns, one row each, in stored direction. Ids are those of the graph that returned them."""

    head: Ints  # (E,) entity ids
    relation: Ints  # (E,) indices into KnowledgeGraph.relations
    tail: Ints  # (E,) entity ids
    weight: Floats  # (E,)


@runtime_checkable
class KnowledgeGraph(Protocol):
    """Protocol of a knowledge graph: bulk queries (`find`, `neighbours`, `labels`), and properties without a query.

    Entities are int32 ids local to one graph. Each query takes many at once, so that two hops over a remote graph cost
    a few round trips however long the text.

    Example: `graph.labels(graph.find(["trowel"])[0])`
    """

    name: str  # short, for display
    hash: str  # of the content (hex), part of cache keys; of the URL for a remote graph
    is_remote: bool  # whether each query is a round trip, so that only what is needed is queried
    closed_world: bool  # facts that are not stated are false

    @property
    def added_entities(self) -> Ints:
        """Entities of facts added by an edit, which retrieval always keeps; empty for an unedited graph."""

    @property
    def entity_count(self) -> int | None:
        """Number of entities, with ids from 0, not counting those that an edit adds; None for a remote graph."""

    @property
    def relations(self) -> Sequence[Relation]:
        """Relation table; for a remote graph, it grows with the relations returned by queries."""

    @property
    def type_names(self) -> Sequence[str]:
        """Entity types of the graph (tool, place, feeling); may be empty."""

    def types_of(self, entities: Ints) -> Ints:
        """Type of each entity as an index into `type_names`, -1 if unknown (local, never a round trip)."""

    def find(self, surfaces: Sequence[str], language: str = "") -> list[Ints]:
        """For each surface form, the entities with that label, as written or normalised, best first. With `language`,
        an entity with labels in that language is found by them only (ignored by a remote graph)."""

    def find_parts(self, words: Sequence[str]) -> list[Ints]:
        """For each lower-case word, entities with it in a label; none if there are many, or for a remote graph."""

    def neighbours(self, entities: Ints, limit: int | None = None) -> Edges:
        """Facts with one of `entities` as head or tail, each once; `limit` per entity and direction, heaviest first."""

    def facts_among(self, entities: Ints, others: Ints, limit: int | None = None) -> Edges:
        """Facts of `neighbours(entities, limit)` whose head and tail are in `others`."""

    def labels(self, entities: Ints) -> list[str]:
        """Preferred label of each entity."""

    def all_labels(self, entity: int) -> list[Label]:
        """Every label of an entity, preferred one first; none for a remote graph, which is not queried for them."""

    def names(self, entities: Ints) -> list[str]:
        """IRI or name of each entity (local, never a round trip)."""

    def ids(self, names: Sequence[str]) -> Ints:
        """Id of each IRI or name, -1 if the graph has no such entity."""

    def degrees(self, entities: Ints) -> Ints:
        """Number of facts of each entity (an estimate for a remote graph)."""


def _empty(*shape: int) -> Ints:
    return np.zeros(shape, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Link:
    """A mention aligned to a node of the subgraph. `part` is the text it is in: question, passage or choice."""

    part: NodeRole
    start: int
    end: int
    node: int


@dataclass(frozen=True, slots=True)
class Subgraph:
    """The retrieval result for one question (or one of its choices): ranked concepts and the facts among them."""

    nodes: tuple[str, ...] = ()  # names, (N)
    labels: tuple[str, ...] = ()  # (N)
    roles: Ints = field(default_factory=lambda: _empty(0))  # (N,) NodeRole
    scores: Floats = field(default_factory=lambda: np.zeros(0, dtype=np.float32))  # (N,) relevance 0..1
    edges: Ints = field(default_factory=lambda: _empty(0, 3))  # (E, 3) head node, relation, tail node
    weights: Floats = field(default_factory=lambda: np.zeros(0, dtype=np.float32))  # (E,)
    relations: tuple[Relation, ...] = ()  # the table that edges[:, 1] points into
    links: tuple[Link, ...] = ()  # mentions aligned to nodes
    near: Floats = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    """(E,) cosine similarity to the question, 0 for facts not found by dense retrieval; (0,) without it."""

    def only(self, facts: NDArray[np.integer] | NDArray[np.bool_]) -> Subgraph:
        """The same concepts with a subset of the facts: rows, or a mask (E,)."""
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

    def to_networkx(self, layout: str = "") -> MultiDiGraph:
        """A `networkx.MultiDiGraph`: nodes by name with `label`, `role` and `score`, edges by relation with `label` and
        `weight`. All that networkx writes (GraphML, GEXF, Pajek, ...) can be made of it. With a `layout` of networkx
        ("spring", "kamada_kawai", ...), nodes have `x` and `y` too.

        Raises:
            InputError: there is no such layout.
        """
        graph = networkx_of(self, [NodeRole(role).name.lower() for role in self.roles.tolist()])
        return laid_out(graph, _checked_layout(layout))

    def to_rdf(self) -> RdfGraph:
        """The facts as an `rdflib.Graph`, with the labels of entities and relations. Names that are no IRI get one that
        begins with `urn:kgqa:`."""
        return rdf_of(self)


@dataclass(frozen=True, slots=True)
class EvidencePath:
    """Facts that lead from a concept of the question or passage to the answer: rows of the subgraph's edges in path
    order, and for each whether it is followed from head to tail."""

    steps: tuple[int, ...]
    forward: tuple[bool, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Interpretation:
    """How the question was interpreted: `form` is a logical form (an s-expression) or a calculation, `phrase` its
    verbalization."""

    phrase: str
    result: str
    form: str
    probability: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence for an answer: a span of the passage, or paths of facts in a subgraph.

    Example: `[answer.evidence.triples(path) for path in answer.evidence.paths]`
    """

    span: Span | None = None
    paths: tuple[EvidencePath, ...] = ()
    subgraph: Subgraph = field(default_factory=Subgraph)
    score: float = 0.0
    attribution: float | None = None
    """Leave-one-out attribution: drop of the answer's log-odds without the facts of the first path, or of all paths if
    no single one matters; None: not measured."""
    query: str = ""
    """SPARQL query, if the answer was computed by a logical form or is stated by facts."""
    interpretation: Interpretation | None = None
    """Interpretation of the question, if a logical form, calculation or comparison answers it."""
    other_interpretations: tuple[Interpretation, ...] = ()
    """The next most probable interpretations with other results."""
    near: Interpretation | None = None
    """The nearest question that the graph does answer, if it does not answer this one."""

    def triples(self, path: EvidencePath) -> tuple[Triple, ...]:
        """The facts of a path, by names."""
        return tuple(self.subgraph.triple(e) for e in path.steps)

    @property
    def facts(self) -> Subgraph:
        """The subgraph with only the facts of the paths."""
        rows = sorted({step for path in self.paths for step in path.steps})
        return self.subgraph.only(np.array(rows, dtype=np.int64))

    def to_rdf(self) -> RdfGraph:
        """The facts of all paths as an `rdflib.Graph`, as `Subgraph.to_rdf`."""
        return self.facts.to_rdf()

    def to_networkx(self, layout: str = "") -> MultiDiGraph:
        """The facts of all paths as a networkx graph, as `Subgraph.to_networkx`."""
        graph = self.facts.to_networkx()
        graph.remove_nodes_from([name for name, degree in dict(graph.degree()).items() if not degree])
        return laid_out(graph, _checked_layout(layout))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate answer. `concept` is its name in the graph, if it is a concept."""

    text: str
    source: Source
    score: float
    span: Span | None = None
    concept: str | None = None

    @property
    def sort(self) -> str:
        """Calibration class: its source, or "yes_no" for yes or no from the passage."""
        is_yes_no = self.source is Source.PASSAGE and self.text in (YES, NO)
        return "yes_no" if is_yes_no else self.source.value


@dataclass(frozen=True, slots=True)
class Item:
    """One item of an answer with several items, with its evidence path or its span of the passage."""

    text: str
    concept: str | None = None
    span: Span | None = None
    path: EvidencePath | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with runners-up and evidence. `text` is None for `Source.NONE`, and lists all `items` if
    there are several. `none` is the probability that the question is unanswerable.

    Example: `print(answer.text, answer.source, answer.confidence)`
    """

    question: Question
    text: str | None
    source: Source
    confidence: float
    # too long for a repr, as is the evidence
    candidates: tuple[Candidate, ...] = field(default=(), repr=False)
    evidence: Evidence = field(default_factory=Evidence, repr=False)
    timing_ms: dict[str, float] = field(default_factory=dict, repr=False)
    model: str = ""
    graph: str = ""
    items: tuple[Item, ...] = ()
    none: float = 0.0
    harm: str = ""
    """Kind of harm that the question is about ("self", "others"), if it was not answered for that reason."""

    def _repr_html_(self) -> str:
        """HTML for notebooks: headline, highlighted passage and evidence path."""
        return answer_html(self)

    @property
    def best(self) -> str | None:
        """The most probable single answer: `text`, or the first of several items."""
        return self.candidates[0].text if self.items and self.candidates else self.text

    @property
    def runners_up(self) -> tuple[Candidate, ...]:
        """The other candidates, best first; of candidates with the same text only the best."""
        taken = {self.text, self.best, *(item.text for item in self.items)}
        distinct: dict[str, Candidate] = {}
        for candidate in (c for c in self.candidates if c.text not in taken):
            distinct.setdefault(candidate.text, candidate)
        return tuple(distinct.values())

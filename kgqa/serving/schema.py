"""What programs send and get: the JSON of the service, for its checks and for its OpenAPI description."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from kgqa.checking import MAX_CHOICES, MAX_PASSAGE_CHARACTERS, MAX_QUESTION_CHARACTERS
from kgqa.types import Passage, Question

MAX_QUESTIONS = 100
MAX_EDITS = 50
MAX_END_CHARACTERS = 500

EXAMPLE: JsonDict = {
    "question": "What did I dig with?",
    "passage": "I want to plant flowers, so I dug the ground.",
}
EXAMPLE_ANSWER: JsonDict = {
    "id": "",
    "question": EXAMPLE["question"],
    "answer": "trowel",
    "source": "knowledge",
    "confidence": 0.87,
    "reason": "to plant flowers, people use a trowel",
    "candidates": [
        {"text": "trowel", "source": "knowledge", "score": 0.81, "span": None, "concept": "urn:trowel"}
    ],
    "items": [],
    "evidence": {
        "span": None,
        "influence": None,
        "paths": [{"score": 0.6, "sentences": ["to plant flowers, people use a trowel"], "triples": []}],
        "subgraph": {"nodes": [], "edges": [], "size": [100, 412]},
    },
    "timing_ms": {"link": 2.0, "retrieve": 8.0, "encode": 1.0, "reason": 30.0, "total": 41.0},
    "model": "kgqa-everyday",
    "graph": "everyday",
}
EXAMPLE_EDIT: JsonDict = {"head": "trowel", "relation": "used for", "tail": "plant flowers"}


class Sent(BaseModel):
    """What callers send: known fields, and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _has_few_fields(cls, sent: Any) -> Any:
        """Hundreds of thousands are told of at once, since to tell of each holds everyone up."""
        if isinstance(sent, dict) and len(sent) > len(cls.model_fields):
            raise PydanticCustomError("extra_forbidden", "There are fields that are not permitted")
        return sent


class Asked(Sent):
    """A question, perhaps about a passage, perhaps with choices."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    question: str = Field(min_length=1, max_length=MAX_QUESTION_CHARACTERS)
    passage: str | None = Field(None, max_length=MAX_PASSAGE_CHARACTERS)
    choices: list[Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_CHARACTERS)]] = Field(
        default_factory=list, max_length=MAX_CHOICES
    )
    id: str = Field("", max_length=200)
    model: str = Field("", max_length=200, description="One of /v1/readers; left out, the first.")
    graph: str = Field("", max_length=2_000, description="One of /v1/graphs; left out, the first.")

    def as_question(self) -> Question:
        """As the reader takes it."""
        passage = Passage(self.passage) if self.passage else None
        return Question(self.question, tuple(self.choices), passage, self.id)


class AskedMany(Sent):
    """Several questions at once; the answers come in the same order."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"questions": [EXAMPLE]}]})

    questions: list[Asked] = Field(min_length=1, max_length=MAX_QUESTIONS)


class StatedFact(Sent):
    """A fact, its ends in words or as names, its relation as the graph calls it."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_EDIT]})

    head: str = Field(min_length=1, max_length=MAX_END_CHARACTERS)
    relation: str = Field(min_length=1, max_length=MAX_END_CHARACTERS)
    tail: str = Field(min_length=1, max_length=MAX_END_CHARACTERS)


class WhatIf(Asked):
    """A question, and facts that are added to the graph or struck out of it for this question alone."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**EXAMPLE, "strike": [EXAMPLE_EDIT]}]})

    add: list[StatedFact] = Field(default_factory=list, max_length=MAX_EDITS)
    strike: list[StatedFact] = Field(default_factory=list, max_length=MAX_EDITS)


class AnswerBody(BaseModel):
    """An answer with its evidence, as `kgqa ask --json` prints it."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [EXAMPLE_ANSWER]})

    id: str
    question: str
    answer: str | None
    source: str = Field(description="passage, knowledge, choice or none")
    confidence: float = Field(ge=0, le=1)
    reason: str | None = Field(None, description="The facts of the first path of evidence, in words")
    candidates: list[dict[str, Any]]
    items: list[dict[str, Any]] = Field(
        default_factory=list,
        description="Where several things are the answer together, each: text, concept or span, and path of facts",
    )
    evidence: dict[str, Any] = Field(
        description="span, paths of facts, SPARQL `query`, and `subgraph`: its size, with ?full=true all of it"
    )
    timing_ms: dict[str, float]
    model: str
    graph: str


class AnswersBody(BaseModel):
    """Answers in the order of the questions; a question that cannot be answered has a problem in its place."""

    answers: list[AnswerBody | dict[str, Any]]


class ExplainBody(AnswerBody):
    """An answer whose evidence was tested: `influences` says how far it falls without each fact."""

    influences: list[dict[str, Any]] = Field(
        description="sentence and iri of a fact, and change of the answer's probability without it"
    )


class WhatIfBody(BaseModel):
    """The answer before and after the edits."""

    before: AnswerBody
    after: AnswerBody
    changed: bool


class Problem(BaseModel):
    """An error (RFC 9457): what is wrong, with which field, and what to do about it."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    instance: str = Field(description="The request's id, as in the log.")
    errors: list[dict[str, str]] = Field(
        default_factory=list, description="field, detail and remedy of each fault"
    )

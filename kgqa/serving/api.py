"""The HTTP API and its documentation page."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse

from kgqa.graph.concepts import relation_named
from kgqa.limits.cancellation import Cancelled
from kgqa.qa.render import Edit, add, attributions_json, response_json
from kgqa.serving.batcher import APART, Batcher, Busy
from kgqa.serving.middleware import (
    LOG,
    REMEDIES,
    TITLES,
    RequestGuard,
    ServiceLimits,
    busy_problem,
    of_input,
    of_validation,
    problem,
)
from kgqa.settings import setting
from kgqa.types import Answer, DamagedError, InputError, Passage, Question
from kgqa.validation import MAX_CHOICES, MAX_PASSAGE_CHARACTERS, MAX_QUESTION_CHARACTERS

if TYPE_CHECKING:
    from kgqa.qa.answerer import Answerer


# Request and response bodies, for validation and for the OpenAPI description.

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
    "care": None,
    "items": [],
    "evidence": {"reading": None, "other_readings": [], "near": None, "query": None},
    "model": "kgqa-base",
    "graph": "everyday",
}
EXAMPLE_EDIT: JsonDict = {"head": "trowel", "relation": "used for", "tail": "plant flowers"}


class RequestBody(BaseModel):
    """Base of request bodies; unknown fields are an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _has_few_fields(cls, sent: Any) -> Any:
        """Reject a body with many unknown fields with a single error, since reporting each would take long."""
        if isinstance(sent, dict) and len(sent) > len(cls.model_fields):
            raise PydanticCustomError("extra_forbidden", "There are fields that are not permitted")
        return sent


class QuestionBody(RequestBody):
    """A question, optionally with a passage and choices."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    question: str = Field(min_length=1, max_length=MAX_QUESTION_CHARACTERS)
    passage: str | None = Field(None, max_length=MAX_PASSAGE_CHARACTERS)
    choices: list[Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_CHARACTERS)]] = Field(
        default_factory=list, max_length=MAX_CHOICES
    )
    id: str = Field("", max_length=200)
    model: str = Field("", max_length=200, description="One of /v1/readers; default: the first.")
    graph: str = Field("", max_length=2_000, description="One of /v1/graphs; default: the first.")

    def as_question(self) -> Question:
        return Question(self.question, self.choices, self.passage, self.id)


class QuestionsBody(RequestBody):
    """Several questions; the answers are in the same order."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"questions": [EXAMPLE]}]})

    questions: list[QuestionBody] = Field(min_length=1, max_length=MAX_QUESTIONS)


class StatedFact(RequestBody):
    """A fact: head and tail by label or name (IRI), the relation by one of its names in the graph."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_EDIT]})

    head: str = Field(min_length=1, max_length=MAX_END_CHARACTERS)
    relation: str = Field(min_length=1, max_length=MAX_END_CHARACTERS)
    tail: str = Field(min_length=1, max_length=MAX_END_CHARACTERS)

    @model_validator(mode="before")
    @classmethod
    def _is_object(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            raise PydanticCustomError("fact", "a fact is an object with the fields head, relation and tail")
        return given


class WhatIfRequest(QuestionBody):
    """A question, with facts to add to the graph (`add`) or remove from it (`remove`) for this question only."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**EXAMPLE, "remove": [EXAMPLE_EDIT]}]})

    add: list[StatedFact] = Field(default_factory=list, max_length=MAX_EDITS)
    remove: list[StatedFact] = Field(
        default_factory=list, max_length=MAX_EDITS, validation_alias=AliasChoices("remove", "strike")
    )
    """`strike` in earlier versions."""


class AnswerBody(BaseModel):
    """An answer with its evidence, as `kgqa ask --json` prints it; with ?full=true, all candidates and facts."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [EXAMPLE_ANSWER]})

    id: str
    question: str
    answer: str | None
    source: str = Field(description="passage, knowledge, choice or none")
    confidence: float = Field(ge=0, le=1)
    reason: str | None = Field(
        None, description="The verbalized facts that decide the answer (leave-one-out attribution)"
    )
    care: dict[str, str] | None = Field(
        None,
        description="For a question about harm, which is not answered: `harm` (self, others) and `message`",
    )
    candidates: list[dict[str, Any]] = Field(
        default_factory=list, description="With full=true: all candidates, best first"
    )
    items: list[dict[str, Any]] = Field(
        default_factory=list,
        description="Items of an answer with several: text; with full=true also concept or span, and path",
    )
    evidence: dict[str, Any] = Field(
        description="`reading` of a question over a graph, `other_readings`, the `near` question that the graph does "
        "answer, SPARQL `query`; with full=true span, paths, `subgraph`"
    )
    timing_ms: dict[str, float] = Field(
        default_factory=dict, description="With full=true: milliseconds of each step"
    )
    model: str
    graph: str


class AnswersBody(BaseModel):
    """Answers in the order of the questions; for a question that failed, a problem instead."""

    answers: list[AnswerBody | dict[str, Any]]


class ExplainBody(AnswerBody):
    """An answer with leave-one-out `attributions`: how far its probability drops without each fact."""

    attributions: list[dict[str, Any]] = Field(
        description="sentence and iri of a fact, and change of the answer's probability without it"
    )


class WhatIfBody(BaseModel):
    """The answer before and after the edits."""

    before: AnswerBody
    after: AnswerBody
    changed: bool


class Problem(BaseModel):
    """An error (RFC 9457): what is wrong, in which field, and the remedy."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    instance: str = Field(description="The request's id, as in the log.")
    errors: list[dict[str, str]] = Field(
        default_factory=list, description="field, detail and remedy of each fault"
    )


# The HTTP service: questions to answers with evidence, as JSON.

Answerers = dict[tuple[str, str], "Answerer"]
"""Answerers by names of reader and graph; the first is the default."""
T = TypeVar("T")
Full = Annotated[bool, Query(description="Include all candidates, all evidence and the subgraph.")]
_POLL_S = 0.25
"""Seconds between checks whether the caller has disconnected."""
_LOADING_S = 5
"""Seconds after which to retry while readers and graphs are loading."""
_FIRST = Question("What is it used for?", passage=Passage("I dug the ground."))
"""Question of the warm-up."""
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {
        "content": {"application/problem+json": {"schema": Problem.model_json_schema()}},
        "description": TITLES[code],
    }
    for code in (400, 401, 413, 421, 422, 429, 503, 504)
}


class Service:
    """State shared by the routes."""

    def __init__(
        self, load: Callable[[], Answerers], limits: ServiceLimits, failed: Callable[[], None]
    ) -> None:
        self.load, self.limits, self.failed = load, limits, failed
        self.answerers: Answerers = {}
        self.failure: BaseException | None = None
        self.registry = CollectorRegistry()
        names = ("path", "status")
        self.requests = Counter("kgqa_requests", "Requests", names, registry=self.registry)
        self.seconds = Histogram(
            "kgqa_request_seconds", "Seconds of a request", ("path",), registry=self.registry
        )
        sizes = (1, 2, 4, 8, 16, 32, 64)
        self.sizes = Histogram(
            "kgqa_batch_questions", "Questions of a batch", buckets=sizes, registry=self.registry
        )
        self.batcher = Batcher(
            most=limits.batch,
            wait_s=limits.wait_s,
            most_waiting=limits.most_waiting,
            observe=self.sizes.observe,
        )

    def begin(self) -> threading.Thread:
        """Load in a background thread, so that health checks are answered meanwhile."""

        def loading() -> None:
            try:
                found = self.load()
                first = next(iter(found.values()))
                first.answer(_FIRST)
                for _ in range(2):  # warm-up, which also measures the time of an answer
                    self.batcher.ask(first.answer_many, [_FIRST], 60, 60)[0].result()
                self.answerers = found
            except BaseException as error:  # panics of native libraries are not subclasses of Exception
                self.failure = error
                self.failed()

        thread = threading.Thread(target=loading, name="kgqa-loading", daemon=True)
        thread.start()
        return thread

    def observe(self, path: str, status: int, seconds: float) -> None:
        self.requests.labels(path, str(status)).inc()
        self.seconds.labels(path).observe(seconds)

    def answerer(self, asked: QuestionBody) -> Answerer:
        """The answerer for the reader and graph of a request. Raises InputError if one of them is not served."""
        if not self.answerers:
            why = "cannot be loaded" if self.failure else "is being loaded"
            detail = f"the reader {why}; retry in {_LOADING_S} s"
            raise HTTPException(503, detail, {"Retry-After": str(_LOADING_S)})
        first_model, first_graph = next(iter(self.answerers))
        model, graph = asked.model or first_model, asked.graph or first_graph
        if model not in {name for name, _ in self.answerers}:
            raise InputError(f"model {model} is not served; see /v1/readers")
        if (found := self.answerers.get((model, graph))) is None:
            raise InputError(f"graph {graph} is not served; see /v1/graphs")
        return found

    async def answer(self, asked: QuestionBody, request: Request) -> Answer:
        """Answer a question, batched with those of other callers. Raises Busy if it would not be answered in time,
        InputError as `answerer` and `Answerer.answer` do.
        """
        return await self._wait(self._taken(asked, self.limits.within_s), request)

    async def answers(
        self, many: Sequence[QuestionBody], request: Request
    ) -> list[Answer | InputError | Cancelled]:
        """Answer several questions, interleaved with those of other callers: an answer or an error for each. Raises
        Busy if one of them would not be answered in time.
        """
        taken: list[Future[Answer]] = []
        found: list[Answer | InputError | Cancelled] = []
        try:
            for asked in many:
                taken.append(self._taken(asked, self.limits.timeout_s / 2))
            for future in taken:
                try:
                    answer = await self._wait(future, request)
                    found.append(answer)
                except (InputError, Cancelled) as error:
                    found.append(error)
            return found
        finally:
            for future in taken:
                future.cancel()

    def _taken(self, asked: QuestionBody, within_s: float) -> Future[Answer]:
        """Queue a question. Its future raises InputError, so that others of a request are still answered."""
        try:
            work, question = self.answerer(asked).answer_many, asked.as_question()
            return self.batcher.ask(work, [question], self.limits.timeout_s, within_s)[0]
        except InputError as error:
            future: Future[Answer] = Future()
            future.set_exception(error)
            return future

    async def apart(self, asked: QuestionBody, request: Request, work: Callable[[Question], T]) -> T:
        """Run work that takes longer than an answer, unbatched. Raises Busy if it would not be finished in time."""
        timeout_s, within_s = self.limits.timeout_s, self.limits.within_s
        questions = [asked.as_question()]
        (future,) = self.batcher.ask(lambda some: [*map(work, some)], questions, timeout_s, within_s, APART)
        return await self._wait(future, request)

    async def _wait(self, future: Future[T], request: Request) -> T:
        """Wait for the result, until the caller disconnects or the timeout."""
        inner = asyncio.wrap_future(future)
        until = time.monotonic() + self.limits.timeout_s
        try:
            while not (await asyncio.wait({inner}, timeout=_POLL_S))[0]:
                if time.monotonic() > until:
                    raise Cancelled
                if await request.is_disconnected():
                    raise HTTPException(499, "the caller has disconnected")
            return inner.result()
        finally:
            inner.cancel()


def create_service(
    load: Callable[[], Answerers],
    limits: ServiceLimits = ServiceLimits(),
    *,
    eager: bool = False,
    failed: Callable[[], None] = lambda: None,
) -> FastAPI:
    """The service as an ASGI application; `state.service.failure` is the error if it could not load, and `failed` is
    then called.

    `load` opens readers and graphs, once and in the background, when the service starts. `eager` accepts no request
    before that: for processes that share a port, since a caller cannot choose one that is ready.
    """
    service = Service(load, limits, failed)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        thread = service.begin()
        if eager:
            await asyncio.to_thread(thread.join)
        yield
        await asyncio.to_thread(service.batcher.close)

    app = FastAPI(
        title="kgqa",
        summary="Question answering over passages and a knowledge graph, with evidence.",
        lifespan=lifespan,
        responses=_PROBLEMS,
        docs_url=None,  # FastAPI's pages load scripts from another host
        redoc_url=None,
    )
    app.state.service = service
    app.add_middleware(
        RequestGuard,
        limits=limits,
        wait_s=lambda: service.batcher.delay(limits.within_s),
        observe=service.observe,
    )
    _add_problems(app)
    _add_answers(app, service)
    _add_about(app, service)
    return app


def _add_answers(app: FastAPI, service: Service) -> None:
    @app.post("/v1/answer", response_model=AnswerBody)
    async def answer(asked: QuestionBody, request: Request, full: Full = False) -> Response:
        """Answer a question. Evidence is ranked without leave-one-out attribution, which /v1/explain adds."""
        _log_text(service, request, asked)
        return JSONResponse(_body(service, asked, await service.answer(asked, request), full))

    @app.post("/v1/answers", response_model=AnswersBody)
    async def answers(many: QuestionsBody, request: Request, full: Full = False) -> Response:
        """Answer several questions; for one that fails, a problem is returned instead."""
        for asked in many.questions:
            _log_text(service, request, asked)
        found = await service.answers(many.questions, request)
        bodies = [
            {"id": asked.id, "error": of_input(one)}
            if isinstance(one, Exception)
            else _body(service, asked, one, full)
            for asked, one in zip(many.questions, found, strict=True)
        ]
        return JSONResponse({"answers": bodies})

    @app.post("/v1/explain", response_model=ExplainBody)
    async def explained(asked: QuestionBody, request: Request, full: Full = False) -> Response:
        """Answer a question, with leave-one-out attribution of the facts near the answer."""
        _log_text(service, request, asked)
        answerer = service.answerer(asked)

        def work(question: Question) -> dict[str, Any]:
            found = answerer.answer(question)
            log_odds_drops = attributions_json(found, answerer.attributions(found))
            return {**_body(service, asked, found, full), "attributions": log_odds_drops}

        return JSONResponse(await service.apart(asked, request, work))

    @app.post("/v1/what-if", response_model=WhatIfBody)
    async def what_if(asked: WhatIfRequest, request: Request, full: Full = False) -> Response:
        """Answer a question over the graph, and again with facts added or removed."""
        _log_text(service, request, asked)
        answerer = service.answerer(asked)

        def work(question: Question) -> dict[str, Any]:
            edits = [_edit(answerer, fact, added=True) for fact in asked.add]
            edits += [_edit(answerer, fact, added=False) for fact in asked.remove]
            before, after = answerer.answer(question), answerer.ask_again(question, edits)
            bodies = [_body(service, asked, answer, full) for answer in (before, after)]
            return {"before": bodies[0], "after": bodies[1], "changed": before.text != after.text}

        return JSONResponse(await service.apart(asked, request, work))


def _add_about(app: FastAPI, service: Service) -> None:
    @app.get("/v1/readers")
    async def readers() -> Response:
        """The readers that a request can select by `model`, the default first."""
        return JSONResponse({"readers": list(dict.fromkeys(model for model, _ in service.answerers))})

    @app.get("/v1/graphs")
    async def graphs() -> Response:
        """The graphs that a request can select by `graph`, the default first."""
        found = {name: answerer.graph for (_, name), answerer in service.answerers.items()}
        rows = [
            {"name": name, "concepts": graph.entity_count, "relations": len(graph.relations)}
            for name, graph in found.items()
        ]
        return JSONResponse({"graphs": rows})

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        """Documentation of the API."""
        from jinja2 import Template

        page = Template(Path(__file__).with_name("docs.html").read_text(encoding="utf-8"), autoescape=True)
        return HTMLResponse(page.render(app.openapi(), dumps=json.dumps))

    @app.get("/health")
    async def health() -> Response:
        """Liveness."""
        return JSONResponse({"status": "alive"})

    @app.get("/ready")
    async def ready() -> Response:
        """Readiness, with the default reader and graph; 503 until all are loaded."""
        body = {"status": "ready", "waiting": len(service.batcher)}
        if service.answerers:
            reader, graph = next(iter(service.answerers))
            return JSONResponse({**body, "reader": reader, "graph": graph})
        response = JSONResponse({**body, "status": "failed" if service.failure else "loading"}, 503)
        response.headers["Retry-After"] = str(_LOADING_S)
        return response

    @app.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Metrics for Prometheus."""
        registry = service.registry
        if setting("PROMETHEUS_MULTIPROC_DIR"):  # aggregate over all processes
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return Response(generate_latest(registry), media_type="text/plain; version=0.0.4")


def _add_problems(app: FastAPI) -> None:
    def instance(request: Request) -> str:
        return str(request.scope.get("state", {}).get("request_id", ""))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        faults = of_validation(error.errors())
        message = "{field}: {detail}; {remedy}".format(**faults[0])
        return problem(422, message, instance(request), faults)

    @app.exception_handler(InputError)
    async def refused(request: Request, error: InputError) -> Response:
        return problem(422, str(error), instance(request), [of_input(error)])

    @app.exception_handler(DamagedError)
    async def damaged(request: Request, error: DamagedError) -> Response:
        LOG.error(json.dumps({"id": instance(request), "fault": str(error)}))
        return problem(
            503,
            "the graph is damaged; the service's log has the details under this request's id",
            instance(request),
            title="The graph is damaged",
        )

    @app.exception_handler(Cancelled)
    async def stopped(request: Request, error: Cancelled) -> Response:
        return problem(504, str(error), instance(request), [of_input(error)])

    @app.exception_handler(Busy)
    async def busy(request: Request, error: Busy) -> Response:
        return busy_problem(error.wait_s, instance(request))

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        message = "; ".join(filter(None, (str(error.detail), REMEDIES.get(error.status_code))))
        return problem(error.status_code, message, instance(request), headers=error.headers)

    @app.exception_handler(Exception)
    async def fault(request: Request, error: Exception) -> Response:
        LOG.error(json.dumps({"id": instance(request), "fault": f"{type(error).__name__}: {error}"}))
        return problem(
            500, "the service failed; its log has the details under this request's id", instance(request)
        )


def _edit(answerer: Answerer, fact: StatedFact, added: bool) -> Edit:
    relation = relation_named(answerer.graph, fact.relation)
    return replace(add(answerer.linker, fact.head, relation, fact.tail), added=added)


def _body(service: Service, asked: QuestionBody, answer: Answer, full: bool) -> dict[str, Any]:
    return response_json(service.answerer(asked).shown(answer), full)


def _log_text(service: Service, request: Request, asked: QuestionBody) -> None:
    if service.limits.log_texts:
        row = {"id": request.state.request_id, "question": asked.question, "passage": asked.passage}
        LOG.info(json.dumps({**row, "choices": asked.choices}))

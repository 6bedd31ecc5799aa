"""The HTTP service: questions in, answers with their evidence out, as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse

from kgqa.answering.presentation.answer_json import answer_json, influences_json
from kgqa.answering.presentation.edits import Edit, add
from kgqa.graph.concepts import relation_called
from kgqa.limits.stopping import Stopped
from kgqa.serving.batching import APART, Batcher, Busy
from kgqa.serving.description import page
from kgqa.serving.guarding import LOG, Guard, Limits
from kgqa.serving.problems import REMEDIES, TITLES, busy_problem, of_input, of_validation, problem
from kgqa.serving.schema import (
    AnswerBody,
    AnswersBody,
    Asked,
    AskedMany,
    ExplainBody,
    Problem,
    StatedFact,
    WhatIf,
    WhatIfBody,
)
from kgqa.types import Answer, InputError, Passage, Question

if TYPE_CHECKING:
    from kgqa.answering.answerer import Answerer

Answerers = dict[tuple[str, str], "Answerer"]
"""By name of reader and graph; the first is meant where a question names none."""
Result = TypeVar("Result")
Full = Annotated[bool, Query(description="With the graph around the evidence, in `evidence.subgraph`.")]
_POLL_S = 0.25
_LOADING_S = 5
"""After which to come again while readers and graphs are being loaded."""
_FIRST = Question("What is it used for?", passage=Passage("I dug the ground."))
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {
        "content": {"application/problem+json": {"schema": Problem.model_json_schema()}},
        "description": TITLES[code],
    }
    for code in (400, 401, 413, 421, 422, 429, 503, 504)
}


class Service:
    """What the routes share."""

    def __init__(self, load: Callable[[], Answerers], limits: Limits, failed: Callable[[], None]) -> None:
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
        """Load in the background, so that the process tells it is alive meanwhile."""

        def loading() -> None:
            try:
                found = self.load()
                first = next(iter(found.values()))
                first.answer(_FIRST)
                for _ in range(2):  # tells how long one takes
                    self.batcher.ask(first.answer_many, [_FIRST], 60, 60)[0].result()
                self.answerers = found
            except BaseException as error:  # some of native libraries are no Exception
                self.failure = error
                self.failed()

        thread = threading.Thread(target=loading, name="kgqa-loading", daemon=True)
        thread.start()
        return thread

    def observe(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests.labels(path, str(status)).inc()
        self.seconds.labels(path).observe(seconds)

    def answerer(self, asked: Asked) -> Answerer:
        """The reader over the graph that a question names.

        Raises:
            InputError: no reader over such a graph is served.
        """
        if not self.answerers:
            why = "cannot be loaded" if self.failure else "is being loaded"
            detail = f"what answers {why}; come again in {_LOADING_S} s"
            raise HTTPException(503, detail, {"Retry-After": str(_LOADING_S)})
        first_model, first_graph = next(iter(self.answerers))
        model, graph = asked.model or first_model, asked.graph or first_graph
        if model not in {name for name, _ in self.answerers}:
            raise InputError(f"no such model is served: {model}; see /v1/readers")
        if (found := self.answerers.get((model, graph))) is None:
            raise InputError(f"no such graph is served: {graph}; see /v1/graphs")
        return found

    async def answer(self, asked: Asked, request: Request) -> Answer:
        """Read in a batch with others.

        Raises:
            Busy: it would not be answered in time.
            InputError: as `answerer`, or as `Answerer.answer`.
        """
        return await self._wait(self._taken(asked, self.limits.within_s), request)

    async def answers(self, many: Sequence[Asked], request: Request) -> list[Answer | InputError | Stopped]:
        """The same of several, between those who ask one: each answer, or why there is none.

        Raises:
            Busy: one of them would not be answered in time.
        """
        taken: list[Future[Answer]] = []
        found: list[Answer | InputError | Stopped] = []
        try:
            for asked in many:
                taken.append(self._taken(asked, self.limits.timeout_s / 2))
            for future in taken:
                try:
                    answer = await self._wait(future, request)
                    found.append(answer)
                except (InputError, Stopped) as error:
                    found.append(error)
            return found
        finally:
            for future in taken:
                future.cancel()

    def _taken(self, asked: Asked, within_s: float) -> Future[Answer]:
        try:
            work, question = self.answerer(asked).answer_many, asked.as_question()
            return self.batcher.ask(work, [question], self.limits.timeout_s, within_s)[0]
        except InputError as error:
            future: Future[Answer] = Future()
            future.set_exception(error)
            return future

    async def apart(self, asked: Asked, request: Request, work: Callable[[Question], Result]) -> Result:
        """Something longer than one answer, read by itself.

        Raises:
            Busy: it would not be done in time.
        """
        timeout_s, within_s = self.limits.timeout_s, self.limits.within_s
        questions = [asked.as_question()]
        (future,) = self.batcher.ask(lambda some: [*map(work, some)], questions, timeout_s, within_s, APART)
        return await self._wait(future, request)

    async def _wait(self, future: Future[Result], request: Request) -> Result:
        """The result, unless the caller leaves or the time is up."""
        inner = asyncio.wrap_future(future)
        until = time.monotonic() + self.limits.timeout_s
        try:
            while not (await asyncio.wait({inner}, timeout=_POLL_S))[0]:
                if time.monotonic() > until:
                    raise Stopped(
                        "the question took too long; ask about a shorter passage, or with fewer choices"
                    )
                if await request.is_disconnected():
                    raise HTTPException(499, "the caller has left")
            return inner.result()
        finally:
            inner.cancel()


def create_service(
    load: Callable[[], Answerers],
    limits: Limits = Limits(),
    *,
    eager: bool = False,
    failed: Callable[[], None] = lambda: None,
) -> FastAPI:
    """The service as an ASGI application; its `state.service.failure` is why it could not load.

    Args:
        load: opens readers and graphs; called once, in the background, when the service starts.
        limits: of callers, sizes and times.
        eager: take no request before the reader is loaded; for processes that share a port, of which a caller
            cannot tell which is ready.
        failed: called where it could not load.
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
        summary="Answers from a passage and a knowledge graph, with their path of facts.",
        lifespan=lifespan,
        responses=_PROBLEMS,
        docs_url=None,  # FastAPI's own pages fetch their scripts from elsewhere
        redoc_url=None,
    )
    app.state.service = service
    app.add_middleware(
        Guard, limits=limits, wait_s=lambda: service.batcher.delay(limits.within_s), observe=service.observe
    )
    _add_problems(app)
    _add_answers(app, service)
    _add_about(app, service)
    return app


def _add_answers(app: FastAPI, service: Service) -> None:
    @app.post("/v1/answer", response_model=AnswerBody)
    async def answer(asked: Asked, request: Request, full: Full = False) -> Response:
        """Answer a question. Evidence is ordered by the reader's attention; /v1/explain tests it."""
        _log_text(service, request, asked)
        return _json(_body(service, asked, await service.answer(asked, request), full))

    @app.post("/v1/answers", response_model=AnswersBody)
    async def answers(many: AskedMany, request: Request, full: Full = False) -> Response:
        """Answer several questions; one that cannot be answered has a problem in its place."""
        for asked in many.questions:
            _log_text(service, request, asked)
        found = await service.answers(many.questions, request)
        bodies = [
            {"id": asked.id, "error": of_input(one)}
            if isinstance(one, Exception)
            else _body(service, asked, one, full)
            for asked, one in zip(many.questions, found, strict=True)
        ]
        return _json({"answers": bodies})

    @app.post("/v1/explain", response_model=ExplainBody)
    async def explained(asked: Asked, request: Request, full: Full = False) -> Response:
        """Answer a question and test its evidence: how far it falls without each fact near it."""
        _log_text(service, request, asked)
        answerer = service.answerer(asked)

        def work(question: Question) -> dict[str, Any]:
            found = answerer.answer(question)
            falls = influences_json(found, answerer.influences(found))
            return {**_body(service, asked, found, full), "influences": falls}

        return _json(await service.apart(asked, request, work))

    @app.post("/v1/what-if", response_model=WhatIfBody)
    async def what_if(asked: WhatIf, request: Request, full: Full = False) -> Response:
        """Answer a question over the graph as it is, and with facts added or struck out."""
        _log_text(service, request, asked)
        answerer = service.answerer(asked)

        def work(question: Question) -> dict[str, Any]:
            edits = [_edit(answerer, fact, added=True) for fact in asked.add]
            edits += [_edit(answerer, fact, added=False) for fact in asked.strike]
            before, after = answerer.answer(question), answerer.ask_again(question, edits)
            bodies = [_body(service, asked, answer, full) for answer in (before, after)]
            return {"before": bodies[0], "after": bodies[1], "changed": before.text != after.text}

        return _json(await service.apart(asked, request, work))


def _add_about(app: FastAPI, service: Service) -> None:
    @app.get("/v1/readers")
    async def readers() -> Response:
        """The readers that questions may name as `model`, first the one that is meant by none."""
        return _json({"readers": list(dict.fromkeys(model for model, _ in service.answerers))})

    @app.get("/v1/graphs")
    async def graphs() -> Response:
        """The graphs that questions may name as `graph`, first the one that is meant by none."""
        found = {name: answerer.graph for (_, name), answerer in service.answerers.items()}
        rows = [
            {"name": name, "concepts": graph.entity_count, "relations": len(graph.relations)}
            for name, graph in found.items()
        ]
        return _json({"graphs": rows})

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        """What is asked and answered here, for people."""
        return HTMLResponse(page(app.openapi()))

    @app.get("/health")
    async def health() -> Response:
        """Whether the process lives."""
        return _json({"status": "alive"})

    @app.get("/ready")
    async def ready() -> Response:
        """Whether questions can be answered: 503 until the reader is loaded."""
        body = {"status": "ready", "waiting": len(service.batcher)}
        if service.answerers:
            return _json(body)
        response = _json({**body, "status": "failed" if service.failure else "loading"}, 503)
        response.headers["Retry-After"] = str(_LOADING_S)
        return response

    @app.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Figures for Prometheus."""
        registry = service.registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:  # the figures of all processes together
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return Response(generate_latest(registry), media_type="text/plain; version=0.0.4")


def _add_problems(app: FastAPI) -> None:
    def instance(request: Request) -> str:
        return str(request.scope.get("state", {}).get("request_id", ""))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        faults = of_validation(error.errors())
        said = "{field}: {detail}; {remedy}".format(**faults[0])
        return problem(422, said, instance(request), faults)

    @app.exception_handler(InputError)
    async def refused(request: Request, error: InputError) -> Response:
        return problem(422, str(error), instance(request), [of_input(error)])

    @app.exception_handler(Stopped)
    async def stopped(request: Request, error: Stopped) -> Response:
        return problem(504, str(error), instance(request), [of_input(error)])

    @app.exception_handler(Busy)
    async def busy(request: Request, error: Busy) -> Response:
        return busy_problem(error.wait_s, instance(request))

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        said = "; ".join(filter(None, (str(error.detail), REMEDIES.get(error.status_code))))
        return problem(error.status_code, said, instance(request), headers=error.headers)

    @app.exception_handler(Exception)
    async def fault(request: Request, error: Exception) -> Response:
        LOG.error(json.dumps({"id": instance(request), "fault": f"{type(error).__name__}: {error}"}))
        return problem(
            500, "the service failed; its log tells more under this request's id", instance(request)
        )


def _edit(answerer: Answerer, fact: StatedFact, added: bool) -> Edit:
    relation = relation_called(answerer.graph, fact.relation)
    return replace(add(answerer.linker, fact.head, relation, fact.tail), added=added)


def _body(service: Service, asked: Asked, answer: Answer, full: bool) -> dict[str, Any]:
    return answer_json(service.answerer(asked).shown(answer), full)


def _json(value: Mapping[str, Any], status: int = 200) -> Response:
    return Response(json.dumps(value, ensure_ascii=False).encode(), status, media_type="application/json")


def _log_text(service: Service, request: Request, asked: Asked) -> None:
    if service.limits.log_texts:
        row = {"id": request.state.request_id, "question": asked.question, "passage": asked.passage}
        LOG.info(json.dumps({**row, "choices": asked.choices}))

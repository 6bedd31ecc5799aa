"""`kgqa serve`, `kgqa mcp` and `kgqa app`."""

from __future__ import annotations

import importlib.util
import json
import logging
import multiprocessing
import os
import runpy
import signal
import socket
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import connection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa.cli.options import Device, Graph, Language, Model
from kgqa.settings import APP, DEFAULT_READER, ROOT, find_model
from kgqa.types import InputError, first_line

if TYPE_CHECKING:
    from kgqa.qa.answerer import Answerer
    from kgqa.serving.api import Answerers
    from kgqa.serving.middleware import ServiceLimits

GRACE_S = 15
"""Seconds in which accepted questions are still answered when the service is stopped."""


Served = tuple[Sequence[str], Sequence[str], str, str]
"""Readers, graphs, device and language, as `load_answerers` takes them."""


def need(module: str, extra: str) -> None:
    """Raise InputError, naming the extra, if a library is not installed."""
    if importlib.util.find_spec(module) is None:
        raise InputError(f"{module} is not installed; install the extra: pip install 'kgqa[{extra}]'")


def read_keys(path: Path | None) -> tuple[str, ...]:
    """API keys in a file, one per line; lines that begin with # are comments. Raises InputError if the file cannot be
    read, has no key, or has one of fewer than 16 characters.
    """
    if path is None:
        return ()
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: the keys cannot be read ({error}); write one per line") from None
    keys = tuple(line for line in lines if line and not line.startswith("#"))
    if not keys or any(len(key) < 16 for key in keys):
        raise InputError(
            f"{path}: no key, or one that is too short; write keys of at least 16 characters, one per line"
        )
    return keys


def serve(
    host: Annotated[
        str, typer.Option(help="Interface to listen on; 0.0.0.0 opens it to the network.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 picks a free one.")] = 8600,
    graph: Annotated[
        list[str] | None, typer.Option(help="Graph to serve, default everyday; repeatable.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="Reader to serve, default kgqa-base; repeatable.")
    ] = None,
    device: Device = "auto",
    language: Language = "auto",
    processes: Annotated[
        int,
        typer.Option(
            min=1, help="Number of worker processes; they share the port and the memory-mapped graph."
        ),
    ] = 1,
    keys: Annotated[
        Path | None, typer.Option(help="File of API keys, one per line; default: no key is required.")
    ] = None,
    host_name: Annotated[
        list[str] | None,
        typer.Option(
            help="Name accepted in the Host header, besides localhost and IP addresses; repeatable."
        ),
    ] = None,
    rate: Annotated[
        float, typer.Option(min=0, help="Rate limit in requests per minute and caller; 0 for none.")
    ] = 0,
    timeout: Annotated[float, typer.Option(min=0.1, help="Request timeout in seconds.")] = 30,
    batch: Annotated[int, typer.Option(min=1, help="Maximum batch size, across callers.")] = 16,
    waiting: Annotated[
        int, typer.Option(min=1, help="Maximum queue length; further requests get status 503.")
    ] = 1000,
    log_texts: Annotated[bool, typer.Option(help="Log the text of questions and passages.")] = False,
) -> None:
    """Serve an HTTP API: /v1/answer, /v1/answers, /v1/explain, /v1/what-if; documented at /docs."""
    for library in ("fastapi", "uvicorn", "prometheus_client"):
        need(library, "serve")
    from kgqa.serving.middleware import ServiceLimits

    limits = ServiceLimits(
        keys=read_keys(keys),
        host_names=(host, *(host_name or ())),
        per_minute=rate,
        timeout_s=timeout,
        batch=batch,
        most_waiting=waiting,
        log_texts=log_texts,
    )
    models, graphs = tuple(model or (DEFAULT_READER,)), tuple(graph or ("everyday",))
    served = models, graphs, device, language
    _check(*served)
    listener = _listen(host, port)
    shown = listener.getsockname()
    print(
        f"kgqa: loading; then answers on http://{host}:{shown[1]} (API at /docs); stop with Ctrl-C",
        file=sys.stderr,
    )
    if processes == 1:
        _run(served, limits, listener, eager=False)
        print("kgqa: stopped", file=sys.stderr)
        return
    figures = tempfile.TemporaryDirectory(prefix="kgqa-metrics-")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = figures.name
    new = multiprocessing.get_context("spawn")
    children = [new.Process(target=_run_one, args=(served, limits, listener)) for _ in range(processes)]

    def stop(number: int, frame: Any) -> None:
        for child in children:
            if child.is_alive():
                child.terminate()

    for child in children:
        child.start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    connection.wait([child.sentinel for child in children])  # once one has ended, the others are stopped too
    stop(signal.SIGTERM, None)
    for child in children:
        child.join()
    figures.cleanup()
    if any(child.exitcode not in (0, -signal.SIGTERM, -signal.SIGINT) for child in children):
        raise InputError("a process of the service failed; its log has the reason")


def _check(models: Sequence[str], graphs: Sequence[str], device: str, language: str) -> None:
    """Raise InputError for an unknown reader, graph, device or language, before anything is opened."""
    from kgqa.graph.load import graph_fingerprint
    from kgqa.models.devices import find_device
    from kgqa.validation import checked_language

    checked_language(language)
    find_device(device)
    for model in models:
        find_model(model)
    for graph in graphs:
        graph_fingerprint(graph)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
        return listener
    except OSError as error:
        raise InputError(
            f"{host}:{port}: cannot listen here ({error.strerror}); choose another --host or --port"
        ) from None


def _run_one(served: Served, limits: ServiceLimits, listening: socket.socket) -> None:
    """Run the service in one of several worker processes."""
    try:
        _run(served, limits, listening, eager=True)
    except InputError as error:
        logging.getLogger("kgqa.serving").error(json.dumps({"fault": str(error)}))
        sys.exit(2)


def _run(served: Served, limits: ServiceLimits, listening: socket.socket, eager: bool) -> None:
    """Run the service in this process until it is stopped. Raises InputError if a reader or graph cannot be opened."""
    import uvicorn

    from kgqa.serving.api import create_service
    from kgqa.serving.middleware import IDLE_S, Listener

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    log = logging.getLogger("kgqa.serving")
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    app = create_service(
        lambda: load_answerers(*served),
        limits,
        eager=eager,
        failed=lambda: setattr(server, "should_exit", True),
    )
    listener = Listener(listening)
    config = uvicorn.Config(
        listener.watched(app),
        loop="asyncio",
        http="h11",
        ws="none",
        proxy_headers=False,  # any caller could forge them
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=int(IDLE_S),
        h11_max_incomplete_event_size=64 << 10,
        server_header=False,
    )
    server = uvicorn.Server(config)
    with suppress(KeyboardInterrupt):  # how the user stops it; raised again when it has stopped
        server.run(sockets=[listener])
    failure = app.state.service.failure
    if isinstance(failure, InputError | OSError | MemoryError):
        raise failure
    if failure is not None:
        message = f"{type(failure).__name__}: {first_line(failure)}"
        raise InputError(f"a reader or graph cannot be opened ({message}); check --model and --graph")


def load_answerers(models: Sequence[str], graphs: Sequence[str], device: str, language: str) -> Answerers:
    """Each reader over each graph, keyed by their names in answers; readers and graphs are opened once. Raises
    InputError if a reader or graph cannot be found or used, or two have the same name.
    """
    from kgqa.graph.load import open_graph
    from kgqa.qa.answerer import Answerer

    opened = [open_graph(name) for name in dict.fromkeys(graphs)]
    found: Answerers = {}
    for model in dict.fromkeys(models):
        first: Answerer | None = None
        for graph in opened:
            answerer = (
                first.with_graph(graph)
                if first
                else Answerer.load(model, graph, device=device, language=language)
            )
            first = first or answerer
            if (answerer.name, graph.name) in found:
                twice = f"reader {answerer.name}, graph {graph.name}"
                raise InputError(
                    f"{twice}: given twice, but requests select by name; serve one, or rename one"
                )
            found[answerer.name, graph.name] = answerer
    return found


class _Lines(logging.Formatter):
    """A log record as one line of JSON with its time; messages of the service are JSON already."""

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        try:
            row = json.loads(message)
        except ValueError:
            row = {"message": message}
        return json.dumps(
            {"time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S"), "level": record.levelname, **row}
        )


def serve_tools(
    graph: Graph = "everyday",
    model: Model = DEFAULT_READER,
    device: Device = "auto",
    language: Language = "auto",
    http: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="Serve over HTTP on this port; default: standard input and output."
        ),
    ] = None,
) -> None:
    """Serve the tools answer, explain and graph_search to agents (Model Context Protocol)."""
    need("mcp", "serve")
    from kgqa.qa.answerer import Answerer
    from kgqa.serving.mcp_server import tool_server

    server = tool_server(Answerer.load(model, graph, device=device, language=language))
    if http is None:
        server.run()
    else:
        server.run("streamable-http", host="127.0.0.1", port=http)


def serve_app(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Local port.")] = 8501,
    graph: Graph = "everyday",
    model: Model = DEFAULT_READER,
    device: Device = "auto",
    reader: Annotated[
        list[str] | None, typer.Option(help="Additional reader for the Compare page; repeatable.")
    ] = None,
    address: Annotated[
        str, typer.Option(help="Interface to listen on; 0.0.0.0 opens it to the network.")
    ] = "127.0.0.1",
    allow_sparql: Annotated[
        bool, typer.Option(help="Allow visitors to query SPARQL endpoints by URL.")
    ] = False,
    server: Annotated[
        str, typer.Option(help="URL of a running service (`kgqa serve`) that answers the questions.")
    ] = "",
    key: Annotated[str, typer.Option(envvar="KGQA_API_KEY", help="API key for --server.")] = "",
    headless: Annotated[bool, typer.Option(help="Do not open a browser.")] = False,
) -> None:
    """Open the app in a browser."""
    if not APP.exists():
        raise InputError(f"{APP}: the app is not installed; install kgqa again")
    need("streamlit", "app")
    for name in reader or ():
        find_model(name)
    os.environ.update(
        {
            "KGQA_GRAPH": graph,
            "KGQA_MODEL": model,
            "KGQA_DEVICE": device,
            "KGQA_READERS": os.pathsep.join(reader or []),
            "KGQA_ALLOW_SPARQL": "1" if allow_sparql else "",
            "KGQA_SERVER": server,
            "KGQA_API_KEY": key,
        }
    )
    sys.argv = ["kgqa app", "--port", str(port), "--address", address, *(["--headless"] * headless)]
    sys.path.insert(0, str(ROOT))  # the folder of the package `apps`
    runpy.run_module("apps.serve", run_name="__main__")

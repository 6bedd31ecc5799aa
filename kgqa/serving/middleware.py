"""Middleware of the service: errors as problems, API keys, rate and size limits, the log, and connections."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import json
import logging
import re
import socket
import struct
import time
import uuid
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import ceil
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Errors as problems (RFC 9457), all in one format that names the field and the remedy.

_FIELDS = ("passage", "choices", "choice", "question", "graph", "model", "relation")
TITLES = {
    400: "The request cannot be read",
    401: "An API key is required",
    404: "Not found",
    405: "Method not allowed",
    408: "The request was not received in time",
    413: "The request is too large",
    421: "Unknown host name",
    422: "The question cannot be answered",
    429: "Too many requests",
    500: "Internal error of the service",
    503: "The service is not ready",
    504: "The question took too long",
}
REMEDIES = {
    400: "send one JSON object in UTF-8, not compressed and not deeply nested",
    404: "see /docs for what is served",
    405: "see /docs for the method",
    408: "send it again without pauses",
}
_OF_FAULTS = {
    "extra_forbidden": "leave it out",
    "missing": "add it",
    "string_too_short": "write something",
    "string_too_long": "shorten it",
    "too_long": "send fewer",
    "model_attributes_type": "send a JSON object, with the header Content-Type: application/json",
}


def problem(
    status: int,
    detail: str,
    instance: str,
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
    title: str = "",
) -> Response:
    """The response for an error; the default title is that of its status."""
    body = {
        "type": "about:blank",
        "title": title or TITLES.get(status, "An error"),
        "status": status,
        "detail": detail,
        "instance": instance,
        "errors": list(errors),
    }
    content = json.dumps(body).encode()  # ASCII, since the detail may contain a lone surrogate
    return Response(content, status, dict(headers or {}), "application/problem+json")


def busy_problem(wait_s: float, instance: str) -> Response:
    """The response to a question that would not be answered in time, with the seconds after which to retry."""
    again = max(1, ceil(wait_s))
    detail = f"too many questions are waiting; retry in {again} s"
    return problem(503, detail, instance, headers={"Retry-After": str(again)}, title="The service is busy")


def of_input(error: Exception) -> dict[str, str]:
    """Field, detail and remedy of an error whose line reads "what; remedy"."""
    what, _, remedy = str(error).rpartition("; ")
    what, remedy = (what, remedy) if what else (str(error), "")
    words = what.lower()
    field = next((name for name in _FIELDS if name in words), "question")
    return {"field": "choices" if field == "choice" else field, "detail": what, "remedy": remedy}


def of_validation(errors: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The same for the errors that validation of the body found."""
    found = []
    for error in errors[:20]:
        if error["type"] == "json_invalid":  # its location is a character offset
            detail = f"not JSON ({error.get('ctx', {}).get('error', 'at character')}, character {error['loc'][-1]})"
            found.append({"field": "body", "detail": detail, "remedy": "send a JSON object"})
            continue
        place = [str(part) for part in error["loc"] if part not in ("body", "query", "path")]
        remedy = _OF_FAULTS.get(error["type"], "see /docs for what is expected")
        found.append(
            {"field": ".".join(place)[:200] or "body", "detail": str(error["msg"])[:300], "remedy": remedy}
        )
    return found


# For every request: its id, key, rate and size limits, its line in the log, and its metrics.

LOG = logging.getLogger("kgqa.serving")
SINGLE = frozenset({"/v1/answer", "/v1/explain", "/v1/what-if"})
"""Paths that answer one question at once."""
_SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MAX_CALLERS = 10_000
_READ_AWAY_S = 5.0
BODY_S = 20.0
"""Timeout for receiving the whole body of a request."""
ALWAYS = frozenset({"/health", "/ready"})
"""Paths that are answered without a key and under any load."""


@dataclass(frozen=True)
class ServiceLimits:
    """Limits of the service and its callers."""

    keys: tuple[str, ...] = ()
    """API keys, one of which must be sent as `Authorization: Bearer KEY`; empty: no key is required."""
    host_names: tuple[str, ...] = ()
    """Accepted names in the Host header besides localhost and IP addresses. With any name, a web page whose domain
    resolves to this service could query it through its visitors' browsers (DNS rebinding)."""
    per_minute: float = 0
    """Requests per minute and caller, in each process; 0 for no limit."""
    most_bytes: int = 4 << 20
    """Maximum size of a body."""
    timeout_s: float = 30.0
    """Maximum time from question to answer."""
    batch: int = 16
    """Maximum batch size."""
    wait_s: float = 0.01
    """How long an idle service waits for more questions after the first of a batch."""
    within_s: float = 0.75
    """Time within which work on a question must begin; a caller who would wait longer is asked to retry."""
    most_waiting: int = 1_000
    """Maximum number of waiting questions; beyond it, callers are asked to retry."""
    log_texts: bool = False
    """Whether questions and passages are logged."""


class Rates:
    """Rate limits by a token bucket per caller; its size is the number of requests of ten seconds."""

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_s = per_minute / 60
        self.burst = max(1.0, per_minute / 6)
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, caller: str) -> float:
        """0 if the caller may proceed, else the seconds until it may."""
        now = self._clock()
        left, then = self._left.pop(caller, (self.burst, now))
        left = min(self.burst, left + (now - then) * self.per_s)
        allowed = left >= 1
        self._left[caller] = (left - allowed, now)
        if len(self._left) > _MAX_CALLERS:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self.per_s


class RequestGuard:
    """ASGI middleware around the service, with its `limits` of callers and bodies; a caller is identified by its key,
    else its address.

    `wait_s` returns the seconds after which to retry if a question would wait too long, else 0. `observe` is called
    with path, status and seconds of each request.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: ServiceLimits,
        wait_s: Callable[[], float],
        observe: Callable[[str, int, float], None],
    ) -> None:
        self.app = app
        self.keys = [hashlib.sha256(key.encode()).digest() for key in limits.keys]
        self.rates = Rates(limits.per_minute) if limits.per_minute else None
        self.host_names = {"localhost", *(name.lower() for name in limits.host_names)}
        self.most_bytes = limits.most_bytes
        self.wait_s = wait_s
        self.observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        given = headers.get("x-request-id", "")
        request_id = given if _SANE_ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        began, status, sent = time.perf_counter(), 500, 0

        async def say(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                message.setdefault("headers", []).append((b"x-request-id", request_id.encode()))
            elif message["type"] == "http.response.body":
                sent += len(message.get("body", b""))
            await send(message)

        try:
            refusal = self._refusal(scope, headers, request_id)
            if refusal is not None:
                await self._read_away(receive)
                await refusal(scope, receive, say)
            else:
                await self.app(scope, self._bounded(receive), say)
        finally:
            seconds = time.perf_counter() - began
            path = getattr(scope.get("route"), "path", "other")
            self.observe(path, status, seconds)
            row = {"id": request_id, "method": scope["method"], "path": path, "status": status}
            LOG.info(json.dumps({**row, "ms": round(1000 * seconds, 1), "bytes": sent}))

    async def _read_away(self, receive: Receive) -> None:
        """Read on, for some seconds, what a rejected caller is sending: many clients miss the response if cut off."""
        received, until = 0, time.monotonic() + _READ_AWAY_S
        while received < 8 * self.most_bytes and (left := until - time.monotonic()) > 0:
            try:
                message = await asyncio.wait_for(receive(), left)
            except TimeoutError:
                return
            received += len(message.get("body", b""))
            if not message.get("more_body"):
                return

    def _refusal(self, scope: Scope, headers: dict[str, str], request_id: str) -> Any:
        if scope["path"] in ALWAYS:
            return None
        if not self._is_own(host := headers.get("host", "")):
            detail = (
                f"unknown host name {host[:200]}; use the service's IP address, or start it with --host-name"
            )
            return problem(421, detail, request_id)
        if not scope["path"].startswith("/v1"):
            return None
        caller = (scope.get("client") or ("",))[0]
        if self.keys:
            kind, _, key = headers.get("authorization", "").partition(" ")
            digest = hashlib.sha256(key.strip().encode()).digest()
            known = [hmac.compare_digest(digest, other) for other in self.keys]
            if kind.lower() != "bearer" or not any(known):
                detail = "missing or unknown API key; send Authorization: Bearer KEY"
                return problem(401, detail, request_id, headers={"WWW-Authenticate": "Bearer"})
            caller = digest.hex()
        length = headers.get("content-length", "")
        if length.isdecimal() and len(length) < 20 and int(length) > self.most_bytes:
            return problem(413, self._too_large, request_id)
        wait = self.rates.wait_s(caller) if self.rates else 0.0
        if wait:
            again = {"Retry-After": str(int(wait) + 1)}
            return problem(
                429, "too many requests from this caller; wait a little", request_id, headers=again
            )
        if scope["path"] in SINGLE and (wait := self.wait_s()):  # rejected before its body is parsed
            return busy_problem(wait, request_id)
        return None

    def _is_own(self, host: str) -> bool:
        """Whether a Host header is accepted: an IP address, or an accepted name."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
            return name in self.host_names or bool(ipaddress.ip_address(name))
        except ValueError:
            return False

    @property
    def _too_large(self) -> str:
        return f"the body has more than {self.most_bytes:,} bytes; ask fewer questions at once"

    def _bounded(self, receive: Receive) -> Receive:
        received, whole = 0, False
        until = time.monotonic() + BODY_S

        async def bounded() -> Message:
            nonlocal received, whole
            try:  # once the body is complete, the next message is the disconnect
                message = await asyncio.wait_for(receive(), None if whole else until - time.monotonic())
            except TimeoutError:
                raise HTTPException(408, f"the body was not received within {BODY_S:g} s") from None
            whole = whole or not message.get("more_body")
            received += len(message.get("body", b""))
            if received > self.most_bytes:
                raise HTTPException(413, self._too_large)
            return message

        return bounded


# Connections: each has timeouts, and no caller can use up those of the others.
#
# This uses plain sockets and ASGI, no internals of a server: uvicorn gets this socket to listen on, and the application
# as wrapped by `Listener.watched`.

IDLE_S = 10.0
"""Timeout from connecting, or from the last response, to the next complete request head."""
WRITE_S = 20.0
"""Timeout for a caller to receive anything that is being sent; measured by the kernel (Linux)."""
MAX_CONNECTIONS = 900
"""Maximum number of connections of a process, which may have about a thousand open files."""
SHARE, SHARE_OF_ONE = 0.75, 0.5
"""Maximum shares of the connections that may wait for answers at a time: of all callers, and of one address."""
_SWEEP_S = 0.5
_RESET = struct.pack("ii", 1, 0)


@dataclass(eq=False)
class Connection:
    """A connection, and whether it waits for the caller or for the service."""

    line: socket.socket
    peer: str
    requests: int = 0
    """Number of requests being answered."""
    waits_for_caller: bool = True
    since: float = field(default_factory=time.monotonic)
    """When it began to wait for the caller."""

    @contextmanager
    def callers_turn(self) -> Iterator[None]:
        """A context in which the service waits for the caller to send or read something."""
        self.waits_for_caller, self.since = True, time.monotonic()
        try:
            yield
        finally:
            self.waits_for_caller = False

    @contextmanager
    def request(self) -> Iterator[None]:
        self.requests, self.waits_for_caller = self.requests + 1, False
        try:
            yield
        finally:
            self.requests -= 1
            self.waits_for_caller, self.since = self.requests == 0, time.monotonic()

    def hang_up(self) -> None:
        """Stop receiving; what was written is still sent."""
        with suppress(OSError):
            self.line.shutdown(socket.SHUT_RD)

    def reset(self) -> None:
        """Close the connection, and discard what was not sent."""
        with suppress(OSError):
            self.line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.line.shutdown(socket.SHUT_RDWR)


class Listener(socket.socket):
    """A listening socket that keeps track of its connections, for a server on an asyncio event loop.

    Of more than `most` connections, the one that has kept the service waiting for the longest is replaced, among those
    of the address with the most. `idle_s` and `write_s` are as `IDLE_S` and `WRITE_S`.
    """

    def __init__(
        self,
        listening: socket.socket,
        most: int = MAX_CONNECTIONS,
        idle_s: float = IDLE_S,
        write_s: float = WRITE_S,
    ) -> None:
        family, kind, protocol = listening.family, listening.type, listening.proto
        super().__init__(family, kind, protocol, fileno=listening.detach())
        self.most, self.idle_s = most, idle_s
        self._connections: dict[Any, Connection] = {}
        self._is_swept = False
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # accepted connections inherit it
            self.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * write_s))

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection; there is always room unless all others are being answered."""
        line, address = super().accept()
        if len(self.connections()) >= self.most:
            self._make_room()
        self._connections[address[:2]] = Connection(line, address[0])
        if not self._is_swept:
            self._is_swept = True
            asyncio.get_running_loop().call_later(_SWEEP_S, self._sweep)
        return line, address

    def connections(self) -> list[Connection]:
        closed = [address for address, one in self._connections.items() if one.line.fileno() < 0]
        for address in closed:
            del self._connections[address]
        return list(self._connections.values())

    def _make_room(self) -> None:
        have = Counter(one.peer for one in self._connections.values())
        waiting = [address for address, one in self._connections.items() if one.waits_for_caller]
        if waiting:
            known = self._connections
            last = max(waiting, key=lambda address: (have[known[address].peer], -known[address].since))
            known.pop(last).reset()

    def _sweep(self) -> None:
        now, open_now = time.monotonic(), self.connections()
        for one in open_now:
            if not one.requests and now - one.since > self.idle_s:
                one.hang_up()
        self._is_swept = bool(open_now)
        if open_now:
            asyncio.get_running_loop().call_later(_SWEEP_S, self._sweep)

    def watched(self, app: ASGIApp) -> ASGIApp:
        """The application, wrapped to keep track of requests; beyond the limits, callers are asked to retry."""

        async def watching(scope: Scope, receive: Receive, send: Send) -> None:
            connection = self._connections.get(tuple(scope.get("client") or ()))
            if scope["type"] != "http" or connection is None:
                await app(scope, receive, send)
                return
            is_whole = False

            async def received() -> Message:
                nonlocal is_whole
                if is_whole:  # the next message is the disconnect
                    return await receive()
                with connection.callers_turn():
                    message = await receive()
                is_whole = not message.get("more_body")
                return message

            async def sent(message: Message) -> None:
                with connection.callers_turn():
                    await send(message)

            crowded = scope["path"] not in ALWAYS and self._is_crowded(connection.peer)
            with connection.request():
                await (busy_problem(1.0, "") if crowded else app)(scope, received, sent)

        return watching

    def _is_crowded(self, peer: str) -> bool:
        asking = [one.peer for one in self.connections() if not one.waits_for_caller]
        return len(asking) >= SHARE * self.most or asking.count(peer) >= SHARE_OF_ONE * self.most

"""Before and after every request: its id, key, rate and size; its line in the log and its place in the figures."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import json
import logging
import re
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgqa.serving.problems import busy_problem, problem

LOG = logging.getLogger("kgqa.serving")
SINGLE = frozenset({"/v1/answer", "/v1/explain", "/v1/what-if"})
"""What asks one question, to be answered at once."""
_SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MOST_CALLERS = 10_000
_READ_AWAY_S = 5.0
BODY_S = 20.0
"""For the whole body of a request."""
ALWAYS = frozenset({"/health", "/ready"})
"""What is answered whoever asks, and however many do."""


@dataclass(frozen=True)
class Limits:
    """What the service allows itself and its callers."""

    keys: tuple[str, ...] = ()
    """One is to be sent as `Authorization: Bearer KEY`; empty: everyone may ask."""
    host_names: tuple[str, ...] = ()
    """By which the service may be asked beside localhost and addresses; else a web page whose name is made to lead
    here could ask it through its visitors' browsers (DNS rebinding)."""
    per_minute: float = 0
    """Requests of one caller in each process; 0 sets no limit."""
    most_bytes: int = 4 << 20
    """Of a body."""
    timeout_s: float = 30.0
    """From question to answer."""
    batch: int = 16
    """Questions read together."""
    wait_s: float = 0.01
    """How long the first question of a batch waits for company."""
    within_s: float = 0.75
    """When reading a question is to begin; a caller who would wait longer is asked to come again."""
    most_waiting: int = 1_000
    """Questions; beyond, callers are asked to come again."""
    log_texts: bool = False
    """Whether the log holds what was asked."""


class Rates:
    """A bucket of requests for each caller, refilled steadily; bursts of a sixth of a minute are free."""

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_s = per_minute / 60
        self.burst = max(1.0, per_minute / 6)
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, caller: str) -> float:
        """0 where the caller may go on, else the seconds until it may."""
        now = self._clock()
        left, then = self._left.pop(caller, (self.burst, now))
        left = min(self.burst, left + (now - then) * self.per_s)
        allowed = left >= 1
        self._left[caller] = (left - allowed, now)
        if len(self._left) > _MOST_CALLERS:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self.per_s


class Guard:
    """ASGI middleware around the service.

    Args:
        limits: of callers and bodies; a caller is a key, else an address.
        wait_s: seconds that a question would wait, where that is too long; else 0.
        observe: is told path, status and seconds of each request.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
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
        """One request."""
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
        """Read what a refused caller is sending, within reason: cut off in the middle, many never see the refusal."""
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
            detail = f"this service is not called {host[:200]}; ask it by its address, or start it with --host-name"
            return problem(421, detail, request_id)
        if not scope["path"].startswith("/v1"):
            return None
        caller = (scope.get("client") or ("",))[0]
        if self.keys:
            kind, _, key = headers.get("authorization", "").partition(" ")
            digest = hashlib.sha256(key.strip().encode()).digest()
            known = [hmac.compare_digest(digest, other) for other in self.keys]
            if kind.lower() != "bearer" or not any(known):
                detail = "no key, or not one of this service; send Authorization: Bearer KEY"
                return problem(401, detail, request_id, headers={"WWW-Authenticate": "Bearer"})
            caller = digest.hex()
        length = headers.get("content-length", "")
        if length.isdecimal() and len(length) < 20 and int(length) > self.most_bytes:
            return problem(413, self._too_large, request_id)
        wait = self.rates.wait_s(caller) if self.rates else 0.0
        if wait:
            said = {"Retry-After": str(int(wait) + 1)}
            return problem(429, "too many requests from this caller; wait a little", request_id, headers=said)
        if scope["path"] in SINGLE and (wait := self.wait_s()):  # told before its body is looked at
            return busy_problem(wait, request_id)
        return None

    def _is_own(self, host: str) -> bool:
        """Whether a Host header names this service: by an address, or by a name that it goes by."""
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
            try:  # once it is whole, what is waited for is that the caller leaves
                message = await asyncio.wait_for(receive(), None if whole else until - time.monotonic())
            except TimeoutError:
                raise HTTPException(408, f"the body did not come within {BODY_S:g} s") from None
            whole = whole or not message.get("more_body")
            received += len(message.get("body", b""))
            if received > self.most_bytes:
                raise HTTPException(413, self._too_large)
            return message

        return bounded

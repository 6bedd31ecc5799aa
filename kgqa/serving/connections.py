"""The connections of the service: each has an end, and no caller can hold those of the others.

Plain sockets and ASGI, nothing of a server's inside: the server (uvicorn) is given this socket to listen on, and the
application as `Listener.watched` wraps it.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgqa.serving.guarding import ALWAYS
from kgqa.serving.problems import busy_problem

IDLE_S = 10.0
"""Between connecting or the last response, and the next whole request head."""
WRITE_S = 20.0
"""For a caller to take anything of what is being sent; the kernel measures it (Linux)."""
MOST_CONNECTIONS = 900
"""In one process, which may hold about a thousand files and connections."""
SHARE, SHARE_OF_ONE = 0.75, 0.5
"""Of the connections, which may wait for answers at a time: of all callers, and of one address."""
_SWEEP_S = 0.5
_RESET = struct.pack("ii", 1, 0)


@dataclass(eq=False)
class Connection:
    """One caller's connection, and whose turn it is."""

    line: socket.socket
    peer: str
    requests: int = 0
    """Being answered."""
    waits_for_caller: bool = True
    since: float = field(default_factory=time.monotonic)
    """When the caller's turn began."""

    @contextmanager
    def callers_turn(self) -> Iterator[None]:
        """While the caller has to send or to read something."""
        self.waits_for_caller, self.since = True, time.monotonic()
        try:
            yield
        finally:
            self.waits_for_caller = False

    @contextmanager
    def request(self) -> Iterator[None]:
        """While a request is answered."""
        self.requests, self.waits_for_caller = self.requests + 1, False
        try:
            yield
        finally:
            self.requests -= 1
            self.waits_for_caller, self.since = self.requests == 0, time.monotonic()

    def hang_up(self) -> None:
        """Hear no more of the caller; what was written is still sent."""
        with suppress(OSError):
            self.line.shutdown(socket.SHUT_RD)

    def reset(self) -> None:
        """Cut the connection, and drop what was not sent."""
        with suppress(OSError):
            self.line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.line.shutdown(socket.SHUT_RDWR)


class Listener(socket.socket):
    """A listening socket that knows its connections, for a server on an asyncio event loop.

    Args:
        listening: the socket to take over.
        most: connections; who comes beyond takes the place of the one that has kept the service waiting for the
            longest, of those of the address that has most.
        idle_s: as `IDLE_S`.
        write_s: as `WRITE_S`.
    """

    def __init__(
        self,
        listening: socket.socket,
        most: int = MOST_CONNECTIONS,
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
        """The next connection, for which there is always a place unless all others are being answered."""
        line, address = super().accept()
        if len(self.connections()) >= self.most:
            self._make_room()
        self._connections[address[:2]] = Connection(line, address[0])
        if not self._is_swept:
            self._is_swept = True
            asyncio.get_running_loop().call_later(_SWEEP_S, self._sweep)
        return line, address

    def connections(self) -> list[Connection]:
        """Those that are open."""
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
        """The application, of whose requests the connections know; too many at a time are told to come again."""

        async def watching(scope: Scope, receive: Receive, send: Send) -> None:
            connection = self._connections.get(tuple(scope.get("client") or ()))
            if scope["type"] != "http" or connection is None:
                await app(scope, receive, send)
                return
            is_whole = False

            async def received() -> Message:
                nonlocal is_whole
                if is_whole:  # what is waited for is that the caller leaves
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

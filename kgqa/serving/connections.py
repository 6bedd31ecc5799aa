"""The service's connections: who does not say what they want is cut off, and a stop ends within its time."""

from __future__ import annotations

import asyncio
import os
import threading
from types import FrameType

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 10.0
"""For the head of a request, from when it begins or the connection is made."""
MOST_CONNECTIONS = 900
"""Beyond, callers get 503: a process may hold about a thousand files and connections."""
GRACE_S = 30.0
"""How long a stopped service may take to answer what was begun."""


class HurriedProtocol(H11Protocol):
    """HTTP whose heads come within `HEAD_S`; uvicorn waits for them for ever."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._late = self.loop.call_later(HEAD_S, transport.close)

    def data_received(self, data: bytes) -> None:
        """Read on; a head that is whole is no longer waited for, one that has begun is."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait_no_more()
        elif self._late is None:
            self._late = self.loop.call_later(HEAD_S, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait_no_more(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class PromptServer(uvicorn.Server):
    """A server that ends within `GRACE_S` of being told to, whatever it is in the middle of."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop taking requests, and end by force when the grace time is over."""
        if not self.should_exit:
            last = threading.Timer(GRACE_S, os._exit, (0,))
            last.daemon = True
            last.start()
        super().handle_exit(sig, frame)

"""The app as an ASGI application whose pages know at once where their server is."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from starlette.middleware import Middleware
from streamlit.starlette import App

SCRIPT = Path(__file__).with_name("main.py")
TOLD = b"<script>window.__streamlit={BACKEND_BASE_URL:window.location.origin}</script>"
"""Without it a browser that opens /learn asks for the server below /learn first, and meets errors of 404."""
SILENT_S = 20.0
BARRED = (b"accept-encoding", b"if-none-match", b"if-modified-since")


class PagesKnowTheirServer:
    """Writes the server's address into the head of every page that is sent."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass a request on; a page is sent whole, everything else as it comes."""
        path = str(scope.get("path", ""))
        if scope["type"] != "http" or scope["method"] != "GET" or path.count("/") > 1 or "." in path:
            await self.app(scope, receive, send)
            return
        start: dict[str, Any] = {}
        body = b""

        async def whole(message: dict[str, Any]) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            page = body.replace(b"<head>", b"<head>" + TOLD, 1)
            kept = [pair for pair in start["headers"] if pair[0].lower() not in (b"content-length", b"etag")]
            length = (b"content-length", str(len(page)).encode())
            await send({**start, "headers": [*kept, length]})
            await send({"type": "http.response.body", "body": page})

        asked = [pair for pair in scope["headers"] if pair[0].lower() not in BARRED]
        await self.app({**scope, "headers": asked}, receive, whole)


class BodiesComeInTime:
    """Takes whoever stops sending for gone: an upload of which half comes would be waited for as long as it is open."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass a request on, whose body is waited for `SILENT_S` between its parts."""
        whole = False

        async def in_time() -> Any:
            nonlocal whole
            try:  # once it is whole, what is waited for is that the caller leaves
                message = await asyncio.wait_for(receive(), None if whole else SILENT_S)
            except TimeoutError:
                return {"type": "http.disconnect"}
            whole = not message.get("more_body")
            return message

        await self.app(scope, in_time if scope["type"] == "http" else receive, send)


app = App(SCRIPT, middleware=[Middleware(BodiesComeInTime), Middleware(PagesKnowTheirServer)])

"""The app as an ASGI application, with middleware for base URL, language, slow uploads and upload totals."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from starlette.middleware import Middleware
from streamlit.starlette import App

SCRIPT = Path(__file__).with_name("main.py")
BACKEND_SCRIPT = b"<script>window.__streamlit={BACKEND_BASE_URL:window.location.origin}</script>"
"""Without it a browser that opens /learn first looks for the server below /learn, and gets 404 errors."""
SILENT_S = 20.0
UPLOADS = "/_stcore/upload_file/"
UPLOADS_BYTES = 100_000_000
"""Maximum bytes held by one visitor's page: twice the largest graph."""
BARRED = (b"accept-encoding", b"if-none-match", b"if-modified-since")


class PagesKnowTheirServer:
    """Writes the server's address and the language of the URL into the head of every page."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass a request on; an HTML page is buffered and changed, everything else is streamed."""
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
            page = body.replace(b"<head>", b"<head>" + BACKEND_SCRIPT, 1)
            # latin-1 decodes any bytes; raw Korean may not be UTF-8
            asked_for = scope.get("query_string", b"").decode("latin-1")
            if ("lang", "ko") in parse_qsl(asked_for):
                page = page.replace(b'<html lang="en"', b'<html lang="ko"', 1)
            kept = [pair for pair in start["headers"] if pair[0].lower() not in (b"content-length", b"etag")]
            length = (b"content-length", str(len(page)).encode())
            await send({**start, "headers": [*kept, length]})
            await send({"type": "http.response.body", "body": page})

        asked = [pair for pair in scope["headers"] if pair[0].lower() not in BARRED]
        await self.app({**scope, "headers": asked}, receive, whole)


class BodiesComeInTime:
    """Disconnects clients that stop sending; otherwise half an upload would be waited for as long as it is open."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass a request on; at most `SILENT_S` may pass between two chunks of its body."""
        whole = False

        async def in_time() -> Any:
            nonlocal whole
            try:  # after the whole body, receive() waits for the client to disconnect: no timeout then
                message = await asyncio.wait_for(receive(), None if whole else SILENT_S)
            except TimeoutError:
                return {"type": "http.disconnect"}
            whole = not message.get("more_body")
            return message

        await self.app(scope, in_time if scope["type"] == "http" else receive, send)


class UploadsHaveATotal:
    """Rejects an upload, while it arrives, with which one visitor's page would hold more than `UPLOADS_BYTES`.

    What a page holds is freed by Streamlit when its session ends or another file is chosen.
    """

    def __init__(self, app: Any) -> None:
        self.app = app
        self.arriving: Counter[str] = Counter()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass a request on; the body of an upload is counted."""
        path = str(scope.get("path", ""))
        if scope["type"] != "http" or scope["method"] != "PUT" or UPLOADS not in path:
            await self.app(scope, receive, send)
            return
        visitor, come = path.rsplit("/", 2)[-2], 0

        async def counted() -> Any:
            nonlocal come
            message = await receive()
            come += len(message.get("body", b""))
            self.arriving[visitor] += len(message.get("body", b""))
            if held(visitor) + self.arriving[visitor] > UPLOADS_BYTES:
                raise TooMuch
            return message

        try:
            await self.app(scope, counted, send)
        except TooMuch:
            said = b"this page holds too many files; remove one, or load the page anew"
            head = [(b"content-type", b"text/plain"), (b"content-length", str(len(said)).encode())]
            await send({"type": "http.response.start", "status": 413, "headers": head})
            await send({"type": "http.response.body", "body": said})
        finally:
            self.arriving[visitor] -= come
            if not self.arriving[visitor]:
                del self.arriving[visitor]


class TooMuch(Exception):
    """A visitor's uploads exceed the limit."""


def held(visitor: str) -> int:
    """Bytes of the files that a visitor's session holds."""
    from streamlit import runtime

    if not runtime.exists():
        return 0
    files = runtime.get_instance().uploaded_file_mgr.file_storage.get(visitor, {})  # type: ignore[attr-defined]
    return sum(len(file.data) for file in files.values())


app = App(
    SCRIPT,
    middleware=[
        Middleware(UploadsHaveATotal),
        Middleware(BodiesComeInTime),
        Middleware(PagesKnowTheirServer),
    ],
)

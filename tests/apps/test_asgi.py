import asyncio
from typing import Any

import pytest

pytest.importorskip("streamlit.starlette", reason="an older Streamlit")


async def answered(path: str, kind: bytes = b"text/html") -> tuple[dict[str, Any], bytes, list[Any]]:
    from apps.asgi import PagesKnowTheirServer

    sent: list[dict[str, Any]] = []
    seen: list[Any] = []

    async def inner(scope: dict[str, Any], receive: Any, send: Any) -> None:
        seen.extend(scope["headers"])
        headers = [(b"content-type", kind), (b"content-length", b"13"), (b"etag", b"x")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"<head>", "more_body": True})
        await send({"type": "http.response.body", "body": b"</head>"})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "headers": [(b"accept-encoding", b"gzip")]}
    await PagesKnowTheirServer(inner)(scope, None, send)
    return sent[0], b"".join(message.get("body", b"") for message in sent[1:]), seen


def test_a_page_is_told_where_its_server_is() -> None:
    for path in ("/", "/learn"):
        start, body, seen = asyncio.run(answered(path))
        assert body.startswith(b"<head><script>window.__streamlit") and not seen
        assert (b"content-length", str(len(body)).encode()) in start["headers"]


def test_everything_else_passes_as_it_is() -> None:
    for path in ("/static/x.js", "/_stcore/health", "/favicon.png"):
        start, body, seen = asyncio.run(answered(path))
        assert body == b"<head></head>" and seen and (b"content-length", b"13") in start["headers"]

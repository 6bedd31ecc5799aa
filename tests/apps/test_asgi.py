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


def test_half_a_body_is_waited_for_no_longer_than_it_may_be_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    from apps import asgi

    monkeypatch.setattr(asgi, "SILENT_S", 0.05)
    parts = [{"type": "http.request", "body": b"half", "more_body": True}]
    heard: list[str] = []

    async def receive() -> dict[str, Any]:
        return parts.pop() if parts else await asyncio.Event().wait()  # type: ignore[return-value]

    async def inner(scope: dict[str, Any], receive: Any, send: Any) -> None:
        heard.extend([(await receive())["type"], (await receive())["type"]])

    asyncio.run(asyncio.wait_for(asgi.BodiesComeInTime(inner)({"type": "http"}, receive, None), 5))
    assert heard == ["http.request", "http.disconnect"]


def test_a_caller_who_has_sent_all_is_answered_however_long_that_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from apps import asgi

    monkeypatch.setattr(asgi, "SILENT_S", 0.05)

    async def inner(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await receive()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(receive(), 0.3)

    queue: list[dict[str, Any]] = [{"type": "http.request", "body": b"whole"}]

    async def receive() -> dict[str, Any]:
        return queue.pop() if queue else await asyncio.Event().wait()  # type: ignore[return-value]

    asyncio.run(asgi.BodiesComeInTime(inner)({"type": "http"}, receive, None))

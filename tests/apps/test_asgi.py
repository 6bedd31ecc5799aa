import asyncio
from typing import Any

import pytest

pytest.importorskip("streamlit.starlette", reason="an older Streamlit")


PAGE = b'<html lang="en"><head></head>'


async def answered(path: str, query: bytes = b"") -> tuple[dict[str, Any], bytes, list[Any]]:
    """The first message of a response, its whole body, and the headers that the app has seen."""
    from apps.asgi import PagesKnowTheirServer

    sent: list[dict[str, Any]] = []
    seen: list[Any] = []

    async def inner(scope: dict[str, Any], receive: Any, send: Any) -> None:
        seen.extend(scope["headers"])
        headers = [(b"content-type", b"text/html"), (b"content-length", b"29"), (b"etag", b"x")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": PAGE[:22], "more_body": True})
        await send({"type": "http.response.body", "body": PAGE[22:]})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asked = {"path": path, "query_string": query, "headers": [(b"accept-encoding", b"gzip")]}
    scope = {"type": "http", "method": "GET", **asked}
    await PagesKnowTheirServer(inner)(scope, None, send)
    return sent[0], b"".join(message.get("body", b"") for message in sent[1:]), seen


def test_a_page_is_told_where_its_server_is() -> None:
    for path in ("/", "/learn"):
        start, body, seen = asyncio.run(answered(path))
        assert body.startswith(b'<html lang="en"><head><script>window.__streamlit') and not seen
        assert (b"content-length", str(len(body)).encode()) in start["headers"]


QUERIES = {
    b"": b'<html lang="en"',
    b"lang=ko&q=a": b'<html lang="ko"',
    b"q=lang%3Dko": b'<html lang="en"',
    b"q=%EB%95%85%EC%9D%84&lang=ko": b'<html lang="ko"',
    b"q=caf%C3%A9": b'<html lang="en"',
    b"q=%FF%FE&lang=ko": b'<html lang="ko"',
    "q=땅&lang=ko".encode(): b'<html lang="ko"',
}
"""How the address of a page is written, and how its document begins."""


def test_a_page_is_in_the_language_of_its_address() -> None:
    found = {query: asyncio.run(answered("/", query))[1][:15] for query in QUERIES}
    assert found == QUERIES


def test_everything_else_passes_as_it_is() -> None:
    for path in ("/static/x.js", "/_stcore/health", "/favicon.png"):
        start, body, seen = asyncio.run(answered(path))
        assert body == PAGE and seen and (b"content-length", b"29") in start["headers"]


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


def test_the_uploads_of_one_visitor_have_a_total_and_those_of_others_are_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from apps import asgi

    monkeypatch.setattr(asgi, "UPLOADS_BYTES", 100)
    holds = {"mia": 60, "tom": 0}
    monkeypatch.setattr(asgi, "held", lambda visitor: holds[visitor])

    async def inner(scope: dict[str, Any], receive: Any, send: Any) -> None:
        while (await receive())["more_body"]:
            await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 204, "headers": []})

    counted = asgi.UploadsHaveATotal(inner)

    async def upload(visitor: str, parts: int) -> int:
        sent: list[dict[str, Any]] = []
        left = iter(range(parts - 1, -1, -1))

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"x" * 10, "more_body": next(left) > 0}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "PUT", "path": f"/_stcore/upload_file/{visitor}/1"}
        await counted(scope, receive, send)
        return int(sent[0]["status"])

    async def together() -> list[int]:
        return await asyncio.gather(upload("mia", 3), upload("mia", 3), upload("tom", 9))

    assert asyncio.run(together()) in ([204, 413, 204], [413, 204, 204])
    assert asyncio.run(upload("mia", 4)) == 204 and not counted.arriving

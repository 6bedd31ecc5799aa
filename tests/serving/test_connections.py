import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from kgqa.serving import connections, guarding
from kgqa.serving.service import create_service

HEAD = b"POST /v1/answer HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@pytest.fixture
def port(stub, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    import uvicorn

    monkeypatch.setattr(connections, "HEAD_S", 1.0)
    monkeypatch.setattr(guarding, "BODY_S", 1.0)
    listener = socket.create_server(("127.0.0.1", 0))
    app = create_service(lambda: {("stub", "garden"): stub}, eager=True)
    config = uvicorn.Config(app, log_config=None, http=connections.HurriedProtocol)
    server = connections.PromptServer(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(30)


def heard(port: int, *parts: bytes, pause_s: float = 0.0) -> tuple[bytes, float]:
    """All that comes back until the other side hangs up, and how long that takes."""
    begin = time.monotonic()
    said = b""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
        try:
            for part in parts:
                line.sendall(part)
                time.sleep(pause_s)
            while more := line.recv(1 << 16):
                said += more
        except ConnectionError:
            pass
    return said, time.monotonic() - begin


@pytest.mark.parametrize("parts", [(), (b"POST /v1/ans",), (HEAD,)])
def test_half_a_head_is_cut_off(port: int, parts: tuple[bytes, ...]) -> None:
    said, taken = heard(port, *parts)
    assert said == b"" and taken < 10


def test_a_head_that_drips_is_cut_off(port: int) -> None:
    drip = [bytes([letter]) for letter in HEAD]
    assert heard(port, *drip, pause_s=0.1)[1] < 10


def test_half_a_body_is_cut_off(port: int) -> None:
    said, taken = heard(port, HEAD + b'Content-Length: 1000\r\n\r\n{"question"')
    assert b" 408 " in said and taken < 10


def test_whole_requests_are_answered_one_after_another(port: int) -> None:
    body = b'{"question": "a"}'
    whole = HEAD + b"Content-Length: %d\r\n" % len(body)
    said, _ = heard(port, whole + b"\r\n" + body, whole + b"Connection: close\r\n\r\n" + body, pause_s=1.5)
    assert said.count(b" 200 ") == 2


BUSY = """
import socket, sys, time, uvicorn
from kgqa.serving import connections
from kgqa.serving.service import create_service
connections.GRACE_S = 4.0

class Deaf:  # reads for ever and asks nobody
    graph = None
    def answer(self, question):
        return self.answer_many([question])[0]
    def answer_many(self, questions):
        while any("busy" in question.text for question in questions):
            time.sleep(0.1)
        return [None] * len(questions)

listener = socket.create_server(("127.0.0.1", 0))
app = create_service(lambda: {("deaf", "none"): Deaf()}, eager=True)
config = uvicorn.Config(app, log_config=None, http=connections.HurriedProtocol, timeout_graceful_shutdown=2)
print(listener.getsockname()[1], flush=True)
connections.PromptServer(config).run(sockets=[listener])
"""


def test_a_busy_service_ends_within_its_grace_time() -> None:
    running = subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE, env={**os.environ})
    try:
        assert running.stdout is not None
        port = int(running.stdout.readline())
        body = b'{"question": "busy"}'
        ask = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
        lines = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(5)]
        for line in lines:
            line.sendall(ask)
        time.sleep(3)
        running.send_signal(signal.SIGTERM)
        assert running.wait(15) in (0, -signal.SIGTERM)
    finally:
        running.kill()

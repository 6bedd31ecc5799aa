import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from kgqa.serving import middleware
from kgqa.serving.api import create_service
from kgqa.serving.middleware import Listener

HEAD = b"POST /v1/answer HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture
def listener(stub, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listener]:
    """A service that listens there, whose connections are at most 50 and end within a few seconds: a busy machine may
    hold up even a reader who is not slow."""
    import uvicorn

    monkeypatch.setattr(middleware, "BODY_S", 1.0)
    listener = Listener(socket.create_server(("127.0.0.1", 0)), most=50, idle_s=2.0, write_s=6.0)
    app = listener.watched(create_service(lambda: {("stub", "garden"): stub}, eager=True))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, http="h11", loop="asyncio"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield listener
    server.should_exit = True
    thread.join(30)


@pytest.fixture
def port(listener: Listener) -> int:
    return int(listener.getsockname()[1])


def heard(port: int, *parts: bytes, pause_s: float = 0.0) -> tuple[bytes, float]:
    """All that comes back until the other side hangs up, and how long that takes."""
    begin = time.monotonic()
    output = b""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
        try:
            for part in parts:
                line.sendall(part)
                time.sleep(pause_s)
            while more := line.recv(1 << 16):
                output += more
        except ConnectionError:
            pass
    return output, time.monotonic() - begin


def test_half_a_head_or_body_and_what_drips_are_cut_off(port: int) -> None:
    drip = tuple(bytes([letter]) for letter in HEAD)
    half = (HEAD + b'Content-Length: 1000\r\n\r\n{"question"',)
    with ThreadPoolExecutor(5) as callers:  # each waits for seconds
        waiting = [callers.submit(heard, port, *parts) for parts in ((), (b"POST /v1/ans",), (HEAD,), half)]
        dripping = callers.submit(heard, port, *drip, pause_s=0.1)
    *heads, body = (caller.result() for caller in waiting)
    assert all(output == b"" and taken < 10 for output, taken in heads)
    assert b" 408 " in body[0] and body[1] < 10 and dripping.result()[1] < 10


def test_whole_requests_are_answered_one_after_another(port: int) -> None:
    body = b'{"question": "a"}'
    whole = HEAD + b"Content-Length: %d\r\n" % len(body)
    output, _ = heard(port, whole + b"\r\n" + body, whole + b"Connection: close\r\n\r\n" + body, pause_s=1.5)
    assert output.count(b" 200 ") == 2


def answered(port: int, path: bytes) -> bytes:
    return heard(port, b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % path)[0]


def test_callers_who_do_not_read_are_cut_and_health_and_ready_are_answered_meanwhile(listener, port) -> None:
    asked = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 400  # more than is buffered on the way
    deaf = []
    for _ in range(49):
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", port))
        line.sendall(asked)
        deaf.append(line)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        for path in (b"/health", b"/ready"):
            assert b" 200 " in answered(port, path)
        if not listener.connections():
            break
        time.sleep(0.2)
    assert not listener.connections(), "cut by the service, and not because they left"
    for line in deaf:
        line.close()


def test_who_comes_when_all_places_are_taken_gets_one(listener, port) -> None:
    listener.idle_s = 600.0  # a place is made, and not waited for
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(120)]
    assert b" 200 " in answered(port, b"/health")
    assert 0 < len(listener.connections()) <= 50
    for line in silent:
        line.close()


def test_who_reads_slowly_gets_all_of_a_long_response(port) -> None:
    asked = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", port))
        line.sendall(asked * 20 + asked.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        output = b""
        while more := line.recv(1 << 14):
            output += more
            time.sleep(0.05)
    assert output.count(b" 200 OK") == 21 and output.endswith(b"}")


def test_one_address_has_half_of_what_is_answered_at_a_time_and_health_always(listener, port, stub) -> None:
    stub.seconds = 1.0
    body = b'{"questions": [{"question": "a"}]}'
    many = HEAD.replace(b"answer", b"answers") + b"Content-Length: %d\r\n\r\n" % len(body) + body
    lines = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(25)]
    for line in lines:
        line.sendall(many)
    time.sleep(0.3)
    assert b" 503 " in answered(port, b"/docs") and b" 200 " in answered(port, b"/health")
    stub.seconds = 0.0
    for line in lines:
        line.close()


BUSY = """
import socket, sys, time, uvicorn
from kgqa.serving.api import create_service

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
config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=2)
print(listener.getsockname()[1], flush=True)
uvicorn.Server(config).run(sockets=[listener])
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
        assert b" 200 " in answered(port, b"/health"), "it is up"
        time.sleep(0.5)
        running.send_signal(signal.SIGTERM)
        assert running.wait(15) in (0, -signal.SIGTERM)
    finally:
        running.kill()

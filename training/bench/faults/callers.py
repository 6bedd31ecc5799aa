"""Many ask a service at a time, and it is killed while they do: is no answer lost or mixed up?"""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import socket
import threading
import time
from collections import Counter
from contextlib import closing
from http import HTTPStatus
from pathlib import Path

from reliability import SyntheticGraph, fork

GROWTH_MB = 64
"""That a service may keep of a thousand questions: caches have bounds."""


class Busy(Exception):
    """The service says in how many seconds to ask again."""


class Served:
    """A service in a child, over the tiny reader."""

    def __init__(self, world: SyntheticGraph) -> None:
        import uvicorn

        from kgqa.serving.api import create_service
        from kgqa.serving.middleware import ServiceLimits

        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]

        def serve() -> None:
            limits = ServiceLimits(timeout_s=120)
            app = create_service(lambda: {("tiny", "store"): world.answerer}, limits, eager=True)
            config = uvicorn.Config(app, log_config=None, access_log=False)
            uvicorn.Server(config).run(sockets=[self.listener])

        self.child = fork(serve)
        self.listener.close()

    def ask(self, number: str, text: str, timeout_s: float = 120) -> str:
        """The answer; a fault where it is another's."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout_s)) as line:
            body = json.dumps({"question": text, "id": number})
            line.request("POST", "/v1/answer", body, {"Content-Type": "application/json"})
            response = line.getresponse()
            found = json.load(response)
            if response.status == HTTPStatus.SERVICE_UNAVAILABLE and (
                wait := response.headers["Retry-After"]
            ):
                raise Busy(float(wait))
            if response.status != 200:
                raise OSError(f"status {response.status}: {found.get('detail')}")
            if (found["id"], found["question"]) != (number, text):
                raise AssertionError(f"{number} was given the answer to {found['id']}")
            return str(found["answer"])

    def memory_mb(self) -> float:
        """Of the service now."""
        lines = Path(f"/proc/{self.child}/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))

    def kill(self) -> None:
        """End it without a word."""
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)


def call(
    world: SyntheticGraph, callers: int, seconds: float, most: int = 0
) -> tuple[Counter[str], list[str]]:
    """Many callers at a time, for some seconds or (other than 0) `most` questions each: answers lost, mixed up, or
    other than when asked alone."""
    service, count, faults = Served(world), Counter(), []
    texts = [f"Who works in ward {n}?" for n in range(20)]
    alone = [service.ask(f"first {n}", text) for n, text in enumerate(texts)]
    count["MB at the start"] = int(service.memory_mb())
    until = time.monotonic() + seconds

    def one(caller: int) -> None:
        number = 0
        while time.monotonic() < until and (not most or number < most):
            number += 1
            which = (caller + number) % len(texts)
            try:
                answer = service.ask(f"{caller}-{number}", texts[which])
                count["answered"] += 1
                count["other than alone"] += answer != alone[which]
            except Busy as busy:
                count["asked again later"] += 1
                time.sleep(busy.args[0])
            except AssertionError as error:
                faults.append(f"serve: mixed up: {error}")
            except (OSError, ValueError, http.client.HTTPException) as error:
                faults.append(f"serve: lost: {error}")

    threads = [threading.Thread(target=one, args=(caller,)) for caller in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    count["MB at the end"] = int(service.memory_mb())
    service.kill()
    return count, faults


def ask_many(world: SyntheticGraph, most: int) -> tuple[Counter[str], list[str]]:
    """So many questions of different words, one after another: what is not answered, and what memory is kept."""
    service, count, faults = Served(world), Counter(), []
    for number in range(most):
        if number == most // 10:  # what is made on first use is there
            count["MB at the start"] = int(service.memory_mb())
        try:
            service.ask(str(number), f"Who worked with Kim{number} in ward {number} of house {number % 97}?")
            count["answered"] += 1
        except (AssertionError, OSError, ValueError, http.client.HTTPException) as error:
            faults.append(f"memory: question {number}: {error}")
    count["MB at the end"] = int(service.memory_mb())
    if (grown := count["MB at the end"] - count["MB at the start"]) > GROWTH_MB:
        faults.append(f"memory: {grown} MB more after {most} questions")
    service.kill()
    return count, faults


def kill_services(world: SyntheticGraph, times: int, draw: random.Random) -> tuple[int, list[str]]:
    """Kills of a service that is being asked: callers get whole answers or an error, and the next one serves."""
    faults: list[str] = []
    for _ in range(times):
        service = Served(world)
        service.ask("0", "Who works in ward 0?")

        def one(caller: int, asked: Served = service) -> None:
            try:
                while True:
                    asked.ask(str(caller), f"Who works in ward {caller}?", 10)
            except AssertionError as error:
                faults.append(f"serve: {error}")
            except (OSError, ValueError, http.client.HTTPException, Busy):
                return

        threads = [threading.Thread(target=one, args=(caller,)) for caller in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(draw.uniform(0, 0.5))
        service.kill()
        for thread in threads:
            thread.join()
    return times, faults

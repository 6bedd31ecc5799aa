"""The app under load over loopback: many visitors at a time, each a session of its own, and memory over many questions.

Run `python training/bench/app_load.py [--visitors 20] [--questions 1000]`. Each visitor speaks Streamlit's own
protocol: it opens a session with a link that holds a question, waits for the page to end, and looks at what it was
shown. Its passage bears a name that nobody else has; a page with another's name, or without its own, is a mix-up.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

import psutil
from screenshots import served
from serving import cpu_s

SENTENCES = (
    "I want to plant flowers, so I dug the ground. {name}",
    "I want to build a house, so I dug the ground. {name}",
)
QUESTION = "What did I dig with?"
FILLER = " The sun was warm and the street was quiet, and nobody had much to say about the long week."
NAME = re.compile(r"visitor\d+x")


def visit(port: int, number: int, words: int = 0) -> tuple[float, str]:
    """One session with one question: seconds until the page was complete, and the answer that it showed."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from websockets.sync.client import connect

    name = f"visitor{number}x"
    passage = SENTENCES[number % 2].format(name=name)
    passage += FILLER * max(0, (words - len(passage.split())) // len(FILLER.split()))
    message = BackMsg()
    message.rerun_script.query_string = urlencode({"q": QUESTION, "p": passage})
    shown: list[str] = []
    begin = time.perf_counter()
    url = f"ws://127.0.0.1:{port}/_stcore/stream"
    # no pings: on a busy machine a late answer to one would end the session
    options: dict[str, Any] = {"max_size": None, "proxy": None, "open_timeout": 120, "ping_interval": None}
    with connect(url, subprotocols=["streamlit"], **options) as socket_:  # type: ignore[list-item]
        socket_.send(message.SerializeToString())
        while True:
            output = ForwardMsg()
            output.ParseFromString(socket_.recv(timeout=120))
            kind = output.WhichOneof("type")
            if kind == "delta" and output.delta.new_element.WhichOneof("type") == "html":
                shown.append(output.delta.new_element.html.body)
            if kind == "delta" and output.delta.new_element.WhichOneof("type") in {"exception", "alert"}:
                raise RuntimeError(f"{name} was shown {output.delta.new_element}")
            if kind == "script_finished":
                break
    spent = time.perf_counter() - begin
    page = "".join(shown)
    if set(NAME.findall(page)) != {name}:
        raise RuntimeError(f"{name} was shown {sorted(set(NAME.findall(page)))}")
    answer = re.search(r'role="status".*?line-height:1\.2[^>]*>([^<]*)<', page)
    if answer is None:
        raise RuntimeError(f"{name} was shown no answer")
    return spent, answer.group(1)


def main() -> None:
    """Print times, mix-ups (an error ends the run) and the server's memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--questions", type=int, default=1000)
    given = parser.parse_args()
    with served() as address:
        port, memory = int(address.rpartition(":")[2]), psutil.Process().children()[0]
        print(f"load average {psutil.getloadavg()[0]:.1f}, {psutil.cpu_count()} cores")
        first, answer = visit(port, 0)
        print(f"first page with its answer: {first:.2f} s ({answer})")
        for words in (0, 200):
            alone = [visit(port, n, words)[0] for n in range(1, 11)]
            print(
                f"alone, {words or 13} words: median {statistics.median(alone):.2f} s, most {max(alone):.2f} s"
            )
        print(f"memory {memory.memory_info().rss / 1e6:.0f} MB")
        before = cpu_s(memory.pid)
        answers: dict[int, set[str]] = {0: set(), 1: set()}
        done, begin = 0, time.perf_counter()
        with ThreadPoolExecutor(given.visitors) as visitors:
            while done < given.questions:
                count = min(100, given.questions - done)
                found = list(visitors.map(lambda n: visit(port, n), range(done, done + count)))
                for number, (_, answer) in enumerate(found, start=done):
                    answers[number % 2].add(answer)
                done += count
                times = sorted(seconds for seconds, _ in found)
                print(
                    f"{done} questions, {given.visitors} at a time: median {statistics.median(times):.2f} s, "
                    f"most {times[-1]:.2f} s, {done / (time.perf_counter() - begin):.1f} a second, "
                    f"memory {memory.memory_info().rss / 1e6:.0f} MB",
                    flush=True,
                )
        spent = (cpu_s(memory.pid) - before) / max(given.questions, 1)
        print(f"{spent:.2f} CPU seconds of the server a question (a new session, a page, an answer)")
        print(f"no error, no mix-up; answers: flowers {sorted(answers[0])}, house {sorted(answers[1])}")


if __name__ == "__main__":
    main()

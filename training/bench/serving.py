"""The service under load, beside a plain extractive reader of its encoder: answers a second, and the wait for each.

    python training/bench/serving.py [--callers 1 10 50 100] [--questions 200] [--processes 1] [--pause 5]
    python training/bench/serving.py --memory 2500

A line of JSON for each load, for `training/results.py`, tells answers a second, the wait for one (median, 95 of 100)
and for a refusal (`no95`), processor seconds, and how large the service has grown in MB. `--memory N` asks N questions,
no two of them over the same passage, and tells nothing else than its MB after each fifth of them.

Callers ask over HTTP on this machine, each the next question as soon as it has the answer to the last, of the everyday
development questions, whose passages are told apart by a number. A hundred callers who never pause and wait at most 2
s would be 50 questions a second; so a load is added of as many who read each answer for some seconds, as people and
agents do, and come at different times. Who is told to come again does, when they are told to, and asks the same: such
are counted as refused, and their wait is their own. An answer with another's id or question is mixed up; a request
without an answer, or refused without saying when to come again, is lost.

The plain reader is Hugging Face's: `AutoModelForQuestionAnswering` over the encoder of the served reader, the same
questions with their passages, in batches of 16, no HTTP and no graph. Beside the times on the clock stand processor
seconds, which say what a free machine would do where this one is shared.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import psutil

from kgqa.models.pretrained import load_config, load_pretrained

DEV = Path(__file__).parents[1] / "data" / "everyday" / "development" / "everyday_dev.jsonl"
Asked = dict[str, object]
NUMBERS = count(1)


def questions() -> list[Asked]:
    """The development questions as the service takes them."""
    rows = map(json.loads, DEV.read_text(encoding="utf-8").splitlines())
    return [{name: row[name] for name in ("question", "passage", "choices") if row.get(name)} for row in rows]


def cpu_s(pid: int) -> float:
    """Processor seconds of a process and its children."""
    here = psutil.Process(pid)
    times = [process.cpu_times() for process in (here, *here.children(recursive=True))]
    return float(sum(one.user + one.system for one in times))


class Service:
    """`kgqa serve` on a free port of this machine, ready."""

    def __init__(self, model: str, processes: int, threads: int) -> None:
        command = [sys.executable, "-m", "kgqa", "serve", "--port", "0", "--model", model]
        threads_ = {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
        self.process = subprocess.Popen(
            [*command, "--processes", str(processes)],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **threads_},
        )
        assert self.process.stderr is not None
        output = self.process.stderr.readline()
        found = re.search(r"http://[\w.:]+", output)
        if found is None:
            sys.exit(f"the service did not start: {output}")
        self.url = found.group()
        threading.Thread(target=self.process.stderr.read, daemon=True).start()  # its log
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/ready", timeout=10):
                    return
            except OSError:
                if self.process.poll() is not None:
                    sys.exit("the service ended")
                time.sleep(0.5)

    def close(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.wait()


def post(url: str, body: Asked) -> tuple[int, Asked, float]:
    """Status, answer and, of a refusal that says so, the seconds after which to come again."""
    asked = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(asked, timeout=600) as response:
            return response.status, json.load(response), 0.0
    except urllib.error.HTTPError as error:
        return error.code, {}, float(error.headers.get("Retry-After", 0))
    except OSError:
        return 0, {}, 0.0


def load(service: Service, path: str, callers: int, asked: list[Asked], pause_s: float = 0) -> dict[str, Any]:
    """What is told of a load: so many callers at a time, until every question has been asked once.

    Between two questions a caller waits `pause_s`, half of it more or less.
    """
    draw = random.Random(0)
    numbers, wrong = count(), Counter[str]()
    spent: list[float] = []
    refused: list[float] = []
    lock = threading.Lock()

    def call() -> None:
        time.sleep(draw.uniform(0, pause_s))
        while (number := next(numbers)) < len(asked):
            apart = f"{asked[number].get('passage', '')} This is number {next(NUMBERS)}."
            body = {**asked[number], "passage": apart, "id": f"asked {number}"}
            while True:
                begin = time.perf_counter()
                status, found, again_s = post(service.url + path, body)
                if not again_s:
                    break
                refused.append(time.perf_counter() - begin)
                time.sleep(again_s)
            if status != 200:
                wrong["lost"] += 1
                continue
            with lock:
                spent.append(time.perf_counter() - begin)
                mixed = found["id"] != body["id"] or found["question"] != body["question"]
                wrong["mixed"] += mixed
            time.sleep(draw.uniform(0.5, 1.5) * pause_s)

    before, begin = cpu_s(service.process.pid), time.perf_counter()
    threads = [threading.Thread(target=call) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begin
    cpu = cpu_s(service.process.pid) - before
    who = f"{callers} caller{'s' * (callers > 1)}" + (f" who pause {pause_s:g} s" if pause_s else "")
    return {
        "of": f"{'service' if path == '/v1/answer' else path}, {who}",
        **_figures(spent, seconds, cpu),
        "refused": len(refused),
        "no95": round(_most(refused), 2) if refused else 0.0,
        **{kind: wrong[kind] for kind in ("lost", "mixed")},
        "mb": round(psutil.Process(service.process.pid).memory_info().rss / 1e6),
    }


def _most(spent: list[float]) -> float:
    """What 95 of 100 stay below."""
    return sorted(spent)[min(len(spent) - 1, int(0.95 * len(spent)))]


def _figures(spent: list[float], seconds: float, cpu: float) -> dict[str, float]:
    spent = spent or [float("nan")]
    figures = {
        "rate": len(spent) / seconds,
        "p50": statistics.median(spent),
        "p95": _most(spent),
        "cpu_ms": 1000 * cpu / len(spent),
        "cpu_rate": len(spent) / cpu,
    }
    return {name: round(value, 2) for name, value in figures.items()}


def plain_reader(folder: Path, asked: list[Asked], batch: int = 16) -> dict[str, Any]:
    """What is told of Hugging Face's extractive reader over the same encoder (its head has random weights)."""
    import torch
    from transformers import AutoModel, AutoModelForQuestionAnswering, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    model = AutoModelForQuestionAnswering.from_config(load_config(folder)).float().eval()
    model.base_model.load_state_dict(load_pretrained(AutoModel, folder).state_dict(), strict=False)
    spent = []
    before, begin = time.process_time(), time.perf_counter()
    for at in range(0, len(asked), batch):
        began = time.perf_counter()
        texts = [(str(row["question"]), str(row.get("passage", ""))) for row in asked[at : at + batch]]
        tokens = tokenizer(
            *map(list, zip(*texts, strict=True)), padding=True, truncation=True, return_tensors="pt"
        )
        with torch.inference_mode():
            scores = model(**tokens)
        scores.start_logits.argmax(-1), scores.end_logits.argmax(-1)
        spent += [time.perf_counter() - began] * len(texts)
    cpu, seconds = time.process_time() - before, time.perf_counter() - begin
    return {"of": "plain extractive reader, 16 together", **_figures(spent, seconds, cpu)}


def main() -> None:
    """Measure, and print a line for each load."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--callers", type=int, nargs="+", default=[1, 10, 50, 100])
    options.add_argument("--questions", type=int, default=200, help="of each load")
    options.add_argument("--model", default="kgqa-base")
    options.add_argument("--processes", type=int, default=1)
    options.add_argument(
        "--pause", type=float, default=5.0, help="seconds that each of the last load reads an answer"
    )
    options.add_argument("--threads", type=int, default=1, help="of each process")
    options.add_argument("--memory", type=int, metavar="N", help="ask N questions, and tell the memory alone")
    chosen = options.parse_args()
    import torch

    from kgqa.settings import find_model

    torch.set_num_threads(chosen.threads)
    by = {1: "one process", 2: "two processes"}.get(chosen.processes, f"{chosen.processes} processes")

    def tell(info: dict[str, Any]) -> None:
        print(json.dumps(info | {"by": by}), flush=True)

    there = questions()
    asked = [there[7 * n % len(there)] for n in range(chosen.questions)]
    service = Service(chosen.model, chosen.processes, chosen.threads)
    try:
        load(service, "/v1/answer", 4, asked[:16])  # warm
        if chosen.memory:
            part = [there[7 * n % len(there)] for n in range(max(1, chosen.memory // 5))]
            grown = {f"mb{at}": load(service, "/v1/answer", 4, part)["mb"] for at in range(1, 6)}
            tell({"of": "service, memory", "questions": chosen.memory, **grown})
            return
        for callers in chosen.callers:
            tell(load(service, "/v1/answer", callers, asked))
        if chosen.pause:
            most = max(chosen.callers)
            again = [there[(7 * n + 3) % len(there)] for n in range(2 * chosen.questions)]
            tell(load(service, "/v1/answer", most, again, chosen.pause))
        tell(load(service, "/v1/explain", 4, asked[: max(1, chosen.questions // 4)]))
    finally:
        service.close()
    tell(plain_reader(find_model(chosen.model), asked))


if __name__ == "__main__":
    main()

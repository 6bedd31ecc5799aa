"""Small runs of `training/bench/reliability.py` and `endurance.py`: what is broken ends in one clear line.

Both fork: each runs as the command it is, since a fork of a process with threads, as this one has, may never come back.
"""

import importlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

BENCH = Path(__file__).parents[2] / "training" / "bench"


def run(name: str, *options: str) -> list[dict[str, object]]:
    """The lines of JSON that a benchmark prints; it fails where it finds a fault."""
    command = [sys.executable, str(BENCH / name), *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=540)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]


def test_what_is_broken_is_read_or_refused_in_one_line() -> None:
    pytest.importorskip("streamlit", reason="what strangers send comes through the app")
    (reported,) = run("reliability.py", "--inputs", "5", "--json")
    assert reported == {"tried": 23 * 5, "tracebacks": 0, "hangs": 0, "crashes": 0, "unclear": 0}


def test_what_is_killed_or_meets_a_full_disk_leaves_nothing_half() -> None:
    killed, full, called = run("endurance.py", "--kills", "3", "--callers", "3", "--seconds", "1")
    assert (killed["tried"], full["tried"], called["tried"]) >= (8, 24, 1)
    assert killed["lost"] == full["lost"] == called["lost"] == called["mixed"] == 0


def bad(draw: Random, folder: Path) -> None:
    raise KeyError("somewhere")


def deadly(draw: Random, folder: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def waiting(draw: Random, folder: Path) -> None:
    os.read(os.pipe()[0], 1)


def count_faults(name: str) -> dict[str, int]:
    reliability = importlib.import_module("reliability")
    if name == "waiting":
        reliability.CHILD_S = 1
    count = Counter[str]()
    faults = reliability.try_all(name, globals()[name], range(2), count)
    return {**count, "faults": len(faults)}


def test_a_broken_reader_counts_as_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for name, kind in (("bad", "traceback"), ("deadly", "crash"), ("waiting", "hang")):
            reported = pool.apply_async(count_faults, (name,)).get(timeout=120)
            assert reported[kind] == reported["faults"] == 2

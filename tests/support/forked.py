"""Children of tests that run code over torch, forked from a process that has imported it: seconds of work less each."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

AHEAD = ["accelerate", "kgqa.trainer.loop", "pytest", "safetensors.torch", "torch._dynamo", "rich.progress"]
"""The last two are what torch and the loop import at a first step: two seconds of work."""
FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(AHEAD)
BEFORE = "import os, sys\nos.dup2(errors.fileno(), 2)\nos.environ.update(environment)\n"


class Child:
    """Runs code, with the values that it is given by name, in a process of its own."""

    def __init__(self, code: str, environment: dict[str, str] | None = None, **values: object) -> None:
        self.read, write = FORKING.Pipe(duplex=False)
        given = {"errors": write, "environment": environment or {}, **values}
        self.process: BaseProcess = FORKING.Process(target=exec, args=(BEFORE + code, given))
        self.process.start()
        write.close()

    def end(self, timeout_s: float = 240) -> tuple[int | None, str]:
        """Its exit code, and what it printed as errors."""
        errors = _all_of(self.read)
        self.process.join(timeout_s)
        return self.process.exitcode, errors


def _all_of(pipe: Connection) -> str:
    with open(pipe.fileno(), encoding="utf-8", errors="replace", closefd=False) as text:
        return text.read()

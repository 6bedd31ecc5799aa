"""Importing what strangers send: in a process of its own, with limits of memory and time.

Parsers written in other languages may exhaust stack or memory, which ends the whole process and with it everyone
else's questions. Here it ends a child, and the file is refused in one sentence.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgqa.assets import PYTHON_PATH
from kgqa.types import InputError

MEMORY_BYTES = 4 << 30
"""Address space of the child; 50 MB of Turtle take under one GB."""
TIME_S = 120.0


def import_confined(
    sources: Sequence[Path],
    folder: Path,
    name: str = "",
    *,
    memory_bytes: int = MEMORY_BYTES,
    time_s: float = TIME_S,
) -> dict[str, Any]:
    """As `import_graph`, for files that nobody vouches for; returns the manifest.

    Raises:
        InputError: a file cannot be read, or not within the limits; the message names the last of `sources`.
    """
    asked = {
        "sources": [str(path) for path in sources],
        "folder": str(folder),
        "name": name,
        "memory_bytes": memory_bytes,
        "time_s": time_s,
    }
    paths = os.pathsep.join(filter(None, [str(PYTHON_PATH), os.environ.get("PYTHONPATH", "")]))
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__],
            input=json.dumps(asked).encode(),
            capture_output=True,
            timeout=time_s,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"{sources[-1]}: not read within {time_s:g} s; give a smaller file") from None
    try:
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        raise InputError(f"{sources[-1]}: exhausts its reader; give a smaller or less nested file") from None
    if "error" in told:
        raise InputError(told["error"])
    manifest: dict[str, Any] = told["manifest"]
    return manifest


def _limit(memory_bytes: int, time_s: float) -> None:
    """From now on this process may use so much, and no more."""
    try:
        import resource
    except ImportError:  # a system without such limits; the time is still kept from outside
        return
    seconds = int(time_s) + 1
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _child() -> None:
    """What the child does: the question on standard input, the answer as the last line of standard output."""
    asked = json.loads(sys.stdin.read())
    _limit(asked["memory_bytes"], asked["time_s"])
    from kgqa.graph.storage.importing import import_graph

    try:
        told: dict[str, Any] = {
            "manifest": import_graph(asked["sources"], asked["folder"], name=asked["name"])
        }
    except InputError as error:
        told = {"error": str(error)}
    except MemoryError:
        told = {
            "error": f"{asked['sources'][-1]}: takes more memory than is given to it; give a smaller file"
        }
    print(json.dumps(told))


if __name__ == "__main__":
    _child()

"""Sandbox for untrusted input: a subprocess with limits of memory and time.

Native parsers may exhaust stack or memory, which would end the whole process and all its requests. Here it ends a
subprocess, and the file or query is refused with one line.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from typing import Any

from kgqa.types import InputError

_TIDY_S = 10.0
"""Grace period for a stopped subprocess to clean up."""
_TAKEN = {-getattr(signal, name) for name in ("SIGKILL", "SIGXCPU") if hasattr(signal, name)}
"""Signals that end a subprocess that takes too long; not on Windows."""
_READING = threading.BoundedSemaphore(2)
"""Maximum number of files parsed at a time, to bound the load."""


@dataclass(frozen=True)
class SandboxLimits:
    """Resource limits of the subprocess; 0 is unlimited."""

    memory_bytes: int = 4 << 30
    """Address space; 50 MB of Turtle take under one GB."""
    time_s: float = 120.0


def run_sandboxed(
    task: str,
    subject: str,
    sandbox_limits: SandboxLimits = SandboxLimits(),
    content: bytes | None = None,
    report: Callable[..., None] | None = None,
    **asked: Any,
) -> Any:
    """Call the function `task` ("module:name" of this project) with `asked` in a subprocess and return its result.

    Arguments and result are sent as JSON; `content`, if given, is the function's first parameter. What the function
    passes to its parameter `report` is passed on to `report` here. `subject` is named in error messages.
    """
    reply: dict[str, Any] = {}
    with (
        _turn(subject, sandbox_limits),
        start(task, sandbox_limits, content, reports=report is not None, **asked) as child,
    ):
        late = threading.Timer(sandbox_limits.time_s or threading.TIMEOUT_MAX, child.kill)
        late.start()
        try:
            for line in child.stdout or ():
                reply = _read(line)
                if report is not None and "report" in reply:
                    report(*reply["report"])
            status = child.wait()
        except BaseException:
            stop(child)
            raise
        finally:
            late.cancel()
    if "error" in reply:
        raise InputError(reply["error"])
    if "fault" in reply:
        raise RuntimeError(f"{subject}: {reply['fault']}")
    if "result" not in reply:
        taken = sandbox_limits.time_s and status in _TAKEN
        why = f"not read within {sandbox_limits.time_s:g} s" if taken else "exhausts its reader"
        raise InputError(f"{subject}: {why}; give a smaller or less nested file")
    return reply["result"]


@contextmanager
def _turn(subject: str, sandbox_limits: SandboxLimits) -> Iterator[None]:
    if not _READING.acquire(timeout=sandbox_limits.time_s or None):
        raise InputError(f"{subject}: too many files are read at the moment; send it again in a minute")
    try:
        yield
    finally:
        _READING.release()


def start(
    task: str,
    sandbox_limits: SandboxLimits,
    content: bytes | None = None,
    reports: bool = False,
    talks: bool = False,
    **asked: Any,
) -> subprocess.Popen[bytes]:
    """Start a subprocess for the task; it ends when its standard input is closed, as when this process ends.

    A task that `talks` reads its further requests from standard input itself.
    """
    child = subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        },
    )
    size = None if content is None else len(content)
    header = {"task": task, "asked": asked, "size": size, "reports": reports, "talks": talks} | asdict(
        sandbox_limits
    )
    assert child.stdin is not None
    with suppress(BrokenPipeError):  # it has died already: whoever reads its output notices
        child.stdin.write(json.dumps(header).encode() + b"\n" + (content or b""))
        child.stdin.flush()
    return child


def stop(child: subprocess.Popen[bytes]) -> None:
    """Stop a subprocess, which cleans up first."""
    child.terminate()
    try:
        child.wait(_TIDY_S)
    except subprocess.TimeoutExpired:
        child.kill()


def send_line(**reply: Any) -> None:
    """In the subprocess: send a line to the parent."""
    print(json.dumps(reply), flush=True)


def limit(memory_bytes: int, time_s: float) -> None:
    """Set limits for this process; existing limits are never raised."""
    try:
        import resource
    except ImportError:  # Windows has no such limits; the parent still enforces the time
        return
    if memory_bytes:
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        memory_bytes = memory_bytes if most == resource.RLIM_INFINITY else min(memory_bytes, most)
        # macOS may refuse any limit
        with suppress(ValueError) if sys.platform == "darwin" else nullcontext():
            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    if time_s:
        seconds = int(time_s) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read(line: bytes) -> dict[str, Any]:
    try:
        reply: dict[str, Any] = json.loads(line)
        return reply
    except ValueError:  # it died in the middle of a line
        return {}


def _end_with_parent() -> None:
    while os.read(0, 4096):  # a thread that waits in sys.stdin holds up the end of the process for a second
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _child() -> None:
    """Main function of the subprocess: the task from standard input, its result as the last line of standard output."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # unwinds as Ctrl-C does
    header = json.loads(sys.stdin.buffer.readline())
    content = [] if header["size"] is None else [sys.stdin.buffer.read(header["size"])]
    if not header["talks"]:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    module, _, name = header["task"].partition(":")
    asked = header["asked"] | (
        {"report": lambda *message: send_line(report=message)} if header["reports"] else {}
    )
    is_limited = False
    try:
        work = getattr(importlib.import_module(module), name)
        is_limited = header["memory_bytes"] > 0
        limit(header["memory_bytes"], header["time_s"])
        reply = {"result": work(*content, **asked)}
    except InputError as error:
        reply = {"error": str(error)}
    except MemoryError:
        reply = {}
    except OSError as error:
        message = f"{error.filename or 'the system'}: {error.strerror or error}"
        reply = {"error": f"{message}; check the path and the room on the disk"}
    except KeyboardInterrupt:
        return
    except Exception as error:
        # out of memory, a late import (mapping or compiling a module) fails with one of these
        is_short = is_limited and isinstance(error, ImportError | SyntaxError)
        reply = {} if is_short else {"fault": f"{type(error).__name__}: {error}"}
    send_line(**reply)


if __name__ == "__main__":
    _child()

"""What strangers send is read in a process of its own, with limits of memory and time.

Parsers written in other languages may exhaust stack or memory, which ends the whole process and with it everyone
else's questions. Here it ends a child, and the file or query is refused in one sentence.
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
"""For a child that is stopped to leave nothing half-written."""
_TAKEN = {-getattr(signal, name) for name in ("SIGKILL", "SIGXCPU") if hasattr(signal, name)}
"""How a child ends that takes too long; Windows has no such signals."""
_READING = threading.BoundedSemaphore(2)
"""Files that are read at a time, so that many who send some take no more of the machine than two."""


@dataclass(frozen=True)
class Confines:
    """What a child may use; 0 sets no limit."""

    memory_bytes: int = 4 << 30
    """Address space; 50 MB of Turtle take under one GB."""
    time_s: float = 120.0


def confined(
    task: str,
    subject: str,
    confines: Confines = Confines(),
    content: bytes | None = None,
    report: Callable[..., None] | None = None,
    **asked: Any,
) -> Any:
    """What the function `task` ("module:name" of our own) returns for `asked`, run in a child.

    What is asked and returned is JSON; the function takes `content`, where there is any, as its first parameter, and
    what it tells its parameter `report` is told to the one here. `subject` is what refusals name.

    Raises:
        InputError: the function raises one, or takes more than it may, or too many files are read.
    """
    told: dict[str, Any] = {}
    with (
        _turn(subject, confines),
        start(task, confines, content, reports=report is not None, **asked) as child,
    ):
        late = threading.Timer(confines.time_s or threading.TIMEOUT_MAX, child.kill)
        late.start()
        try:
            for line in child.stdout or ():
                told = _read(line)
                if report is not None and "report" in told:
                    report(*told["report"])
            status = child.wait()
        except BaseException:
            stop(child)
            raise
        finally:
            late.cancel()
    if "error" in told:
        raise InputError(told["error"])
    if "fault" in told:
        raise RuntimeError(f"{subject}: {told['fault']}")
    if "result" not in told:
        taken = confines.time_s and status in _TAKEN
        why = f"not read within {confines.time_s:g} s" if taken else "exhausts its reader"
        raise InputError(f"{subject}: {why}; give a smaller or less nested file")
    return told["result"]


@contextmanager
def _turn(subject: str, confines: Confines) -> Iterator[None]:
    if not _READING.acquire(timeout=confines.time_s or None):
        raise InputError(f"{subject}: too many files are read at the moment; send it again in a minute")
    try:
        yield
    finally:
        _READING.release()


def start(
    task: str,
    confines: Confines,
    content: bytes | None = None,
    reports: bool = False,
    talks: bool = False,
    **asked: Any,
) -> subprocess.Popen[bytes]:
    """A child that does the task; it ends when its standard input does, as it does with this process.

    A task that `talks` reads what more it is asked from there itself.
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
        confines
    )
    assert child.stdin is not None
    with suppress(BrokenPipeError):  # it has died already, which its reader notices
        child.stdin.write(json.dumps(header).encode() + b"\n" + (content or b""))
        child.stdin.flush()
    return child


def stop(child: subprocess.Popen[bytes]) -> None:
    """End a child, which tidies up first."""
    child.terminate()
    try:
        child.wait(_TIDY_S)
    except subprocess.TimeoutExpired:
        child.kill()


def tell(**told: Any) -> None:
    """In a child: a line to whoever started it."""
    print(json.dumps(told), flush=True)


def limit(memory_bytes: int, time_s: float) -> None:
    """From now on this process may use so much, and no more; a limit that it has already is never raised."""
    try:
        import resource
    except ImportError:  # a system without such limits; the time is still kept from outside
        return
    if memory_bytes:
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        memory_bytes = memory_bytes if most == resource.RLIM_INFINITY else min(memory_bytes, most)
        with suppress(ValueError) if sys.platform == "darwin" else nullcontext():  # which may refuse any
            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    if time_s:
        seconds = int(time_s) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read(line: bytes) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads(line)
        return told
    except ValueError:  # it died in the middle
        return {}


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


def _child() -> None:
    """What the child does: the task from standard input, what comes of it as the last line of standard output."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # unwinds as Ctrl-C does
    header = json.loads(sys.stdin.buffer.readline())
    content = [] if header["size"] is None else [sys.stdin.buffer.read(header["size"])]
    if not header["talks"]:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    limit(header["memory_bytes"], header["time_s"])
    module, _, name = header["task"].partition(":")
    asked = header["asked"] | ({"report": lambda *said: tell(report=said)} if header["reports"] else {})
    try:
        work = getattr(importlib.import_module(module), name)
        told = {"result": work(*content, **asked)}
    except InputError as error:
        told = {"error": str(error)}
    except MemoryError:
        told = {}
    except OSError as error:
        said = f"{error.filename or 'the system'}: {error.strerror or error}"
        told = {"error": f"{said}; check the path and the room on the disk"}
    except KeyboardInterrupt:
        return
    except Exception as error:
        told = {"fault": f"{type(error).__name__}: {error}"}
    tell(**told)


if __name__ == "__main__":
    _child()

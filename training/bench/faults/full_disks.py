"""Import, predict and train meet a full disk: do they end in one line, and leave what was there whole?"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from faults.kills import trained, training
from reliability import SyntheticGraph, in_child

from kgqa.types import InputError


def ending(attempt: Callable[[], object], before: Callable[[], None] = lambda: None) -> str:
    """How something ended in a child: `done`, `refused`, or what went wrong."""

    def info(pipe: int) -> None:
        before()
        try:
            attempt()
            os.write(pipe, b"done")
        except (InputError, OSError) as error:  # the command says an OSError in one line
            os.write(pipe, f"refused {error}".encode())
        except BaseException as error:
            os.write(pipe, f"traceback {type(error).__name__} {error}".encode())

    return in_child(info)[1] or "died"


def is_fault(ended: str) -> bool:
    """Whether something ended neither well nor in one line."""
    return ended.split()[0] not in ("done", "refused")


def are_answered(path: Path, count: int) -> bool:
    """Whether a file has the answers to so many questions, in order."""
    found = [json.loads(line)["id"] for line in path.read_text(encoding="utf-8").splitlines()]
    return found == [str(n) for n in range(count)]


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[bool]:
    """A disk of that size at `folder`; False where mounting is not allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    with suppress(FileNotFoundError):
        if not subprocess.run(mount, capture_output=True).returncode:
            try:
                yield True
            finally:
                subprocess.run(["umount", "--lazy", str(folder)], check=True)
            return
    yield False


def leave_room(disk: Path, room: int) -> Path:
    """Fill a disk up to `room` bytes, with a file that is returned."""
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, shutil.disk_usage(disk).free - room))
    return ballast


def fill_small_disk(world: SyntheticGraph) -> tuple[int, list[str]]:
    """An import, a prediction and a training on a full disk end in one line; what was there before is whole, and what
    was begun goes on to what an unbroken run writes."""
    from kgqa.graph.storage.import_graph import import_graph
    from kgqa.graph.storage.store import GraphStore

    tried, faults = 0, list[str]()
    disk, train, whole = world.folder / "disk", training(world), world.folder / "whole"
    with small_disk(disk, "48m") as mounted:
        if not mounted:
            print("small disk: left out, mounting is not allowed here", flush=True)
            return 0, []
        import_graph([world.graph], disk / "store")
        facts = GraphStore.open(disk / "store").edge_count
        answers = disk / "answers.jsonl"
        tries: dict[str, Callable[[], object]] = {
            "import": partial(import_graph, [world.graph], disk / "store"),
            "predict": partial(world.prediction(24), answers),
            "train": partial(train, disk / "trained"),
        }
        for name, attempt in tries.items():
            endings: Counter[str] = Counter()
            for room in (0, 5_000, 20_000, 100_000, 1_000_000, 5_000_000, 12_000_000, 20_000_000):
                ballast = leave_room(disk, room)
                output = ending(attempt)
                ballast.unlink()
                endings[output.split()[0]] += 1
                tried += 1
                if is_fault(output):
                    faults.append(f"full disk, {name}, {room} bytes: {output[:200]}")
            if GraphStore.open(disk / "store").edge_count != facts:
                faults.append("full disk: the old store is not whole")
            print(f"full disk, {name}: {dict(endings)}", flush=True)
            if (output := ending(attempt)) != "done":
                faults.append(f"{name} does not go on after a full disk: {output[:200]}")
        if not are_answered(answers, 24):
            faults.append("full disk: a prediction that met one does not go on")
        if not whole.exists():
            train(whole)
        if trained(disk / "trained") != trained(whole):
            faults.append("full disk: a training that met one ends with other weights")
        left = [path.name for path in disk.rglob("*") if path.name.endswith((".part", ".old"))]
        faults += [f"full disk: {name} is left" for name in left]
    return tried, faults


def fill_disk(world: SyntheticGraph) -> tuple[int, list[str]]:
    """An import and a prediction that meet a full disk end in one line, and leave what was there before whole.

    What may be written to a file is limited instead of the disk: the system refuses either in the middle of a write.
    """
    import resource

    from kgqa.graph.storage.import_graph import import_graph
    from kgqa.graph.storage.store import GraphStore

    tried, faults = 0, list[str]()
    store, answers = world.folder / "full", world.folder / "full.jsonl"
    import_graph([world.graph], store)
    facts = GraphStore.open(store).edge_count
    tries: dict[str, Callable[[], object]] = {
        "import": partial(import_graph, [world.graph], store),
        "predict": partial(world.prediction(24), answers),
    }
    for name, attempt in tries.items():
        for room in (0, 100, 1_000, 3_000):

            def limit(room: int = room) -> None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

            output = ending(attempt, limit)
            tried += 1
            if is_fault(output):
                faults.append(f"full disk, {name}, {room} bytes: {output[:200]}")
        if name == "import" and GraphStore.open(store).edge_count != facts:
            faults.append("full disk: the old store is not whole")
    tries["predict"]()
    if not are_answered(answers, 24):
        faults.append("full disk: a prediction that met one does not go on")
    return tried, faults

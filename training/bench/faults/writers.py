"""Several commands write one place at a time, or one that is read-only: is anything mixed, lost or left?"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from faults.full_disks import are_answered, ending, is_fault
from reliability import SyntheticGraph

NOBODY = 65534
"""The user that root becomes, who may write everywhere, to meet a folder that is read-only."""


def at_once(works: list[Callable[[], object]]) -> list[str]:
    """How each of several works ended that began together, each in a child: `done`, or why not."""
    pipes, children = [], []
    for work in works:
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.close(read)
            with suppress(BaseException):
                os.write(write, ending(work).encode())
            os._exit(0)
        os.close(write)
        pipes.append(read)
        children.append(child)
    info = []
    for read, child in zip(pipes, children, strict=True):
        with os.fdopen(read, "rb") as pipe:
            info.append(pipe.read().decode("utf-8", "replace") or "died")
        os.waitpid(child, 0)
    return info


def write_at_once(world: SyntheticGraph, times: int, draw: random.Random) -> tuple[int, list[str]]:
    """Two to four predictions into one file, exports into one file, and readings of one graph into a cold cache."""
    from kgqa.graph.formats import export_store
    from kgqa.graph.load import open_graph
    from kgqa.graph.storage.store import GraphStore

    predict, store, faults = world.prediction(8), GraphStore.open(world.store), list[str]()
    export_store(store, world.folder / "whole.ttl")
    exported, facts = (world.folder / "whole.ttl").read_bytes(), store.edge_count
    for number in range(times):
        folder = world.folder / f"together{number}"
        folder.mkdir()
        target = folder / "out"
        graph = folder / "graph.ttl"
        graph.write_bytes(world.graphs[".ttl"] + b"\n# %d" % number)  # not in the cache yet
        kind, works = draw.choice(
            [
                ("predict", partial(predict, target)),
                ("export", partial(export_store, store, target, "turtle")),
                ("cache", partial(open_graph, graph)),
            ]
        )
        endings = at_once([works] * draw.randrange(2, 5))
        faults += [f"{kind} at once: {output[:200]}" for output in endings if is_fault(output)]
        if "done" not in endings:
            faults.append(f"{kind} at once: none came to an end: {endings}")
        elif kind == "predict":
            faults += [] if are_answered(target, 8) else ["predict at once: other answers"]
        elif kind == "export" and target.read_bytes() != exported:
            faults.append("export at once: the file is not whole")
        elif kind == "cache" and open_graph(graph).edge_count != facts:  # type: ignore[attr-defined]
            faults.append("cache at once: other facts")
        left = [path.name for path in folder.iterdir() if path.name.endswith(".part")]
        faults += [f"{kind} at once: {name} is left" for name in left]
    return times, faults


def write_read_only(world: SyntheticGraph, times: int, draw: random.Random) -> tuple[int, list[str]]:
    """Predict, export, import and train into a folder that is read-only end in one line, and leave it as it was."""
    from faults.kills import training

    from kgqa.graph.formats import export_store
    from kgqa.graph.storage.import_graph import import_graph
    from kgqa.graph.storage.store import GraphStore

    world.folder.chmod(0o755)
    folder, faults = world.folder / "read_only", list[str]()
    folder.mkdir()
    (folder / "kept").write_text("mine", encoding="utf-8")
    folder.chmod(0o555)
    predict, store, train = world.prediction(1), GraphStore.open(world.store), training(world)

    def tries(where: Path) -> list[Callable[[], object]]:
        return [
            lambda: predict(where / "out.jsonl"),
            lambda: predict(where / "kept", overwrite=True),
            lambda: export_store(store, where / "out.ttl"),
            lambda: import_graph([world.graph], where / "store"),
            lambda: train(where / "run"),
        ]

    writable = world.folder / "writable"
    writable.mkdir()
    for work in tries(writable):  # nobody may be barred from Python's own folder, so all is imported before
        work()

    def nobody() -> None:
        if not os.getuid():
            os.setuid(NOBODY)

    for number in range(times):
        output = ending(tries(folder)[number % 5], nobody)
        if output.split()[0] != "refused" or "\n" in output:
            faults.append(f"read-only folder, {number % 5}: {output[:200]}")
        if [(path.name, path.read_text()) for path in folder.iterdir()] != [("kept", "mine")]:
            faults.append(f"read-only folder, {number % 5}: it is not as it was")
    return times, faults

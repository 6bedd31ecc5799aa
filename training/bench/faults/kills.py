"""Import, predict and train are killed with SIGKILL at a random moment: is nothing left half, and does it go on?"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from reliability import ROOT, SyntheticGraph, fork, in_child

from kgqa.types import InputError

QUESTIONS = ROOT / "training" / "data" / "everyday" / "train" / "digging.jsonl"
"""What the tiny reader is trained on."""


def killed(work: Callable[[], object], after_s: float) -> bool:
    """Run in a child and kill it after some seconds; whether it had not ended by itself."""
    child = fork(work)
    time.sleep(after_s)
    os.kill(child, signal.SIGKILL)
    return bool(os.WIFSIGNALED(os.waitpid(child, 0)[1]))


def kill_imports(world: SyntheticGraph, times: int, draw: random.Random) -> tuple[int, list[str]]:
    """Kills of an import over an older store: the old one or the new one is there, whole."""
    from kgqa.graph.storage.import_graph import import_graph
    from kgqa.graph.storage.store import GraphStore

    folder, faults, kills = world.folder / "killed", [], 0
    lines = world.graphs[".nt"]
    source = world.folder / "larger.nt"
    source.write_bytes(b"".join(lines.replace(b"<http://", b"<http://n%d." % n) for n in range(60)))
    import_graph([source], folder)
    begin = time.perf_counter()
    import_graph([source], folder)
    whole_s, facts = time.perf_counter() - begin, GraphStore.open(folder).edge_count
    while kills < times and not faults:
        kills += killed(partial(import_graph, [source], folder), draw.uniform(0, whole_s))
        try:
            found = GraphStore.open(folder).edge_count
            if found != facts:
                faults.append(f"import: {found} facts instead of {facts}")
        except Exception as error:
            faults.append(f"import: {type(error).__name__} {error}")
    import_graph([source], folder)
    left = [path.name for path in world.folder.iterdir() if "killed" in path.name and path != folder]
    return kills, faults + [f"import: {name} is left" for name in left if not name.endswith(".lock")]


def kill_predictions(world: SyntheticGraph, times: int, draw: random.Random) -> tuple[int, list[str]]:
    """Kills of a prediction that goes on where it was: the same file as without."""
    predict, whole = world.prediction(48), world.folder / "whole.jsonl"
    begin = time.perf_counter()
    in_child(lambda _: predict(whole))
    whole_s = time.perf_counter() - begin

    def answers(path: Path) -> list[object]:
        found = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        return [{k: v for k, v in row.items() if k != "timing_ms"} for row in found]

    kills, faults, runs = 0, [], 0
    while kills < times and not faults:
        target = world.folder / f"killed{runs}.jsonl"
        runs += 1
        try:
            for _ in range(1 + draw.randrange(4)):
                kills += killed(partial(predict, target), draw.uniform(0, whole_s))
            status, _ = in_child(lambda _, path=target: predict(path))
            if status or answers(target) != answers(whole):
                faults.append(f"predict: {target.name} is not what an unbroken run writes")
        except (InputError, ValueError, OSError) as error:
            faults.append(f"predict: {error}")
    return kills, faults


def training(world: SyntheticGraph, steps: int = 12) -> Callable[[Path], object]:
    """Trains a tiny reader into a folder, with a checkpoint after each step."""
    from kgqa.trainer.finetuning.reader import ReaderRecipe, train_reader

    recipe = ReaderRecipe.model_validate(
        {
            "name": "killed",
            "encoder": {"folder": str(world.reader)},
            "reasoner": {"name": "fused", "graph_size": 16, "num_layers": 1, "num_heads": 2},
            "data": [{"name": str(QUESTIONS), "graph": str(world.store), "batch_questions": 4}],
            "input": {"max_nodes": 16, "max_tokens": 64},
            "trainer": {"max_steps": steps, "precision": "fp32", "save_every_minutes": 1e-9},
        }
    )
    return lambda folder: train_reader(recipe, folder)


def trained(folder: Path) -> list[bytes]:
    """The weights of a finished training."""
    return [path.read_bytes() for path in sorted((folder / "export").glob("*.safetensors"))]


def kill_trainings(world: SyntheticGraph, times: int, draw: random.Random) -> tuple[int, list[str]]:
    """Kills of a training that goes on from its checkpoint: the same weights, to the bit, as without."""
    train, whole = training(world), world.folder / "whole"
    in_child(lambda _: train(whole))
    begin = time.perf_counter()
    in_child(lambda _: train(world.folder / "timed"))
    whole_s, weights = time.perf_counter() - begin, trained(whole)
    faults = [] if weights else ["train: an unbroken run writes no weights"]
    kills, runs = 0, 0
    while kills < times and not faults:
        target = world.folder / f"trained{runs}"
        runs += 1
        for _ in range(1 + draw.randrange(4)):
            kills += killed(partial(train, target), draw.uniform(0, whole_s))
        status, _ = in_child(lambda _, target=target: train(target))
        if status or trained(target) != weights:
            faults.append(f"train: {target.name} is not what an unbroken run trains")
        shutil.rmtree(target, ignore_errors=True)
    return kills, faults

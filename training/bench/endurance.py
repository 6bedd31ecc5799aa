"""What is killed, and what many ask at a time: is nothing left half, lost or mixed up?

    python training/bench/endurance.py [--kills 30] [--callers 100] [--seconds 60] [--one-by-one 0] [--seed 0]

Import, predict, train and serve are killed with SIGKILL at a random moment and looked at; import, predict and train run
into a full disk (a limit on the size of files and, where mounting is allowed, a small disk of their own); many callers
ask a service at a time, and one asks thousands of questions in a row. All over the reader of random weights of
`reliability.py`.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

from reliability import ROOT, World, in_child

from kgqa.types import InputError

SUITE = ROOT / "tests" / "graphs"


def killed(work: Callable[[], object], after_s: float) -> bool:
    """Run in a child and kill it after some seconds; whether it had not ended by itself."""
    child = os.fork()
    if not child:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        with suppress(BaseException):
            work()
        os._exit(0)
    time.sleep(after_s)
    os.kill(child, signal.SIGKILL)
    return bool(os.WIFSIGNALED(os.waitpid(child, 0)[1]))


def kill_imports(world: World, times: int, draw: random.Random) -> tuple[int, list[str]]:
    """Kills of an import over an older store: the old one or the new one is there, whole."""
    from kgqa.graph.storage.importing import import_graph
    from kgqa.graph.storage.store import GraphStore

    folder, faults, kills = world.folder / "killed", [], 0
    lines = world.graphs[".nt"]
    source = world.folder / "larger.nt"
    source.write_bytes(b"".join(lines.replace(b"<http://", b"<http://n%d." % n) for n in range(60)))
    import_graph([source], folder)
    begin = time.perf_counter()
    import_graph([source], folder)
    whole_s, facts = time.perf_counter() - begin, GraphStore.open(folder).edge_count
    for _ in range(times):
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


def kill_predictions(world: World, times: int, draw: random.Random) -> tuple[int, list[str]]:
    """Kills of a prediction that goes on where it was: the same file as without."""
    from kgqa.cli.asking.predicting import Run, predict_file

    source, whole = world.folder / "asked.jsonl", world.folder / "whole.jsonl"
    rows = ({"id": str(n), "question": f"Who works in ward {n}?"} for n in range(48))
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    asked = Run(str(world.store), str(world.reader), 4, "cpu")
    begin = time.perf_counter()
    in_child(lambda _: predict_file(source, whole, asked))
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
                kills += killed(
                    lambda path=target: predict_file(source, path, asked), draw.uniform(0, whole_s)
                )
            status, _ = in_child(lambda _, path=target: predict_file(source, path, asked))
            if status or answers(target) != answers(whole):
                faults.append(f"predict: {target.name} is not what an unbroken run writes")
        except (InputError, ValueError, OSError) as error:
            faults.append(f"predict: {error}")
    return kills, faults


def training(world: World, steps: int = 12) -> Callable[[Path], object]:
    """Trains a tiny reader into a folder, with a checkpoint after each step."""
    from kgqa.trainer.finetuning.answering import train_reader
    from kgqa.trainer.finetuning.answering_recipe import AnsweringRecipe

    recipe = AnsweringRecipe.model_validate(
        {
            "name": "killed",
            "encoder": {"folder": str(world.reader)},
            "reasoner": {"name": "fused", "graph_size": 16, "num_layers": 1, "num_heads": 2},
            "data": [
                {"name": str(SUITE / "hospital.jsonl"), "graph": str(world.store), "batch_questions": 4}
            ],
            "reading": {"max_nodes": 16, "max_tokens": 64},
            "trainer": {"max_steps": steps, "precision": "fp32", "save_every_minutes": 1e-9},
        }
    )
    return lambda folder: train_reader(recipe, folder)


def trained(folder: Path) -> list[bytes]:
    """The weights of a finished training."""
    return [path.read_bytes() for path in sorted((folder / "export").glob("*.safetensors"))]


def kill_trainings(world: World, times: int, draw: random.Random) -> tuple[int, list[str]]:
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


def ending(attempt: Callable[[], object], before: Callable[[], None] = lambda: None) -> str:
    """How something ended in a child: `done`, `refused`, or what went wrong."""

    def told(pipe: int) -> None:
        before()
        try:
            attempt()
            os.write(pipe, b"done")
        except (InputError, OSError) as error:  # the command says an OSError in one line
            os.write(pipe, f"refused {error}".encode())
        except BaseException as error:
            os.write(pipe, f"traceback {type(error).__name__} {error}".encode())

    return in_child(told)[1] or "died"


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


def fill_small_disk(world: World) -> list[str]:
    """An import, a prediction and a training on a full disk end in one line; what was there before is whole, and what
    was begun goes on to what an unbroken run writes."""
    from kgqa.cli.asking.predicting import Run, predict_file
    from kgqa.graph.storage.importing import import_graph
    from kgqa.graph.storage.store import GraphStore

    faults: list[str] = []
    disk, train, whole = world.folder / "disk", training(world), world.folder / "whole"
    with small_disk(disk, "48m") as mounted:
        if not mounted:
            return ["full disk: mounting is not allowed here"]
        import_graph([world.graph], disk / "store")
        facts = GraphStore.open(disk / "store").edge_count
        source, answers = world.folder / "disk_questions.jsonl", disk / "answers.jsonl"
        rows = ({"id": str(n), "question": f"Who works in ward {n}?"} for n in range(24))
        source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        asked = Run(str(world.store), str(world.reader), 4, "cpu")
        tries: dict[str, Callable[[], object]] = {
            "import": lambda: import_graph([world.graph], disk / "store"),
            "predict": lambda: predict_file(source, answers, asked),
            "train": lambda: train(disk / "trained"),
        }
        for name, attempt in tries.items():
            endings: Counter[str] = Counter()
            for room in (0, 5_000, 20_000, 100_000, 1_000_000, 5_000_000, 12_000_000, 20_000_000):
                ballast = leave_room(disk, room)
                said = ending(attempt)
                ballast.unlink()
                endings[said.split()[0]] += 1
                if said.split()[0] not in ("done", "refused"):
                    faults.append(f"full disk, {name}, {room} bytes: {said[:200]}")
            if GraphStore.open(disk / "store").edge_count != facts:
                faults.append("full disk: the old store is not whole")
            print(f"full disk, {name}: {dict(endings)}", flush=True)
            if (said := ending(attempt)) != "done":
                faults.append(f"{name} does not go on after a full disk: {said[:200]}")
        found = [json.loads(line)["id"] for line in answers.read_text(encoding="utf-8").splitlines()]
        if found != [str(n) for n in range(24)]:
            faults.append("full disk: a prediction that met one does not go on")
        if not whole.exists():
            train(whole)
        if trained(disk / "trained") != trained(whole):
            faults.append("full disk: a training that met one ends with other weights")
        left = [path.name for path in disk.rglob("*") if path.name.endswith((".part", ".old"))]
        faults += [f"full disk: {name} is left" for name in left]
    return faults


def fill_disk(world: World) -> list[str]:
    """An import and a prediction that meet a full disk end in one line, and leave what was there before whole.

    What may be written to a file is limited instead of the disk: the system refuses either in the middle of a write.
    """
    import resource

    from kgqa.cli.asking.predicting import Run, predict_file
    from kgqa.graph.storage.importing import import_graph
    from kgqa.graph.storage.store import GraphStore

    faults: list[str] = []
    store, answers = world.folder / "full", world.folder / "full.jsonl"
    import_graph([world.graph], store)
    facts = GraphStore.open(store).edge_count
    source = world.folder / "full_questions.jsonl"
    rows = ({"id": str(n), "question": f"Who works in ward {n}?"} for n in range(24))
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    asked = Run(str(world.store), str(world.reader), 4, "cpu")
    tries: dict[str, Callable[[], object]] = {
        "import": lambda: import_graph([world.graph], store),
        "predict": lambda: predict_file(source, answers, asked),
    }
    for name, attempt in tries.items():
        for room in (0, 100, 1_000, 3_000):

            def limit(room: int = room) -> None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

            said = ending(attempt, limit)
            if said.split()[0] not in ("done", "refused"):
                faults.append(f"full disk, {name}, {room} bytes: {said[:200]}")
        if name == "import" and GraphStore.open(store).edge_count != facts:
            faults.append("full disk: the old store is not whole")
    predict_file(source, answers, asked)
    found = [json.loads(line)["id"] for line in answers.read_text(encoding="utf-8").splitlines()]
    if found != [str(n) for n in range(24)]:
        faults.append("full disk: a prediction that met one does not go on")
    return faults


class Served:
    """A service in a child, over the tiny reader."""

    def __init__(self, world: World) -> None:
        import uvicorn

        from kgqa.serving.guarding import Limits
        from kgqa.serving.service import create_service

        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        self.child = os.fork()
        if not self.child:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1), os.dup2(quiet, 2)
            with suppress(BaseException):
                limits = Limits(timeout_s=120)
                app = create_service(lambda: {("tiny", "store"): world.answerer}, limits, eager=True)
                config = uvicorn.Config(app, log_config=None, access_log=False)
                uvicorn.Server(config).run(sockets=[self.listener])
            os._exit(0)
        self.listener.close()

    def ask(self, number: str, text: str, timeout_s: float = 120) -> str:
        """The answer; a fault where it is another's."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout_s)) as line:
            body = json.dumps({"question": text, "id": number})
            line.request("POST", "/v1/answer", body, {"Content-Type": "application/json"})
            response = line.getresponse()
            found = json.load(response)
            if response.status != 200:
                raise OSError(f"status {response.status}: {found.get('detail')}")
            if (found["id"], found["question"]) != (number, text):
                raise AssertionError(f"{number} was given the answer to {found['id']}")
            return str(found["answer"])

    def memory_mb(self) -> float:
        """Of the service now."""
        lines = Path(f"/proc/{self.child}/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))

    def kill(self) -> None:
        """End it without a word."""
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)


def call(world: World, callers: int, seconds: float, most: int = 0) -> tuple[Counter[str], list[str]]:
    """Many callers at a time, for some seconds or (other than 0) `most` questions each: answers lost, mixed up, or
    other than when asked alone."""
    service, count, faults = Served(world), Counter(), []
    texts = [f"Who works in ward {n}?" for n in range(20)]
    alone = [service.ask(f"first {n}", text) for n, text in enumerate(texts)]
    count["MB at the start"] = int(service.memory_mb())
    until = time.monotonic() + seconds

    def one(caller: int) -> None:
        number = 0
        while time.monotonic() < until and (not most or number < most):
            number += 1
            which = (caller + number) % len(texts)
            try:
                answer = service.ask(f"{caller}-{number}", texts[which])
                count["answered"] += 1
                count["other than alone"] += answer != alone[which]
            except AssertionError as error:
                faults.append(f"serve: mixed up: {error}")
            except (OSError, ValueError, http.client.HTTPException) as error:
                faults.append(f"serve: lost: {error}")

    threads = [threading.Thread(target=one, args=(caller,)) for caller in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    count["MB at the end"] = int(service.memory_mb())
    service.kill()
    return count, faults


def kill_services(world: World, times: int, draw: random.Random) -> tuple[int, list[str]]:
    """Kills of a service that is being asked: callers get whole answers or an error, and the next one serves."""
    faults: list[str] = []
    for _ in range(times):
        service = Served(world)
        service.ask("0", "Who works in ward 0?")

        def one(caller: int, asked: Served = service) -> None:
            try:
                while True:
                    asked.ask(str(caller), f"Who works in ward {caller}?", 10)
            except AssertionError as error:
                faults.append(f"serve: {error}")
            except (OSError, ValueError, http.client.HTTPException):
                return

        threads = [threading.Thread(target=one, args=(caller,)) for caller in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(draw.uniform(0, 0.5))
        service.kill()
        for thread in threads:
            thread.join()
    return times, faults


def main() -> None:
    """Kill, call, and print what came of it."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument(
        "--kills",
        type=int,
        default=30,
        help="of import, and of predict; a third as many of train, and of serve",
    )
    options.add_argument("--callers", type=int, default=100)
    options.add_argument("--seconds", type=float, default=60.0, help="that callers go on for")
    options.add_argument(
        "--one-by-one", type=int, default=0, help="questions of one caller, one after another"
    )
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import torch

    torch.set_num_threads(1)
    draw = random.Random(chosen.seed)
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        world = World(Path(folder))
        for name, kill, times in (
            ("import", kill_imports, chosen.kills),
            ("predict", kill_predictions, chosen.kills),
            ("train", kill_trainings, chosen.kills // 3),
            ("serve", kill_services, chosen.kills // 3),
        ):
            kills, wrong = kill(world, times, draw)
            faults += wrong
            print(f"{name}: {kills} kills, {len(wrong)} faults", flush=True)
        wrong = fill_disk(world) + fill_small_disk(world)
        faults += wrong
        print(f"full disk: {len(wrong)} faults", flush=True)
        for callers, seconds, most in (
            (chosen.callers, chosen.seconds, 0),
            (1, float("inf"), chosen.one_by_one),
        ):
            if most or seconds < float("inf"):
                count, wrong = call(world, callers, seconds, most)
                faults += wrong
                print(f"{callers} callers: {dict(count)}, {len(wrong)} faults", flush=True)
    print("\n".join(faults))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()

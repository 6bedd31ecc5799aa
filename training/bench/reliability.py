"""What comes in broken, and what is killed: does everything end in one clear line, and is nothing left half?

    python training/bench/reliability.py [--minutes 5] [--seed 0] [--callers 100]

Inputs of every kind are broken at random and read in a child process each few dozen: graphs of every format, stores,
questions, JSON lines, recipes, readers. Good is to be read or to be refused in one line. Import, predict and serve are
killed with SIGKILL at a random moment and looked at, and many callers ask a service at a time. All over a reader of
random weights, which is as large as these questions need. A fault is printed with its seed: the same seed breaks the
same input in the same way.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import resource
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from kgqa.types import InputError, Passage, Question

ROOT = Path(__file__).parents[2]
CPU_S = 20
"""Processor seconds after which an input counts as a hang."""
LONGEST_LINE = 2_000
"""Characters of a refusal."""
TOKENS = [
    *(
        b"\0",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\x1b[31m",
        b"\\ud800",
        b"&lol;",
        b"-1",
        b"1e999",
        b"NaN",
        b"null",
        b'"',
    ),
    *(
        b"<<( " * 300,
        b"[" * 3_000,
        b'{"@list":[' * 500,
        b"<a>" * 2_000,
        b"9" * 5_000,
        b"a=[" * 900,
        b" " * 70_000,
    ),
    *(
        b"@prefix : <",
        b"<!ENTITY a 'a'>",
        b'"@context":"http://x/"',
        b"\r",
        b"\n\n",
        b"../../x",
        b"\xe2\x80\xae",
    ),
]
Try = Callable[[random.Random, Path], None]
"""Breaks an input, drawn from the first, and reads it within the folder."""


def broken(content: bytes, draw: random.Random) -> bytes:
    """The content with one to four things wrong with it."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        content = _with_a_fault(content, draw)
    return content


def _with_a_fault(content: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(content) + 1)
    end = min(len(content), start + int(draw.expovariate(1 / 40)))
    before, part, after = content[:start], content[start:end], content[end:]
    faults = (
        lambda: before + bytes([draw.randrange(256)]) + after,
        lambda: before + after,
        lambda: before + part * draw.choice((2, 3, 50, 2_000)) + after,
        lambda: before + draw.choice(TOKENS) + part + after,
        lambda: before + draw.choice(TOKENS) + after,
        lambda: before,
        lambda: after + before,
    )
    if draw.random() < 0.03:
        encoding = draw.choice(("utf-16", "utf-32", "latin-1", "utf-7"))
        return content.decode("utf-8", "replace").encode(encoding, "replace")
    return draw.choice(faults)()


def tiny_reader(folder: Path) -> Path:
    """A reader of random weights over the tokenizer of a shipped encoder."""
    import torch
    from tokenizers import Tokenizer
    from transformers import BertConfig, BertModel

    from kgqa.models.reader import Reader, save_reader
    from kgqa.models.reasoners import ReasonerSettings

    torch.manual_seed(0)
    source = ROOT / "training" / "models" / "kgqa-mini"
    words = Tokenizer.from_file(str(source / "tokenizer.json")).get_vocab_size()
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    encoder = BertModel(BertConfig(vocab_size=words, **sizes))
    reader = Reader(encoder, ReasonerSettings(graph_size=16, num_layers=2, num_heads=2))
    reading = {"max_nodes": 20, "max_tokens": 64, "stride": 16, "reread": 2, "facts": 1}
    save_reader(reader, source, folder, {"name": "tiny", "reading": reading})
    return folder


@dataclass
class World:
    """Whole inputs to break."""

    folder: Path
    graphs: dict[str, bytes] = field(default_factory=dict)
    recipes: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        import pyoxigraph as ox

        from kgqa.answerer import Answerer
        from kgqa.graph.storage.importing import import_graph

        suite = ROOT / "tests" / "graphs"
        for name in ("hospital.ttl", "software.trig", "orchestra.rdf", "bakery.jsonld", "realm.tsv"):
            self.graphs[Path(name).suffix] = (suite / name).read_bytes()
        facts = ox.parse(self.graphs[".ttl"], format=ox.RdfFormat.TURTLE)
        lines = ox.serialize(facts, format=ox.RdfFormat.N_TRIPLES)
        reifies = b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>"
        lines += b'<http://x/r> %s <<( <http://x/a> <http://x/b> "c" )>> .\n' % reifies
        self.graphs |= {".nt": lines, ".nq": lines.replace(b" .\n", b" <http://x/g> .\n")}
        self.recipes = [path.read_bytes() for path in sorted((ROOT / "training" / "recipes").rglob("*.toml"))]
        self.questions = (suite / "hospital.jsonl").read_bytes()
        self.reader = tiny_reader(self.folder / "reader")
        self.graph = self.folder / "graph.ttl"
        self.graph.write_bytes(self.graphs[".ttl"])
        self.store = self.folder / "store"
        import_graph([self.graph], self.store)
        self.answerer = Answerer.load(str(self.reader), str(self.store), device="cpu")

    def tries(self) -> dict[str, Try]:
        """What is broken, by name."""
        graphs: dict[str, Try] = {f"graph {form}": self._graph(form) for form in self.graphs}
        return {
            **graphs,
            "store": self._store,
            "question": self._question,
            "JSON lines": self._lines,
            "recipe": self._recipe,
            "reader": self._reader,
        }

    def _graph(self, form: str) -> Try:
        from kgqa.graph.storage.importing import import_graph

        def read(draw: random.Random, folder: Path) -> None:
            path = folder / f"graph{form}"
            path.write_bytes(broken(self.graphs[form], draw))
            import_graph([path], folder / "store")

        return read

    def _store(self, draw: random.Random, folder: Path) -> None:
        from kgqa.graph.storage.store import GraphStore

        copy = folder / "store"
        shutil.copytree(self.store, copy)
        self._break_one(copy, draw)
        self.answerer.with_graph(GraphStore.open(copy)).retrieve(_question("Who works in the hospital?"))

    def _reader(self, draw: random.Random, folder: Path) -> None:
        from kgqa.answerer import Answerer

        copy = folder / "reader"
        shutil.copytree(self.reader, copy)
        self._break_one(copy, draw)
        answerer = Answerer.load(str(copy), self.answerer.graph, device="cpu")
        answerer.answer(_question("Who works in the hospital?"))

    @staticmethod
    def _break_one(folder: Path, draw: random.Random) -> None:
        path = draw.choice(sorted(path for path in folder.iterdir() if path.is_file()))
        path.write_bytes(broken(path.read_bytes(), draw))

    def _question(self, draw: random.Random, folder: Path) -> None:
        from kgqa.explain import answer_json

        text = broken(b"Who works in the hospital, and why?", draw).decode("utf-8", "surrogateescape")
        passage = broken(b"Dr Kim works there. She mends bones." * 5, draw).decode("utf-8", "replace")
        choices = tuple(
            broken(b"a nurse", draw).decode("utf-8", "replace") for _ in range(draw.choice((0, 0, 2, 25)))
        )
        with self.answerer.until(_late(CPU_S / 2)):
            answer = self.answerer.answer(_question(text, passage, choices))
            json.dumps(answer_json(answer), ensure_ascii=False).encode()

    def _lines(self, draw: random.Random, folder: Path) -> None:
        from kgqa.cli.predicting import read_questions

        path = folder / "questions.jsonl"
        path.write_bytes(broken(self.questions, draw))
        list(read_questions(path))

    def _recipe(self, draw: random.Random, folder: Path) -> None:
        from kgqa.trainer.answering import AnsweringRecipe
        from kgqa.trainer.recipe import load_recipe

        path = folder / "recipe.toml"
        path.write_bytes(broken(draw.choice(self.recipes), draw))
        load_recipe(path, [], AnsweringRecipe)


def _question(text: str, passage: str = "", choices: tuple[str, ...] = ()) -> Question:
    return Question(text, choices, Passage(passage) if passage else None)


def _late(seconds: float) -> Callable[[], bool]:
    until = time.process_time() + seconds
    return lambda: time.process_time() > until


def in_child(work: Callable[[int], None]) -> tuple[int, str]:
    """Run `work(pipe)` in a child; its wait status and what it wrote into the pipe."""
    read, write = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(read)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        with suppress(BaseException):
            work(write)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as told:
        content = told.read().decode("utf-8", "replace")
    return os.waitpid(child, 0)[1], content


def _try_some(pipe: int, name: str, attempt: Try, seeds: range) -> None:
    """In a child: a line into the pipe for each input, and the MB that the child has grown by."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seed in seeds:
        os.write(pipe, f"{seed}\t".encode())
        signal.setitimer(signal.ITIMER_PROF, CPU_S)  # its signal ends the process, wherever it is
        with tempfile.TemporaryDirectory() as folder:
            try:
                attempt(random.Random(f"{name} {seed}"), Path(folder))
                told = "read"
            except InputError as error:
                said = str(error)
                clear = "\n" not in said and len(said) < LONGEST_LINE
                told = "refused" if clear else f"unclear: {said[:200]!r}"
            except BaseException as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                said = f"{type(error).__name__} {str(error)[:150]!r}"
                told = f"traceback: {said} at {place.filename}:{place.lineno}"
        os.write(pipe, f"{told}\n".encode("utf-8", "replace"))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    os.write(pipe, f"MB\t{grown // 1024}\n".encode())


def try_all(name: str, attempt: Try, seeds: range, count: Counter[str]) -> list[str]:
    """Break and read, some dozens a child; adds to `count`, and returns what went wrong."""
    faults: list[str] = []
    seed = seeds.start
    while seed < seeds.stop:
        some = range(seed, min(seed + 50, seeds.stop))
        status, told = in_child(partial(_try_some, name=name, attempt=attempt, seeds=some))
        for line in told.splitlines():
            number, _, outcome = line.partition("\t")
            if number == "MB":
                count["MB"] = max(count["MB"], int(outcome))
                continue
            seed = int(number) + 1
            if not outcome:  # it ended here
                killer = status & 0x7F
                outcome = "hang" if killer == signal.SIGPROF else f"crash: signal {killer}"
            kind = outcome.partition(":")[0]
            count[kind] += 1
            if kind not in ("read", "refused"):
                faults.append(f"{name} {number}: {outcome}")
    return faults


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
    from kgqa.cli.predicting import predict_file

    source, whole = world.folder / "asked.jsonl", world.folder / "whole.jsonl"
    rows = ({"id": str(n), "question": f"Who works in ward {n}?"} for n in range(48))
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    asked = (str(world.store), str(world.reader), 4, "cpu")
    begin = time.perf_counter()
    in_child(lambda _: predict_file(source, whole, *asked))
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
                    lambda path=target: predict_file(source, path, *asked), draw.uniform(0, whole_s)
                )
            status, _ = in_child(lambda _, path=target: predict_file(source, path, *asked))
            if status or answers(target) != answers(whole):
                faults.append(f"predict: {target.name} is not what an unbroken run writes")
        except (InputError, ValueError, OSError) as error:
            faults.append(f"predict: {error}")
    return kills, faults


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


def call(world: World, callers: int, seconds: float) -> tuple[Counter[str], list[str]]:
    """Many callers at a time for some seconds: answers lost, mixed up, or other than when asked alone."""
    service, count, faults = Served(world), Counter(), []
    texts = [f"Who works in ward {n}?" for n in range(20)]
    alone = [service.ask(f"first {n}", text) for n, text in enumerate(texts)]
    count["MB at the start"] = int(service.memory_mb())
    until = time.monotonic() + seconds

    def one(caller: int) -> None:
        number = 0
        while time.monotonic() < until:
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


def rounds(minutes: float, size: int = 50) -> Iterator[range]:
    """Ranges of seeds until the time is up."""
    until, at = time.monotonic() + 60 * minutes, 0
    while time.monotonic() < until:
        yield range(at, at + size)
        at += size


def main() -> None:
    """Break, kill, call, and print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--minutes", type=float, default=5.0, help="for broken inputs")
    options.add_argument(
        "--kills", type=int, default=30, help="of import, and of predict; a third as many of serve"
    )
    options.add_argument("--callers", type=int, default=100)
    options.add_argument("--seconds", type=float, default=60.0, help="that callers go on for")
    options.add_argument("--seed", type=int, default=0, help="first seed")
    chosen = options.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import torch

    torch.set_num_threads(1)
    draw = random.Random(chosen.seed)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        world = World(Path(folder))
        counts: dict[str, Counter[str]] = {name: Counter() for name in world.tries()}
        faults: list[str] = []
        for seeds in rounds(chosen.minutes):
            for name, attempt in world.tries().items():
                shifted = range(seeds.start + chosen.seed, seeds.stop + chosen.seed)
                faults += try_all(name, attempt, shifted, counts[name])
        print("| broken | tried | read | refused | tracebacks | hangs | crashes | unclear | MB grown |")
        print("|---|---|---|---|---|---|---|---|---|")
        for name, count in counts.items():
            tried = sum(n for kind, n in count.items() if kind != "MB")
            kinds = ("read", "refused", "traceback", "hang", "crash", "unclear", "MB")
            print(f"| {name} | {tried} |", " | ".join(str(count[kind]) for kind in kinds), "|", flush=True)
        for name, kill, times in (
            ("import", kill_imports, chosen.kills),
            ("predict", kill_predictions, chosen.kills),
            ("serve", kill_services, chosen.kills // 3),
        ):
            kills, wrong = kill(world, times, draw)
            faults += wrong
            print(f"{name}: {kills} kills, {len(wrong)} faults", flush=True)
        count, wrong = call(world, chosen.callers, chosen.seconds)
        faults += wrong
        print(f"{chosen.callers} callers, {chosen.seconds:g} s: {dict(count)}, {len(wrong)} faults")
    print("\n".join(faults))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()

"""What comes in broken: does everything end in one clear line?

    python training/bench/reliability.py [--minutes 5] [--inputs 0] [--seed 0] [--kinds query ...] [--json]

Inputs of every kind are broken at random and read in a child process each few dozen: graphs of every format, stores,
questions, JSON lines, recipes, readers, and untrusted input (`faults/untrusted_input.py`); single bits of what is on
disk are flipped (`faults/flipped_bits.py`), and questions are made by grammar (`faults/grammar.py`). Good is to be
read or to be refused in one line. All over a reader of random weights, which is as large as these questions need. A
fault is printed with its seed: the same seed breaks the same input in the same way. What is killed in the middle, and
what many ask at a time, is in `endurance.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from kgqa.limits.cancellation import Cancelled, cancel_when
from kgqa.types import InputError, Passage, Question

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # the app's modules are beside the package
ENCODER = ROOT / "training" / "models" / "kgqa-mini"
CPU_S = 20
"""Processor seconds after which an input counts as a hang."""
CHILD_S = 600
"""Seconds after which a child that waits for something is killed; each input has as many, and counts as a hang then."""
LONGEST_LINE = 2_000
"""Characters of a refusal."""
TOKENS = [
    *(b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\x1b[31m", b"\\ud800", b"&lol;"),
    *(b"-1", b"1e999", b"NaN", b"null", b'"', b"\r", b"\n\n", b"../../x", b"\xe2\x80\xae"),
    *(b"<<( " * 300, b"[" * 3_000, b'{"@list":[' * 500, b"<a>" * 2_000, b"9" * 5_000, b"a=[" * 900),
    *(b" " * 70_000, b"@prefix : <", b"<!ENTITY a 'a'>", b'"@context":"http://x/"'),
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


def tiny_encoder() -> Any:
    """An encoder of random weights for the tokenizer of `ENCODER`."""
    import torch
    from tokenizers import Tokenizer
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    words = Tokenizer.from_file(str(ENCODER / "tokenizer.json")).get_vocab_size()
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    return BertModel(BertConfig(vocab_size=words, **sizes))


def tiny_reader(folder: Path) -> Path:
    """A reader of random weights."""
    from kgqa.models.reader import Reader, save_reader
    from kgqa.models.reasoners import ReasonerSettings

    reader = Reader(tiny_encoder(), ReasonerSettings(graph_size=16, num_layers=2, num_heads=2))
    reading = {"max_nodes": 20, "max_tokens": 64, "stride": 16, "facts": 1}
    save_reader(reader, ENCODER, folder, {"name": "tiny", "input": reading})
    return folder


@dataclass
class SyntheticGraph:
    """Whole inputs to break."""

    folder: Path
    graphs: dict[str, bytes] = field(default_factory=dict)
    recipes: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        import pyoxigraph as ox

        from kgqa.graph.storage.import_graph import import_graph
        from kgqa.qa.answerer import Answerer

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

    def prediction(self, count: int) -> Callable[..., object]:
        """Answers so many questions into a file, which is its argument."""
        from kgqa.cli.predict import PredictionRun, predict_file

        source = self.folder / f"{count}_questions.jsonl"
        rows = ({"id": str(n), "question": f"Who works in ward {n}?"} for n in range(count))
        source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return partial(predict_file, source, run=PredictionRun(str(self.store), str(self.reader), 4, "cpu"))

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
        from kgqa.graph.storage.import_graph import import_graph

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
        from kgqa.qa.answerer import Answerer

        copy = folder / "reader"
        shutil.copytree(self.reader, copy)
        if draw.random() < 0.7:  # as whoever made the folder would have it
            card = json.loads((copy / "reader.json").read_text())
            (copy / "reader.json").write_text(json.dumps(card | {"checksums": {}}))
        self._break_one(copy, draw)
        answerer = Answerer.load(str(copy), self.answerer.graph, device="cpu")
        answerer.answer(_question("Who works in the hospital?"))

    @staticmethod
    def _break_one(folder: Path, draw: random.Random) -> None:
        path = draw.choice(sorted(path for path in folder.iterdir() if path.is_file()))
        path.write_bytes(broken(path.read_bytes(), draw))

    def _question(self, draw: random.Random, folder: Path) -> None:
        from kgqa.qa.render import answer_json

        text = broken(b"Who works in the hospital, and why?", draw).decode("utf-8", "surrogateescape")
        passage = broken(b"Dr Kim works there. She mends bones." * 5, draw).decode("utf-8", "replace")
        choices = tuple(
            broken(b"a nurse", draw).decode("utf-8", "replace") for _ in range(draw.choice((0, 0, 2, 25)))
        )
        with cancel_when(_late(CPU_S / 2)):
            answer = self.answerer.answer(_question(text, passage, choices))
            json.dumps(answer_json(answer), ensure_ascii=False).encode()

    def _lines(self, draw: random.Random, folder: Path) -> None:
        from kgqa.cli.predict import read_questions

        path = folder / "questions.jsonl"
        path.write_bytes(broken(self.questions, draw))
        read_questions(path)

    def _recipe(self, draw: random.Random, folder: Path) -> None:
        from kgqa.trainer.finetuning.reader import ReaderRecipe
        from kgqa.trainer.recipe import load_recipe

        path = folder / "recipe.toml"
        path.write_bytes(broken(draw.choice(self.recipes), draw))
        load_recipe(path, [], ReaderRecipe)


def _question(text: str, passage: str = "", choices: tuple[str, ...] = ()) -> Question:
    return Question(text, choices, Passage(passage) if passage else None)


def _late(seconds: float) -> Callable[[], bool]:
    cancel_when = time.process_time() + seconds
    return lambda: time.process_time() > cancel_when


def fork(work: Callable[[], object]) -> int:
    """Start `work` in a child that prints nothing; its process id."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        with suppress(BaseException):
            work()
        os._exit(0)
    return child


def in_child(work: Callable[[int], None]) -> tuple[int, str]:
    """Run `work(pipe)` in a child; its wait status and what it wrote into the pipe."""
    read, write = os.pipe()

    def limited() -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(CHILD_S)
        os.close(read)
        work(write)

    child = fork(limited)
    os.close(write)
    with os.fdopen(read, "rb") as info:
        content = info.read().decode("utf-8", "replace")
    return os.waitpid(child, 0)[1], content


def _try_some(pipe: int, name: str, attempt: Try, seeds: range) -> None:
    """In a child: a line into the pipe for each input, and the MB that the child has grown by."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seed in seeds:
        os.write(pipe, f"{seed}\t".encode())
        signal.alarm(CHILD_S)
        signal.setitimer(signal.ITIMER_PROF, CPU_S)  # its signal ends the process, wherever it is
        with tempfile.TemporaryDirectory() as folder:
            try:
                attempt(random.Random(f"{name} {seed}"), Path(folder))
                info = "read"
            except (InputError, Cancelled) as error:
                output = str(error)
                clear = "\n" not in output and len(output) < LONGEST_LINE
                info = "refused" if clear else f"unclear: {output[:200]!r}"
            except BaseException as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                output = f"{type(error).__name__} {str(error)[:150]!r}"
                info = f"traceback: {output} at {place.filename}:{place.lineno}"
        os.write(pipe, f"{info}\n".encode("utf-8", "replace"))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    os.write(pipe, f"MB\t{grown // 1024}\n".encode())


def try_all(name: str, attempt: Try, seeds: range, count: Counter[str]) -> list[str]:
    """Break and read, some dozens a child; adds to `count`, and returns what went wrong."""
    faults: list[str] = []
    seed = seeds.start
    while seed < seeds.stop:
        some = range(seed, min(seed + 50, seeds.stop))
        status, info = in_child(partial(_try_some, name=name, attempt=attempt, seeds=some))
        for line in info.splitlines():
            number, _, outcome = line.partition("\t")
            if number == "MB":
                count["MB"] = max(count["MB"], int(outcome))
                continue
            seed = int(number) + 1
            if not outcome:  # it ended here
                killer = status & 0x7F
                outcome = "hang" if killer in (signal.SIGPROF, signal.SIGALRM) else f"crash: signal {killer}"
            kind = outcome.partition(":")[0]
            count[kind] += 1
            if kind not in ("read", "refused"):
                faults.append(f"{name} {number}: {outcome}")
    return faults


def rounds(minutes: float, inputs: int, size: int = 50) -> Iterator[range]:
    """Ranges of seeds until the time is up; or one of so many, other than 0."""
    cancel_when, at = time.monotonic() + 60 * minutes, 0
    if inputs:
        yield range(inputs)
    while not inputs and time.monotonic() < cancel_when:
        yield range(at, at + size)
        at += size


def main() -> None:
    """Break, and print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--minutes", type=float, default=5.0)
    options.add_argument("--inputs", type=int, default=0, help="of each kind, instead of minutes")
    options.add_argument("--seed", type=int, default=0, help="first seed")
    options.add_argument(
        "--kinds", nargs="+", help="of what is broken; all but heavy queries where none is named"
    )
    options.add_argument("--json", action="store_true", help="print the sums as a line of JSON")
    chosen = options.parse_args()
    from faults.agents import Agents
    from faults.flipped_bits import FlippedBits
    from faults.grammar import Grammar
    from faults.untrusted_input import UntrustedInput

    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        world = SyntheticGraph(Path(folder))
        untrusted = UntrustedInput(world)
        makers = (world, untrusted, Agents(world), FlippedBits(world), Grammar(world))
        tries = {name: attempt for maker in makers for name, attempt in maker.tries().items()}
        counts: dict[str, Counter[str]] = {name: Counter() for name in chosen.kinds or tries}
        tries |= untrusted.slow_tries()
        faults: list[str] = []
        for seeds in rounds(chosen.minutes, chosen.inputs):
            for name, count in counts.items():
                shifted = range(seeds.start + chosen.seed, seeds.stop + chosen.seed)
                faults += try_all(name, tries[name], shifted, count)
        print("| broken | tried | read | refused | tracebacks | hangs | crashes | unclear | MB grown |")
        print("|---|---|---|---|---|---|---|---|---|")
        for name, count in counts.items():
            tried = sum(n for kind, n in count.items() if kind != "MB")
            kinds = ("read", "refused", "traceback", "hang", "crash", "unclear", "MB")
            print(f"| {name} | {tried} |", " | ".join(str(count[kind]) for kind in kinds), "|", flush=True)
    print("\n".join(faults))
    if chosen.json:
        all_kinds = sum(counts.values(), Counter[str]())
        tried = sum(n for kind, n in all_kinds.items() if kind != "MB")
        bad = {f"{kind}s": all_kinds[kind] for kind in ("traceback", "hang")}
        print(
            json.dumps(
                {"tried": tried, **bad, "crashes": all_kinds["crash"], "unclear": all_kinds["unclear"]}
            )
        )
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()

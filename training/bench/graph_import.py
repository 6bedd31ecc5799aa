"""Import against rdflib and pyoxigraph on the same files: triples a second, peak memory; then opening.

    python training/bench/graph_import.py --triples 2500000 [--peers-up-to 500000] [--named]

Each measurement is a process of its own: CPU seconds and peak resident memory are the kernel's. The graph is
synthetic: `--triples` facts between a fifth as many concepts, 30 relations, degrees by a power law. With `--named`
it is made as Wikidata is: identifiers that say nothing, a label of one to four words for each concept (words by Zipf's
law, more than half of the names with capitals, some with brackets), a thousand relations by Zipf's law and dates among
the objects; N-Triples only.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

IMPORT = "from kgqa.graph.storage.import_graph import import_graph; import_graph([sys.argv[1]], sys.argv[2])"
RUNS = {
    "kgqa": IMPORT,
    "rdflib": "import rdflib; rdflib.Graph().parse(sys.argv[1], format=sys.argv[3])",
    "pyoxigraph store": "import pyoxigraph as ox; ox.Store().bulk_load(path=sys.argv[1])",
    "pyoxigraph parser": "import pyoxigraph as ox; sum(1 for _ in ox.parse(path=sys.argv[1]))",
}
OPEN = """
import time; start = time.perf_counter()
from kgqa.graph.storage.store import GraphStore
import numpy as np
loaded = time.perf_counter()
graph = GraphStore.open(sys.argv[1])
opened = time.perf_counter()
rng = np.random.default_rng(0)
for _ in range(100):
    drawn = rng.integers(0, graph.entity_count, 20).astype(np.int32)
    found = np.unique(np.concatenate([ids[:5] for ids in graph.find(graph.labels(drawn))]))
    near = graph.neighbours(found, 50)
    graph.labels(np.unique(near.tail)[:200])
spent = (time.perf_counter() - opened) / 100
resident = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 2**20
print("RESULT", opened - loaded, spent, resident)
"""


def write(path: Path, triples: int, seed: int = 0) -> None:
    """Synthetic facts as N-Triples or Turtle, by suffix."""
    rng = np.random.default_rng(seed)
    concepts = max(triples // 5, 10)
    prefix = (
        "e:{} r:{} e:{} .\n"
        if path.suffix == ".ttl"
        else (
            "<http://example.org/concept/e{}> <http://example.org/relation/r{}> <http://example.org/concept/e{}> .\n"
        )
    )
    with path.open("w") as file:
        if path.suffix == ".ttl":
            file.write(
                "@prefix e: <http://example.org/concept/e> .\n@prefix r: <http://example.org/relation/r> .\n"
            )
        for start in range(0, triples, 500_000):
            count = min(500_000, triples - start)
            heads = (concepts * rng.random(count) ** 2).astype(int).tolist()
            tails = (concepts * rng.random(count) ** 2).astype(int).tolist()
            relations = rng.integers(0, 30, count).tolist()
            file.writelines(map(prefix.format, heads, relations, tails))


def write_named(path: Path, triples: int, seed: int = 0) -> None:
    """Facts between identifiers, of which each has a label, as N-Triples; a seventh of all triples are labels."""
    rng = np.random.default_rng(seed)
    sounds = np.array(
        [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "an", "er", "or")]
    )
    vocabulary = np.array(["".join(rng.choice(sounds, n)) for n in rng.integers(1, 5, 200_000)])
    capitals = np.char.capitalize(vocabulary)
    concepts = max(triples // 7, 10)
    fact = "<http://example.org/entity/Q{}> <http://example.org/prop/direct/P{}> {} .\n"
    output = '<http://example.org/entity/Q{}> <http://www.w3.org/2000/01/rdf-schema#label> "{}"@en .\n'
    day = '"{}-{:02}-{:02}"^^<http://www.w3.org/2001/XMLSchema#date>'
    written = 0
    with path.open("w") as file:
        for first in range(0, concepts, 100_000):
            numbers = range(first, min(first + 100_000, concepts))
            drawn = np.minimum(rng.zipf(1.2, (len(numbers), 4)), 10**9) % len(vocabulary)
            lengths = rng.choice([1, 2, 3, 4], len(numbers), p=[0.25, 0.45, 0.2, 0.1]).tolist()
            words = np.where(rng.random((len(numbers), 1)) < 0.6, capitals[drawn], vocabulary[drawn]).tolist()
            closing = np.where(rng.random(len(numbers)) < 0.03, " (film)", "").tolist()
            labels = [" ".join(w[:n]) + end for w, n, end in zip(words, lengths, closing, strict=True)]
            file.writelines(map(output.format, numbers, labels))
            stop = triples if numbers.stop == concepts else 7 * numbers.stop
            count = stop - written - len(numbers)
            written = stop
            heads = (concepts * rng.random(count) ** 2).astype(int).tolist()
            tails = [
                f"<http://example.org/entity/Q{n}>" for n in (concepts * rng.random(count) ** 2).astype(int)
            ]
            dated = np.flatnonzero(rng.random(count) < 0.05).tolist()
            dates = zip(
                *(rng.integers(*ends, len(dated)) for ends in ((1000, 2030), (1, 13), (1, 29))), strict=True
            )
            for n, date in zip(dated, dates, strict=True):
                tails[n] = day.format(*date)
            relations = (np.minimum(rng.zipf(1.3, count), 10**9) % 1_000).tolist()
            file.writelines(map(fact.format, heads, relations, tails))


def measure(code: str, *arguments: str) -> tuple[dict[str, float], str]:
    """Wall and CPU seconds, and peak memory in MB, of a process that runs `code`."""
    body = f"import sys, resource, json\n{code}\n" + (
        "u = resource.getrusage(resource.RUSAGE_SELF)\n"
        "print('USAGE', json.dumps([u.ru_utime + u.ru_stime, u.ru_maxrss / 1024]))"
    )
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", body, *arguments], capture_output=True, text=True)
    wall = time.perf_counter() - start
    if done.returncode:
        sys.exit(done.stderr)
    line = next(line for line in done.stdout.splitlines() if line.startswith("USAGE"))
    cpu, peak = json.loads(line.removeprefix("USAGE"))
    return {"wall_s": wall, "cpu_s": cpu, "peak_mb": peak}, done.stdout


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def main() -> None:
    """Print one table row a measurement."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--triples", type=int, default=500_000)
    options.add_argument("--peers-up-to", type=int, default=2_500_000, help="larger files are ours alone")
    options.add_argument("--formats", default="nt,ttl")
    options.add_argument("--named", action="store_true", help="identifiers with labels, as N-Triples")
    options.add_argument(
        "--folder", default=None, help="where the files are written; default a temporary one"
    )
    chosen = options.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        folder = Path(name)
        print("| format | triples | reader | triples/s (wall) | triples/CPU s | peak MB |")
        print("|---|---|---|---|---|---|")
        info: dict[str, dict[str, float]] = {}
        for suffix in ["nt"] if chosen.named else chosen.formats.split(","):
            path = folder / f"graph.{suffix}"
            (write_named if chosen.named else write)(path, chosen.triples)
            for reader, code in RUNS.items():
                if reader != "kgqa" and chosen.triples > chosen.peers_up_to:
                    continue
                form = {"nt": "nt11", "ttl": "turtle"}[suffix]
                used, _ = measure(code, str(path), str(folder / "store"), form)
                rates = (f"{chosen.triples / used[key]:,.0f}" for key in ("wall_s", "cpu_s"))
                row = [suffix, f"{chosen.triples:,}", reader, *rates, f"{used['peak_mb']:,.0f}"]
                print("| " + " | ".join(row) + " |", flush=True)
                mine = info.setdefault(reader, {"mb": 0})
                mine |= {
                    suffix: round(chosen.triples / used["cpu_s"]),
                    "mb": round(max(mine["mb"], used["peak_mb"])),
                }
            print(f"\nfile {path.stat().st_size / 1e9:.2f} GB, store {_size(folder / 'store') / 1e9:.2f} GB")
            info["kgqa"]["gb"] = round(_size(folder / "store") / 1e9, 2)
            path.unlink()
        used, output = measure(OPEN, str(folder / "store"))
        line = next(line for line in output.splitlines() if line.startswith("RESULT"))
        opening, question, resident = map(float, line.split()[1:])
        print(f"\nopening {opening * 1e3:.1f} ms; then 100 questions of 20 concepts and their neighbours:")
        print(f"{question * 1e3:.2f} ms each, {resident:,.0f} MB resident, {used['peak_mb']:,.0f} MB at most")
        for by, figures in info.items():
            print(json.dumps({"of": f"import of {chosen.triples:,} triples", "by": by, **figures}))


if __name__ == "__main__":
    main()

"""From cold to an answer: processor seconds of `kgqa ask` beside those of `import torch`.

    python training/bench/cold_start.py [--turns 5] [--model NAME]

Both are run in turn, each a process of its own with one thread, on a machine that does nothing else; the medians, their
ratio and the largest memory are printed as JSON. A first turn is left out: it compiles Python's files, as an installed
program's first run does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from statistics import median

from kgqa.settings import DEFAULT_READER

PASSAGE = "I want to plant flowers, so I dig the ground."
WAYS = {
    "import torch": ["-c", "import torch"],
    "kgqa ask": ["-m", "kgqa", "ask", "What do I dig with?", "--passage", PASSAGE, "--json"],
}


def measured(arguments: list[str]) -> tuple[float, float, str]:
    """Processor seconds and the most memory (MB) of a Python process, and what it printed."""
    program = [sys.executable, *arguments]
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    child = subprocess.Popen(program, stdout=subprocess.PIPE, env={**own, "OMP_NUM_THREADS": "1"})
    assert child.stdout is not None
    output = child.stdout.read().decode()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(program)}: ended with {child.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, output


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--model", default=DEFAULT_READER)
    given = parser.parse_args()
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    memory, answer = dict.fromkeys(WAYS, 0.0), None
    for turn in range(given.turns + 1):
        for way, arguments in WAYS.items():
            model = ["--model", given.model] if way == "kgqa ask" else []
            used, most, output = measured([*arguments, *model])
            if turn:
                seconds[way].append(used)
            memory[way] = max(memory[way], most)
            answer = json.loads(output)["answer"] if output else answer
    middle = {way: median(found) for way, found in seconds.items()}
    ratio = middle["kgqa ask"] / middle["import torch"]
    info = {way: {"processor_s": round(middle[way], 2), "memory_mb": round(memory[way])} for way in WAYS}
    print(json.dumps({**info, "ratio": round(ratio, 2), "turns": given.turns, "answer": answer}))


if __name__ == "__main__":
    main()

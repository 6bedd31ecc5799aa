"""What is killed, and what many ask at a time: is nothing left half, lost or mixed up?

    python training/bench/endurance.py [--kills 30] [--callers 100] [--seconds 60] [--one-by-one 0] [--seed 0]

Import, predict, train and serve are killed with SIGKILL at a random moment and looked at; import, predict and train run
into a full disk (a limit on the size of files and, where mounting is allowed, a small disk of their own); many callers
ask a service at a time, and one asks thousands of questions in a row, the same or all different. All over the reader of
random weights of `reliability.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from pathlib import Path

from faults.callers import ask_many, call, kill_services
from faults.full_disks import fill_disk, fill_small_disk
from faults.kills import kill_imports, kill_predictions, kill_trainings
from faults.writers import write_at_once, write_read_only
from reliability import SyntheticGraph

FILES = {
    "predict": kill_predictions,
    "train": kill_trainings,
    "writers": write_at_once,
    "read-only": write_read_only,
}
"""What is written while it is killed, by several at a time, or where nothing may be written."""


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
    options.add_argument(
        "--memory", type=int, default=0, help="different questions, to see what memory they leave"
    )
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--files", choices=[*FILES], nargs="+", help="only these, as often as --kills says")
    chosen = options.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import torch

    torch.set_num_threads(1)
    draw = random.Random(chosen.seed)
    faults: list[str] = []
    killed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        world = SyntheticGraph(Path(folder))
        for name in chosen.files or ():
            tried, wrong = FILES[name](world, chosen.kills, draw)
            faults += wrong
            print(json.dumps({"of": f"files: {name}", "tried": tried, "lost": len(wrong)}), flush=True)
        if chosen.files:
            print("\n".join(faults))
            sys.exit(bool(faults))
        for name, kill, times in (
            ("import", kill_imports, chosen.kills),
            ("predict", kill_predictions, chosen.kills),
            ("train", kill_trainings, chosen.kills // 3),
            ("serve", kill_services, chosen.kills // 3),
        ):
            kills, wrong = kill(world, times, draw)
            faults += wrong
            killed += kills
            print(f"{name}: {kills} kills, {len(wrong)} faults", flush=True)
        output = {"of": "SIGKILLs of import, predict, train, serve", "tried": killed, "lost": len(faults)}
        print(json.dumps(output))
        (limited, wrong), (small, more) = fill_disk(world), fill_small_disk(world)
        wrong += more
        faults += wrong
        print(f"full disk: {len(wrong)} faults", flush=True)
        print(json.dumps({"of": "full disks", "tried": limited + small, "lost": len(wrong)}))
        for callers, seconds, most in (
            (chosen.callers, chosen.seconds, 0),
            (1, float("inf"), chosen.one_by_one),
        ):
            if most or seconds < float("inf"):
                count, wrong = call(world, callers, seconds, most)
                faults += wrong
                print(f"{callers} callers: {dict(count)}, {len(wrong)} faults", flush=True)
                mixed = count["other than alone"] + sum("mixed up" in fault for fault in wrong)
                lost, mb = sum("lost" in fault for fault in wrong), count["MB at the end"]
                figures = {"tried": count["answered"], "lost": lost, "mixed": mixed, "mb": mb}
                print(json.dumps({"of": f"{callers} callers, {seconds:.0f} s", **figures}))
        if chosen.memory:
            count, wrong = ask_many(world, chosen.memory)
            faults += wrong
            print(f"memory: {dict(count)}, {len(wrong)} faults", flush=True)
            print(json.dumps({"of": "memory", "tried": count["answered"], "mb": count["MB at the end"]}))
    print("\n".join(faults))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()

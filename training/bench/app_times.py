"""What a visitor waits for, alone on the machine: the command's answer, the app's first one, and each click.

Run `python training/bench/app_times.py [--runs 3]`. Times are wall seconds; behind the commands' stands what they used
of the processors. A click is timed in the page, from it to the answer, and to its reasons being there.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import psutil

from apps.examples import gallery_of
from apps.screenshot import chromium, opened, served, settle

PASSAGE = "I want to plant flowers, so I dug the ground."
COMMANDS = {
    "kgqa ask": ("ask", "What did I dig with?", "--passage", PASSAGE),
    "an empty question": ("ask", "", "--passage", PASSAGE),
    "an unknown graph": ("ask", "What did I dig with?", "--graph", "nowhere.ttl"),
    "kgqa --version": ("--version",),
}
CLICK = """selector => new Promise(done => {
    const before = document.querySelector("[role=status]");
    if (before) before.dataset.before = "yes";
    const begin = performance.now();
    const seconds = () => (performance.now() - begin) / 1000;
    let answered = 0;
    const look = () => {
        if (document.querySelector("[role=status]:not([data-before])")) answered ||= seconds();
        const ended = document.querySelector("[data-testid=stApp]").dataset.testScriptState === "notRunning";
        answered && ended ? done([answered, seconds()]) : requestAnimationFrame(look);
    };
    document.querySelector(selector).click();
    look();
})"""


def command(arguments: tuple[str, ...]) -> tuple[float, float]:
    """Wall and CPU seconds of the command, from its start to its end."""
    before, begin = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-m", "kgqa", *arguments], capture_output=True, check=False)
    spent, after = time.perf_counter() - begin, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return spent, cpu


def clicks(language: str) -> tuple[float, list[tuple[float, float]]]:
    """Seconds from the app's start to its first answer, and from a click on each example to its answer and reasons."""
    names = [name for examples in gallery_of(language).values() for name in examples]
    begin = time.perf_counter()
    with served() as address, chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{address}/?lang={language}")
        page.locator(".st-key-example0 button").wait_for()
        settle(page)
        page.evaluate(CLICK, ".st-key-example0 button")
        first = time.perf_counter() - begin
        page.close()
        page = opened(browser, f"{address}/?lang={language}", 1440, 900)
        times = []
        for number in range(len(names)):
            times.append(page.evaluate(CLICK, f".st-key-example{number} button"))
            settle(page)
    return first, times


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    print(f"load average {psutil.getloadavg()[0]:.1f}, {psutil.cpu_count()} cores", flush=True)
    told: dict[str, float] = {}
    for name, arguments in COMMANDS.items():
        walls, cpus = zip(*(command(arguments) for _ in range(given.runs)), strict=True)
        print(f"{name}: {statistics.median(walls):.1f} s, CPU {statistics.median(cpus):.1f} s", flush=True)
        told[{"kgqa ask": "ask", "an empty question": "refused"}.get(name, name)] = statistics.median(walls)
    firsts, times = zip(*map(clicks, ("en", "ko")), strict=True)
    print(f"app from its start to its first answer: {' and '.join(f'{first:.1f}' for first in firsts)} s")
    told["app"] = statistics.mean(firsts)
    for what, spent in zip(("click", "reasons"), zip(*sum(times, []), strict=True), strict=True):
        told[what] = statistics.median(spent)
        told[f"{what}95"] = sorted(spent)[min(len(spent) - 1, round(0.95 * len(spent)))]
    print(json.dumps({name: round(value, 2) for name, value in told.items()}))


if __name__ == "__main__":
    main()

"""What a visitor waits for, alone on the machine: the command's answer, the app's first one, and each click.

Run `python training/bench/app_times.py [--runs 3] [--languages en ko] [--limit N]`. Times are wall seconds; behind the
commands' stands what they used of the processors. A click is timed in the page, from it to a first sign that something
is done, to the answer, and to its reasons being there. The targets: 0.3 s from a click to the answer in the middle,
1.5 s to the first paint, 0.2 s to a sign at most.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the app and this folder are beside the package
from apps.examples import gallery_of
from training.bench.screenshots import chromium, opened, served, settle

PASSAGE = "I want to plant flowers, so I dug the ground."
COMMANDS = {
    "kgqa ask": ("ask", "What did I dig with?", "--passage", PASSAGE),
    "an empty question": ("ask", "", "--passage", PASSAGE),
    "an unknown graph": ("ask", "What did I dig with?", "--graph", "nowhere.ttl"),
    "kgqa --version": ("--version",),
}
SIGN = """const sign = () => document.querySelector(
        "[data-testid=stApp][data-test-script-state=running],[role=progressbar],[data-testid=stSpinner],g.edge.taken");"""
"""Whether the page shows that it works."""
ACTIONS = {
    "": (".st-key-without button", "g.edge[id^=f]", ".st-key-undo_all button", ".st-key-mattered button"),
    "own": (".st-key-sample_beekeeping button", ".st-key-test_graph button", ".st-key-suggested0 button"),
    "learn": (".st-key-sentence1 button", "[data-testid=stFormSubmitButton] button"),
    "batch": ("[data-testid=stSidebar] [data-testid=stButtonGroup] button:not([data-selected=true])",),
}
"""What is clicked on each page, to see how long nothing shows that it was."""
SHOWN = """selector => new Promise(done => {
    SIGN
    const begin = performance.now();
    const look = () => sign() ? done((performance.now() - begin) / 1000) : requestAnimationFrame(look);
    document.querySelector(selector).dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
    look();
})""".replace("SIGN", SIGN)
PAINT = """() => performance.getEntriesByName("first-contentful-paint")[0].startTime / 1000"""
CLICK = """selector => new Promise(done => {
    SIGN
    let seen = 0;
    const before = document.querySelector("[role=status]");
    if (before) before.dataset.before = "yes";
    const begin = performance.now();
    const seconds = () => (performance.now() - begin) / 1000;
    let answered = 0;
    const look = () => {
        if (sign()) seen ||= seconds();
        if (document.querySelector("[role=status]:not([data-before])")) answered ||= seconds();
        const ended = document.querySelector("[data-testid=stApp]").dataset.testScriptState === "notRunning";
        answered && ended ? done([seen || answered, answered, seconds()]) : requestAnimationFrame(look);
    };
    document.querySelector(selector).click();
    look();
})""".replace("SIGN", SIGN)


def command(arguments: tuple[str, ...]) -> tuple[float, float]:
    """Wall and CPU seconds of the command, from its start to its end."""
    before, begin = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-m", "kgqa", *arguments], capture_output=True, check=False)
    spent, after = time.perf_counter() - begin, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return spent, cpu


class Times(NamedTuple):
    """Seconds from the app's start to its first answer, to the first paint of a page, from a click on each example to
    a sign, the answer and its reasons, and from each of `ACTIONS` to a sign."""

    first: float
    paints: list[float]
    clicks: list[tuple[float, float, float]]
    signs: list[float]


def clicks(language: str, limit: int | None = None) -> Times:
    """The times of the app in a language, over the first `limit` examples."""
    names = [name for examples in gallery_of(language).values() for name in examples][:limit]
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
        paints, signs = [page.evaluate(PAINT)], []
        for path, selectors in ACTIONS.items():
            if path:
                page = opened(browser, f"{address}/{path}?lang={language}", 1440, 900)
                paints.append(page.evaluate(PAINT))
            else:
                page.evaluate(CLICK, ".st-key-example0 button")
                settle(page)
                page.locator(".st-key-more summary").click()
            for selector in selectors:
                if page.locator(selector).count():
                    signs.append(page.evaluate(SHOWN, selector))
                    print(f"a sign {signs[-1]:.2f} s after a click on {selector}", flush=True)
                    settle(page)
    return Times(first, paints, times, signs)


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="of each command")
    parser.add_argument("--languages", nargs="+", default=["en", "ko"], help="of the app")
    parser.add_argument("--limit", type=int, help="click on the first N examples; default: all")
    given = parser.parse_args()
    print(f"load average {psutil.getloadavg()[0]:.1f}, {psutil.cpu_count()} cores", flush=True)
    info: dict[str, float] = {}
    spent: dict[str, Sequence[float]]
    for name, arguments in COMMANDS.items():
        walls, cpus = zip(*(command(arguments) for _ in range(given.runs)), strict=True)
        print(f"{name}: {statistics.median(walls):.1f} s, CPU {statistics.median(cpus):.1f} s", flush=True)
        info[{"kgqa ask": "ask", "an empty question": "refused"}.get(name, name)] = statistics.median(walls)
    found = [clicks(language, given.limit) for language in given.languages]
    print(
        f"app from its start to its first answer: {' and '.join(f'{times.first:.1f}' for times in found)} s"
    )
    info["app"] = statistics.mean(times.first for times in found)
    spent = dict(
        zip(
            ("sign", "click", "reasons"), zip(*(c for t in found for c in t.clicks), strict=True), strict=True
        )
    )
    spent["sign"] = [*spent["sign"], *(sign for times in found for sign in times.signs)]
    spent["paint"] = [paint for times in found for paint in times.paints]
    for what, seconds in spent.items():
        info[what] = statistics.median(seconds)
        info[f"{what}95"] = sorted(seconds)[min(len(seconds) - 1, round(0.95 * len(seconds)))]
    info["sign_longest"] = max(spent["sign"])
    print(json.dumps({name: round(value, 2) for name, value in info.items()}))


if __name__ == "__main__":
    main()

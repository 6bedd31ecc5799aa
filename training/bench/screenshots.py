"""The README's three pictures, taken from the running app with a headless Chromium.

Run `python training/bench/screenshots.py`. With `FOLDER [WIDTH-SCHEME-LANGUAGE ...]` it takes every page instead, to be
looked at: in all `VIEWS`, or in those named, as 390-dark-ko.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the app is beside the package
from apps.views.batch import SAMPLE

APPS = Path(__file__).parents[2] / "apps"
PICTURES = tuple(APPS / f"screenshot{part}.png" for part in ("", "_graph", "_phone"))
"""A question answered, a custom graph, and the answer on a dark phone."""
EXAMPLE = "build a house"
PAGES = ("first", "ask", "own", "batch", "compare", "learn", "about")
HEIGHTS = {"1440": 900, "820": 1180, "390": 844}
VIEWS = tuple("-".join(parts) for parts in product(HEIGHTS, ("light", "dark"), ("en", "ko")))
COLOURS = 128
START_S = 300


def main(given: Sequence[str]) -> None:
    """Serve the app and take the requested pictures."""
    with served() as address, chromium() as browser:
        if given:
            folder = Path(given[0])
            folder.mkdir(parents=True, exist_ok=True)
            for view in given[1:] or VIEWS:
                look(browser, address, view, folder)
        else:
            for_the_readme(browser, address)


def for_the_readme(browser: Any, address: str) -> None:
    """Take `PICTURES`."""
    answer, graph, phone = PICTURES
    page = opened(browser, f"{address}/", 1280, 960)
    ask_example(page)
    taken(page, answer)
    page = opened(browser, f"{address}/own", 1280, 1300)
    open_beekeeping(page)
    taken(page, graph)
    page = opened(browser, f"{address}/", 390, 844, "dark")
    ask_example(page)
    taken(page, phone)


def look(browser: Any, address: str, view: str, folder: Path) -> None:
    """Take every page in one view, at full height."""
    width, scheme, language = view.split("-")
    for name in PAGES:
        path = "" if name in ("first", "ask") else name
        page = opened(browser, f"{address}/{path}?lang={language}", int(width), HEIGHTS[width], scheme)
        if name == "ask":
            page.locator(".st-key-example1 button").click()
            page.locator("svg g.node").first.wait_for()
        elif name == "own":
            open_beekeeping(page)
        elif name == "batch":
            file = {"name": "questions.csv", "mimeType": "text/csv", "buffer": SAMPLE.encode()}
            page.locator("input[type=file]").set_input_files(file)
            page.locator("button[kind=primary]").click()
            page.locator("[data-testid=stMetric]").first.wait_for()
        taken(page, folder / f"{name}-{view}.png", whole=True)


def ask_example(page: Any) -> None:
    """Ask `EXAMPLE` and wait for the picture of its facts."""
    page.get_by_role("button", name=EXAMPLE).click()
    page.locator("svg g.node").first.wait_for()


def open_beekeeping(page: Any) -> None:
    """Open the sample graph."""
    page.locator(".st-key-sample_beekeeping button").click()
    page.locator(".st-key-suggested0").wait_for()


def opened(browser: Any, url: str, width: int, height: int, scheme: str = "light") -> Any:
    """A tab with a page of the app."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.set_default_timeout(1000 * START_S)
    page.goto(url)
    page.locator("h1").first.wait_for()
    settle(page)
    return page


def settle(page: Any) -> None:
    """Wait until the script has ended and the layout is stable, since tables and charts are drawn later."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    page.locator("[data-testid=stSkeleton],[data-stale=true]").first.wait_for(state="detached")
    page.wait_for_timeout(1500)


def taken(page: Any, target: Path, whole: bool = False) -> None:
    """Save a picture of the window without the sidebar; with `whole`, of the full page."""
    settle(page)
    if page.viewport_size["width"] > 1023:  # folded already on what is narrower
        page.get_by_test_id("stSidebar").hover()  # its button appears only on hover
        page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
        page.mouse.move(0, page.viewport_size["height"] - 1)
        settle(page)
    if whole:  # an inner element scrolls, so that full-page pictures of the browser do not work
        height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        page.set_viewport_size({"width": page.viewport_size["width"], "height": min(int(height), 6000)})
        settle(page)
    page.screenshot(path=target)
    page.close()
    smaller(target)
    print(f"{target}: {target.stat().st_size // 1000} kB", flush=True)


def smaller(picture: Path) -> None:
    """Save a picture with fewer colours."""
    from PIL import Image

    with Image.open(picture) as image:
        image.convert("RGB").quantize(COLOURS).save(picture, optimize=True)


@contextmanager
def served() -> Iterator[str]:
    """Serve the app on a free port; its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    server = subprocess.Popen([sys.executable, "-m", "apps.serve", "--port", str(port), "--headless"])
    try:
        _wait(f"{address}/_stcore/health")
        yield address
    finally:
        server.terminate()
        server.wait(20)


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


def _wait(url: str) -> None:
    for _ in range(START_S * 4):
        try:
            urllib.request.urlopen(url, timeout=1)
            return
        except OSError:
            time.sleep(0.25)
    raise SystemExit(f"{url}: the app did not start in {START_S} s")


if __name__ == "__main__":
    main(sys.argv[1:])

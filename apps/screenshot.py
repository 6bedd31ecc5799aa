"""`python -m apps.screenshot [FILE]`: the README's picture, taken from the running app with a headless Chromium."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

TARGET = Path(__file__).with_name("screenshot.png")
EXAMPLE = "build a house"
COLOURS = 256
START_S = 120


def main(target: Path = TARGET) -> None:
    """Serve the app, ask the example, and write what a visitor sees."""
    from playwright.sync_api import sync_playwright

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--port", str(port), "--headless"]
    server = subprocess.Popen([sys.executable, "-m", "apps.serve", *options])
    try:
        _wait(f"http://127.0.0.1:{port}/_stcore/health")
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 2250}, color_scheme="light")
            page.set_default_timeout(1000 * START_S)
            page.goto(f"http://127.0.0.1:{port}")
            page.get_by_role("button", name=EXAMPLE).click()
            page.locator("svg g.node").first.wait_for()
            page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
            page.get_by_test_id("stSidebar").hover()  # the button hides until then
            page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
            page.mouse.move(0, 1700)
            page.wait_for_timeout(1000)  # the last transitions
            page.screenshot(path=target)
            browser.close()
        smaller(target)
    finally:
        server.terminate()
        server.wait(20)
    print(f"{target}: {target.stat().st_size // 1000} kB")


def smaller(picture: Path) -> None:
    """Save a picture with fewer colours."""
    from PIL import Image

    with Image.open(picture) as image:
        image.convert("RGB").quantize(COLOURS).save(picture, optimize=True)


def _wait(url: str) -> None:
    for _ in range(START_S * 4):
        try:
            urllib.request.urlopen(url, timeout=1)
            return
        except OSError:
            time.sleep(0.25)
    raise SystemExit(f"{url}: the app did not start in {START_S} s")


if __name__ == "__main__":
    main(*(Path(name) for name in sys.argv[1:2]))

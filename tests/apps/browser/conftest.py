"""The app, served with the shipped reader and graph, once for all tests, and a Chromium that opens it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.tab import CHROMIUM

from kgqa.settings import DEFAULT_READER, MODELS

START_S = 300


@pytest.fixture(scope="session")
def opinions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the app keeps what visitors think of answers."""
    return tmp_path_factory.mktemp("opinions") / "feedback.jsonl"


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory, opinions: Path) -> Iterator[str]:
    """Where the app is served, on a port of its own, with the shipped reader and graph."""
    if not (MODELS / DEFAULT_READER).exists() and "KGQA_MODEL" not in os.environ:
        pytest.skip("no shipped reader here: train one with training/recipes/answer/kgqa-base.toml")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "apps.serve", "--port", str(port), "--headless"]
    folder = tmp_path_factory.mktemp("app")
    written, reader = folder / "app.log", folder / "reader"
    # by another name the smaller one does not stand in for it where it is slow
    reader.symlink_to(MODELS / DEFAULT_READER)
    with written.open("w") as log:
        environment = {"KGQA_MODEL": str(reader)} | os.environ | {"KGQA_FEEDBACK": str(opinions)}
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    try:
        for _ in range(START_S * 4):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1)
                break
            except OSError:
                assert server.poll() is None, written.read_text()
                time.sleep(0.25)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait(20)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One Chromium for a file of tests; while it is open, no other event loop can be run here."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is in the extra [dev]")
    with sync_api.sync_playwright() as play:
        alone = ["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer"]  # nothing here needs WebGL
        opened = play.chromium.launch(executable_path=CHROMIUM, args=alone)
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A tab for the app; at its end no request went elsewhere and the console is free of errors."""
    elsewhere: list[str] = []
    errors: list[str] = []

    def asked(request: Any) -> None:
        if urlsplit(request.url).hostname not in ("127.0.0.1", None):
            elsewhere.append(request.url)

    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.set_default_timeout(120_000)
    tab.on("request", asked)
    tab.on("websocket", asked)
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("dialog", lambda dialog: errors.append(f"dialog {dialog.message}"))
    tab.on("console", lambda output: errors.append(output.text) if output.type == "error" else None)
    yield tab
    tab.close()
    assert not elsewhere and not errors

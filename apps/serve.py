"""`python -m apps.serve`: load the reader before the app is served, so that nobody waits for the first answer."""

from __future__ import annotations

import argparse
import logging
import os
import socket
import sys
import threading
import time
import urllib.request
import webbrowser
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
READY_S = 120
KOREAN_AFTER_S = 30


def main(arguments: list[str] | None = None) -> None:
    """Serve the app until it is stopped. Input errors end with one line and exit code 2."""
    parser = argparse.ArgumentParser(prog="python -m apps.serve", description="Serve the app.")
    parser.add_argument("--port", type=int, default=8501)
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--headless", action="store_true", help="open no browser")
    given = parser.parse_args(arguments)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # spinning threads slow every other process down
    # a second thread hardly speeds up one answer, but slows down the next visitor's
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    logging.getLogger("streamlit").setLevel(logging.ERROR)  # it would warn that no page is open yet
    from kgqa.types import InputError

    try:
        check_free(given.address, given.port)
        print("Opening the reader and the graph ...", file=sys.stderr, flush=True)
        from apps.resources import pair

        pair("en")  # the first screen; other languages are computed when they are shown
    except InputError as error:
        print(f"kgqa: {error}", file=sys.stderr)
        sys.exit(2)
    url = url_of(given.address, given.port)
    korean = threading.Timer(KOREAN_AFTER_S, prepare, ("ko",))  # it would slow the first visitor down
    korean.daemon = True
    korean.start()
    opens = not given.headless and has_display()
    threading.Thread(target=announce, args=(url, opens), daemon=True).start()
    from streamlit.web import cli

    sys.argv = ["streamlit", *streamlit_arguments(given.address, given.port)]
    sys.exit(cli.main())


def prepare(language: str) -> None:
    """Compute the first screen's answers in a language, unless its analyser is not installed: then the page says so."""
    from apps.resources import pair
    from kgqa.types import InputError

    with suppress(InputError):
        pair(language)


def streamlit_arguments(address: str, port: int) -> list[str]:
    """Streamlit's options: no prompt for an e-mail, no telemetry, no lookup of the external address."""
    options = {
        "server.port": port,
        "server.address": address,
        # else the first start asks for an e-mail address, and fails without a terminal
        "server.headless": "true",
        "browser.gatherUsageStats": "false",
        "logger.level": "error",
        "logger.hideWelcomeMessage": "true",  # it would ask a third party for this machine's external address
    }
    script = str(Path(__file__).with_name("asgi.py" if find_spec("streamlit.starlette") else "main.py"))
    return ["run", script, *(word for name, value in options.items() for word in (f"--{name}", str(value)))]


def check_free(address: str, port: int) -> None:
    """Check that the app can listen there, before anything is loaded. Raises InputError if the port is taken or not
    allowed, or the address is not one of this machine.
    """
    from kgqa.types import InputError

    try:
        with socket.create_server(
            (address, port), family=socket.AF_INET6 if ":" in address else socket.AF_INET
        ):
            pass
    except (OSError, OverflowError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).partition(" (")[0].rstrip(".")
        raise InputError(
            f"{address}, port {port}: cannot listen there ({reason}); name another with --port"
        ) from None


def url_of(address: str, port: int) -> str:
    """The URL of the app for a browser on this machine."""
    host = ANYWHERE.get(address, address)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def has_display() -> bool:
    """Whether a window can be opened here."""
    from kgqa.settings import setting

    return sys.platform in {"darwin", "win32"} or bool(setting("DISPLAY") or setting("WAYLAND_DISPLAY"))


def announce(url: str, opens: bool) -> None:
    """Wait until the app responds, print its URL, and open it in a browser if requested."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(READY_S * 10):
        try:
            direct.open(f"{url}/_stcore/health", timeout=1).close()
            break
        except OSError:
            time.sleep(0.1)
    print(f"kgqa is at {url} (stop it with Ctrl-C)", file=sys.stderr, flush=True)
    if opens:
        webbrowser.open(url)


if __name__ == "__main__":
    main()

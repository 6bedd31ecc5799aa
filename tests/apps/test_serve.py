import os
import socket
import subprocess
import sys
from typing import Any

import pytest

from apps.serve import announce, check_free, has_display, main, prepare, streamlit_arguments, url_of
from kgqa.types import InputError


def test_a_missing_reader_ends_in_one_line_and_code_2() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "apps.serve", "--port", str(free_port())],
        env={**os.environ, "KGQA_MODEL": "missing", "KGQA_GRAPH": "everyday"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stderr.strip().splitlines()
    assert done.returncode == 2 and lines[-1].startswith("kgqa: missing") and "Traceback" not in done.stderr


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_a_taken_port_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match="--port") as caught:
            check_free("127.0.0.1", taken.getsockname()[1])
    assert "\n" not in str(caught.value) and str(caught.value).count("127.0.0.1") == 1
    with pytest.raises(InputError, match="port 99999"):
        check_free("127.0.0.1", 99_999)
    with pytest.raises(InputError, match=r"192\.0\.2\.1"):
        check_free("192.0.2.1", 8501)
    check_free("127.0.0.1", free_port())


def test_streamlit_asks_for_nothing_and_tells_nobody() -> None:
    """Not headless, a first start asks for an e-mail and ends with an error where there is no terminal."""
    arguments = streamlit_arguments("127.0.0.1", 8501)
    for name, value in (
        ("server.headless", "true"),
        ("browser.gatherUsageStats", "false"),
        ("logger.hideWelcomeMessage", "true"),
    ):
        assert arguments[arguments.index(f"--{name}") + 1] == value


def test_a_browser_is_opened_only_where_there_is_a_display(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("apps.serve.webbrowser.open", opened.append)
    monkeypatch.setattr("apps.serve.READY_S", 0)
    announce("http://127.0.0.1:1", opens=False)
    assert not opened and "http://127.0.0.1:1" in capsys.readouterr().err
    announce("http://127.0.0.1:1", opens=True)
    assert opened == ["http://127.0.0.1:1"]
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert not has_display()
    monkeypatch.setenv("DISPLAY", ":0")
    assert has_display()


@pytest.mark.parametrize(
    ("address", "url"),
    [("127.0.0.1", "http://127.0.0.1:1"), ("0.0.0.0", "http://127.0.0.1:1"), ("::", "http://[::1]:1")],
)
def test_where_the_app_is(address: str, url: str) -> None:
    assert url_of(address, 1) == url


def test_only_the_first_screen_is_computed_before_a_visitor_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []
    later: list[tuple[Any, ...]] = []

    class Timer:
        def __init__(self, *waits: Any) -> None:
            later.append(waits)

        def start(self) -> None:
            pass

    for name, stand_in in (
        ("apps.resources.pair", computed.append),
        ("apps.serve.threading.Timer", Timer),
        ("apps.serve.READY_S", 0),
        ("streamlit.web.cli.main", lambda: 0),
        ("sys.argv", ["kgqa"]),
        ("os.environ", dict(os.environ)),
    ):
        monkeypatch.setattr(name, stand_in)
    with pytest.raises(SystemExit):
        main(["--port", str(free_port()), "--headless"])
    ((seconds, work, given),) = later
    assert computed == ["en"] and seconds > 10
    work(*given)
    assert computed == ["en", "ko"]


def test_a_language_without_its_analyser_ends_in_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def pair(language: str) -> None:
        raise InputError("Korean is read with Kiwi, which is not installed")

    monkeypatch.setattr("apps.resources.pair", pair)
    prepare("ko")


def test_the_command_hands_its_options_on(monkeypatch: pytest.MonkeyPatch) -> None:
    import runpy

    from typer.testing import CliRunner

    from kgqa.cli.main import app

    ran: dict[str, Any] = {}
    monkeypatch.setattr(sys, "argv", ["kgqa"])
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(
        runpy, "run_module", lambda name, run_name: ran.update(name=name, argv=list(sys.argv))
    )
    done = CliRunner().invoke(app, ["app", "--port", "8600", "--headless"])
    assert done.exit_code == 0 and ran["name"] == "apps.serve"
    assert ran["argv"][1:] == ["--port", "8600", "--address", "127.0.0.1", "--headless"]

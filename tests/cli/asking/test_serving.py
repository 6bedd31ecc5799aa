import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from kgqa.cli.asking.serving import need, read_keys
from kgqa.serving.client import Client
from kgqa.types import InputError


def test_keys_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("# for the shop\n0123456789abcdef\n\n")
    assert read_keys(path) == ("0123456789abcdef",) and read_keys(None) == ()
    for content in ("", "short\n"):
        path.write_text(content)
        with pytest.raises(InputError, match="no key"):
            read_keys(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_keys(tmp_path)


def test_a_missing_library_names_its_extra() -> None:
    with pytest.raises(InputError, match=r"kgqa\[serve\]"):
        need("no_such_library", "serve")


def test_a_service_of_two_processes_answers_and_stops_when_told(model_folder: Path, tools_file: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "kgqa", "serve", "--port", str(port), "--processes", "2"]
    command += ["--model", str(model_folder), "--graph", str(tools_file)]
    running = subprocess.Popen(
        command, stderr=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"}, text=True
    )
    try:
        url = f"http://127.0.0.1:{port}"
        until = time.monotonic() + 240  # two processes that import torch on a machine that may be busy
        while time.monotonic() < until:
            try:
                urllib.request.urlopen(f"{url}/ready", timeout=5)
                break
            except OSError:
                assert running.poll() is None
                time.sleep(0.2)
        found = Client(url, timeout_s=60).answer("What did I dig with?", "I plant flowers.")
        assert found["model"] == "toy"
        running.send_signal(signal.SIGTERM)
        _, log = running.communicate(timeout=60)
    finally:
        running.kill()
    rows = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert any(row.get("path") == "/v1/answer" and row["status"] == 200 for row in rows)
    assert running.returncode in (0, -signal.SIGTERM) and "Traceback" not in log

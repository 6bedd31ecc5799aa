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

from kgqa.cli.ask import ask
from kgqa.cli.serve import load_answerers, need, read_keys, serve, serve_app
from kgqa.qa.answerer import Answerer
from kgqa.serving.remote import Client
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


def test_what_cannot_be_served_is_refused_before_anything_is_opened(
    model_folder: Path, tools_file: Path
) -> None:
    there = {"model": [str(model_folder)], "graph": [str(tools_file)]}
    for given, output in (
        ({"language": "xx"}, "unsupported language"),
        ({"device": "tpu"}, "unknown device"),
        ({"model": ["kgqa-bas"]}, "did you mean 'kgqa-base'"),
        ({"graph": ["missing.ttl"]}, "no such graph"),
        ({"host": "no.such.host.invalid"}, "choose another --host or --port"),
    ):
        with pytest.raises(InputError, match=output):
            serve(**{**there, **given})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not a reader"):
        serve_app(reader=["nothing"])


@pytest.mark.parametrize("processes", [1, 2])
def test_a_graph_that_cannot_be_opened_ends_the_service_with_a_line_and_a_code(
    model_folder: Path, tmp_path: Path, processes: int
) -> None:
    path = tmp_path / "broken.ttl"
    path.write_text("<a> <b> nonsense .")
    command = [sys.executable, "-m", "kgqa", "serve", "--port", "0", "--model", str(model_folder)]
    command += ["--graph", str(path), "--processes", str(processes)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert ended.returncode == 2 and "Traceback" not in ended.stderr, ended.stderr
    lines = ended.stderr.splitlines()
    assert "broken.ttl" in ended.stderr and len([row for row in lines if row.startswith("kgqa: ")]) <= 2
    assert processes == 2 or (len(lines) == 2 and "broken.ttl" in lines[1] and lines[1].startswith("kgqa: "))


def test_a_service_that_is_interrupted_says_that_it_has_stopped(
    model_folder: Path, tools_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("uvicorn.Server.run", interrupted)
    serve(graph=[str(tools_file)], model=[str(model_folder)], port=0)
    assert capsys.readouterr().err.endswith("kgqa: stopped\n")


def test_a_service_is_asked_and_its_answer_printed_as_one_that_is_found_here(
    model_folder: Path, tools_file: Path, served, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("What plants flowers?", "", None, str(tools_file), str(model_folder))
    ask(*asked)
    here = capsys.readouterr().out
    with served(Answerer.load(str(model_folder), str(tools_file), device="cpu")) as url:
        ask("What plants flowers?", server=url)
        assert capsys.readouterr().out == here and "trowel is used for" in here
        reported = {}
        for full in (False, True):
            ask("What plants flowers?", server=url, as_json=True, full=full)
            reported[full] = json.loads(capsys.readouterr().out)
    assert "subgraph" not in reported[False]["evidence"] and reported[True]["evidence"]["subgraph"]["nodes"]
    assert (
        reported[False]["answer"] == reported[True]["answer"]
        and reported[False]["reason"] == reported[True]["reason"]
    )


def test_two_graphs_of_one_name_are_refused(model_folder: Path, tools_file: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / tools_file.name
    other.write_bytes(tools_file.read_bytes())
    (one,) = load_answerers([str(model_folder)], [str(tools_file)] * 2, "cpu", "auto").items()
    assert one[0] == (one[1].name, one[1].graph.name) == ("toy", "tools")
    with pytest.raises(InputError, match="tools: given twice"):
        load_answerers([str(model_folder)], [str(tools_file), str(other)], "cpu", "auto")


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

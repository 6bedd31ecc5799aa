"""What the container's files say is done here without an image: the same packages, the same commands."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
import tomllib
import urllib.request
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest

from training.experiments.sparql_server import Server

ROOT = Path(__file__).parent.parent
CONTAINERFILE = (ROOT / "Containerfile").read_text(encoding="utf-8")
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    yaml = pytest.importorskip("yaml")
    found: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))[
        "services"
    ]
    return found


def test_the_image_holds_both_packages_and_all_that_they_are_built_of() -> None:
    (line,) = [
        row for row in CONTAINERFILE.splitlines() if "constraints.txt " in row and "pip install" in row
    ]
    reported = shlex.split(line.partition("pip install")[2])
    extras = re.fullmatch(r"\.\[(.*)\]", reported[-2])
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras and set(extras[1].split(",")) == {"app", "serve", "base"} <= set(declared)
    assert reported[-1] == "./training/models" and (ROOT / reported[-1] / "pyproject.toml").is_file()
    rows = re.findall(r"^COPY (?!--)(.*) \S+$", CONTAINERFILE, flags=re.MULTILINE)
    copied = {name for row in rows for name in row.split()}
    listed = re.search(r"SHIPPED = \((.*?)\)", (ROOT / "setup.py").read_text(), flags=re.DOTALL)
    shipped = re.findall(r'"([\w/.-]+)"', listed[1] if listed else "")
    assert shipped and all(any(f"{name}/".startswith(f"{c}/") for c in copied) for name in shipped)


def test_an_example_is_loaded_before_the_endpoint_serves_it(services: dict[str, dict[str, Any]]) -> None:
    load, server, service = services["load"], services["oxigraph"], services["service"]
    assert load["command"][:3] == ["load", *server["command"][1:3]]
    host, _, inside = (
        next(v for v in load["volumes"] if v.startswith("./")).removesuffix(":ro").partition(":")
    )
    assert (ROOT / host / Path(load["command"][-1]).relative_to(inside)).is_file()
    assert server["depends_on"]["load"]["condition"] == "service_completed_successfully"
    port = server["command"][-1].rpartition(":")[2]
    assert f"http://oxigraph:{port}/query" in service["command"]


def test_the_service_answers_with_kgqa_base_over_graph_and_endpoint(
    services: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    store = pyoxigraph.Store()
    store.load(
        path=str(ROOT / "graph_data" / "examples" / "beekeeping.ttl"), format=pyoxigraph.RdfFormat.TURTLE
    )
    endpoint = Server(store)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    command = [
        part.replace("http://oxigraph:7878/query", endpoint.url) for part in services["service"]["command"]
    ]
    command = ["127.0.0.1" if part == "0.0.0.0" else part for part in command]
    running = subprocess.Popen(
        [sys.executable, "-m", "kgqa", *command, "--port", "0"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stderr is not None
        url = ""
        while not url:
            line = running.stderr.readline()
            assert line, running.wait()
            url = "".join(re.findall(r"http://127\.0\.0\.1:\d+", line))
        body = ready(url)
        assert body["reader"] == "kgqa-base" and body["graph"] == "everyday"
        graphs = [row["name"] for row in asked(f"{url}/v1/graphs")["graphs"]]
        assert len(graphs) == 2
        question = {"question": "What calms the bees?", "graph": graphs[1]}
        assert asked(f"{url}/v1/answer", question)["answer"] == "smoker"
    finally:
        running.terminate()
        running.wait(60)
        endpoint.shutdown()


def ready(url: str) -> dict[str, Any]:
    until = time.monotonic() + 300
    while time.monotonic() < until:
        try:
            return asked(f"{url}/ready")
        except OSError:
            time.sleep(1)
    raise AssertionError("the service does not get ready")


def asked(url: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, content, {"Content-Type": "application/json"})
    with DIRECT.open(request, timeout=60) as response:
        found: dict[str, Any] = json.load(response)
        return found

"""Importing, as a user runs it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from graph_commands import refused, run
from sparql_server import serve

from kgqa.graph.formats.sparql_client import authorisation
from kgqa.graph.storage.store import GraphStore


def test_several_sources_become_one_graph(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("used for\ttrowel\tdig\n")
    (tmp_path / "b.nt").write_text("<http://x/a> <http://x/r> <http://x/b> .\n")
    sources = [str(tmp_path / "a.tsv"), str(tmp_path / "b.nt")]
    manifest = json.loads(run("import", *sources, "--out", str(tmp_path / "g"), "--name", "both", "--json"))
    assert (manifest["name"], manifest["edges"], len(manifest["sources"])) == ("both", 2, 2)
    assert "no such" in refused("import", str(tmp_path / "none.ttl"), "--out", str(tmp_path / "h")).lower()


def test_get_from_disk(tmp_path: Path) -> None:
    line = '/a/[/r/UsedFor/]\t/r/UsedFor\t/c/en/trowel\t/c/en/dig\t{"weight": 2.0}\n'
    (tmp_path / "dump.csv").write_text(line)
    source, out = str(tmp_path / "dump.csv"), str(tmp_path / "g")
    manifest = json.loads(run("get", "conceptnet", "--from", source, "--out", out, "--json"))
    assert manifest["edges"] == 1
    assert "CC BY-SA 4.0" in manifest["licence"] and "ConceptNet" in manifest["credit"]
    assert "conceptnet or wordnet" in refused("get", "freebase", "--out", out)


def test_a_killed_import_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "long.tsv").write_text("".join(f"r\ta{i}\tb{i}\n" for i in range(400_000)))
    command = [sys.executable, "-m", "kgqa", "graph", "import", str(tmp_path / "long.tsv")]
    started = subprocess.Popen([*command, "--out", str(tmp_path / "out" / "g")], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir()):
        assert time.monotonic() < deadline and started.poll() is None
        time.sleep(0.01)
    started.send_signal(signal.SIGTERM)
    _, output = started.communicate(timeout=60)
    assert started.returncode == 130, output
    assert list((tmp_path / "out").iterdir()) == []


def test_login_and_graph_choice_are_for_endpoints(tmp_path: Path) -> None:
    out = str(tmp_path / "g")
    with serve('<http://x/g> { <http://x/a> <http://x/r> "b", "c" . }') as server:
        server.login = authorisation("ann:secret")["Authorization"]
        assert "401" in refused("import", server.url, "--out", out)
        asked = ["import", server.url, "--out", out, "--login", "ann:secret", "--named-graph"]
        assert json.loads(run(*asked, "http://x/g", "--json"))["edges"] == 2
        assert "no facts" in refused(*asked, "http://x/none")
        assert "NAME: VALUE" in refused("import", server.url, "--out", out, "--header", "nothing")
    (tmp_path / "a.tsv").write_text("used for\ttrowel\tdig\n")
    assert "endpoints" in refused("import", str(tmp_path / "a.tsv"), "--out", out, "--login", "a:b")


def test_the_folder_is_named_like_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "people.csv").write_text("no,name,job\n7,Ann Tarn,miller\n8,Bo Lind,baker\n")
    manifest = json.loads(run("import", "files/people.csv", "--id", "name", "--json"))
    assert (
        manifest["name"] == "people" and GraphStore.open(tmp_path / "people").edge_count == manifest["edges"]
    )
    assert "--out" in refused("import", "http://127.0.0.1:1/sparql")

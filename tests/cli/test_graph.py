"""The graph commands, called as a user calls them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.sparql_server import serve
from typer.testing import CliRunner

from kgqa.cli.graph import graph_app, print_json, print_table, show_manifest
from kgqa.graph.formats import FORMATS
from kgqa.graph.formats.sparql_client import authorisation
from kgqa.graph.relation_types import is_type_relation
from kgqa.graph.storage.store import GraphStore
from kgqa.graph.storage.writer import write_store
from kgqa.types import InputError, Triple


def run(*arguments: str) -> str:
    """What a command that succeeds prints."""
    result = CliRunner().invoke(graph_app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments: str) -> str:
    """The one line with which a command refuses its input."""
    result = CliRunner().invoke(graph_app, list(arguments))
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)


GARDEN = """@prefix ex: <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:trowel rdfs:label "trowel"@en ; ex:usedFor ex:digBed ; ex:isA ex:tool .
ex:spade rdfs:label "spade"@en ; ex:isA ex:tool .
"""


@pytest.fixture
def garden(tmp_path: Path) -> str:
    (tmp_path / "garden.ttl").write_text(GARDEN)
    run("import", str(tmp_path / "garden.ttl"), "--out", str(tmp_path / "garden"))
    return str(tmp_path / "garden")


def test_import_and_info(garden: str) -> None:
    assert json.loads(run("info", garden, "--json"))["edges"] == 3
    assert "3 facts, 4 concepts" in run("info", garden)


def test_search(garden: str) -> None:
    rows = json.loads(run("search", "the trowels", "--graph", garden, "--json"))
    assert rows == [{"name": "http://x/trowel", "label": "trowel", "degree": 2}]
    assert "http://x/trowel" in run("search", "trowel", "-g", garden)
    assert "no concept of garden" in refused("search", "piano", "-g", garden)
    assert "did you mean 'trowel'" in refused("search", "trowell", "-g", garden)
    assert "did you mean 'spade'" in refused("search", "a spade of steel", "-g", garden)


def test_neighbours(garden: str) -> None:
    rows = json.loads(run("neighbours", "trowel", "-g", garden, "--json"))
    assert {row["tail"]["label"] for row in rows} == {"dig bed", "tool"}
    rows = json.loads(run("neighbours", "http://x/trowel", "-g", garden, "--relation", "usedFor", "--json"))
    assert [row["tail"]["name"] for row in rows] == ["http://x/digBed"]
    assert "dig bed" in run("neighbours", "trowel", "-g", garden)
    assert "kgqa graph info" in refused("neighbours", "piano", "-g", garden)


def test_path(garden: str) -> None:
    assert "trowel --is a--> tool <--is a-- spade" in run("path", "trowel", "spade", "-g", garden)
    (steps,) = json.loads(run("path", "trowel", "spade", "-g", garden, "--json"))
    assert [step["forward"] for step in steps] == [True, False]
    assert "no path" in run("path", "spade", "dig bed", "-g", garden, "--hops", "1")


def test_what_cannot_be_asked_is_said_in_a_line(garden: str, tmp_path: Path) -> None:
    assert "text is empty" in refused("search", " ", "-g", garden)
    assert "text is empty" in refused("neighbours", "", "-g", garden)
    assert "did you mean 'used for'" in refused("neighbours", "trowel", "-g", garden, "--relation", "use for")
    assert "same concept" in refused("path", "trowel", "trowel", "-g", garden)
    assert "name the file" in refused("info", str(tmp_path))
    (tmp_path / "bad.ttl").write_text("<http://x/a> <http://x/b> <http://x/c> .\n<http://x/a> ; .\n")
    assert "bad.ttl:2:" in refused("info", str(tmp_path / "bad.ttl"))
    assert "no response" in refused("info", "http://127.0.0.1:9/sparql")


def test_export(garden: str, tmp_path: Path) -> None:
    for name, row in FORMATS.items():
        for suffix in (row.suffixes or ("",)) if row.write else ():  # without one, the format is named
            out = tmp_path / f"out{suffix}"
            run("export", garden, "--out", str(out), *(() if suffix else ("--format", name, "--overwrite")))
            assert out.stat().st_size
    assert "unknown format" in refused("export", garden, "--out", str(tmp_path / "out.pdf"))
    assert "import it first" in refused("export", "http://127.0.0.1:9/", "--out", str(tmp_path / "o.ttl"))


def test_info_says_what_to_ask() -> None:
    harbour = str(Path(__file__).parents[1] / "graphs" / "harbour.ttl")
    output = json.loads(run("info", harbour, "--json"))
    assert len(output["questions"]) == 3 and output["types"]["Fishing Trawler"] == 2
    assert "suggested question: " in run("info", harbour)


# What is printed.


MANIFEST = {
    "name": "garden",
    "hash": "ab",
    "edges": 1200,
    "entities": 3,
    "labels": 4,
    "languages": ["", "en", "ko"],
    "graphs": [""],
    "self_loops_dropped": 2,
    "skipped": {"empty list": 1},
    "relations": [{"name": f"r{i}", "label": f"r {i}", "words": "", "count": i} for i in range(31)],
    "warnings": ["one hub"],
}


def test_letters_stay_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"label": "모종삽"})
    out = capsys.readouterr().out
    assert "모종삽" in out and json.loads(out)


def test_empty_columns_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["label", "from"], [["[bold]x", ""], ["y", ""]])
    out = capsys.readouterr().out
    assert "from" not in out and "[bold]x" in out


def test_a_manifest_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    show_manifest(MANIFEST, Path("there"), as_json=False)
    output = capsys.readouterr()
    assert "there: 1,200 facts, 3 concepts" in output.out and "languages: en, ko" in output.out
    assert "left out: empty list (1)\nleft out: fact from a concept to itself (2)\n" in output.out
    assert "and 1 more relations" in output.out and output.err == "warning: one hub\n"


def test_an_endpoint(capsys: pytest.CaptureFixture[str]) -> None:
    show_manifest({"name": "there", "holds_facts": False}, None, as_json=False)
    assert "default graph is empty" in capsys.readouterr().out


def test_what_is_set_is_kept_and_shown(tmp_path: Path) -> None:
    folder = str(tmp_path / "store")
    write_store([Triple("bee", "art", "insect"), Triple("bee", "mass", '"90 mg"')], folder)
    reported = run("describe", folder, "--relation", "art", "--type", "is-a, subclass-of", "--open-world")
    assert "is-a, subclass-of" in reported and "may be true" in reported and "in mg" in reported
    graph = GraphStore.open(folder)
    assert not graph.closed_world and any(map(is_type_relation, graph.relations))
    assert "is-a, subclass-of" in run("info", folder)
    assert "may be true" not in run("describe", folder, "--closed-world")
    run("describe", folder, "--relation", "ART", "--type", "")
    assert not any(map(is_type_relation, GraphStore.open(folder).relations))
    assert "no relation" in refused("describe", folder, "--relation", "size", "--type", "kind")
    assert "unknown relation type" in refused("describe", folder, "--relation", "art", "--type", "sort")


# Importing, as a user runs it.


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

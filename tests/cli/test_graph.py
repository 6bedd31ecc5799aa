"""The graph commands, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from graph_commands import refused, run

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
    for name in ("out.ttl", "out.graphml", "out.json"):
        run("export", garden, "--out", str(tmp_path / name))
        assert (tmp_path / name).stat().st_size
    assert "unknown format" in refused("export", garden, "--out", str(tmp_path / "out.pdf"))
    assert "import it first" in refused("export", "http://127.0.0.1:9/", "--out", str(tmp_path / "o.ttl"))


def test_info_says_what_to_ask() -> None:
    harbour = str(Path(__file__).parents[1] / "graphs" / "harbour.ttl")
    output = json.loads(run("info", harbour, "--json"))
    assert len(output["questions"]) == 3 and output["types"]["Fishing Trawler"] == 2
    assert "suggested question: " in run("info", harbour)

"""Several sources become one store, with where they came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.graph.storage.importing import import_graph, is_url
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError


def test_two_files(tmp_path: Path) -> None:
    words = '<http://x/r> <https://kgqa.org/ontology#words> "goes to"@en .\n'
    licence = "<http://x/> <http://purl.org/dc/terms/license> <http://x/cc0> .\n"
    (tmp_path / "a.ttl").write_text(
        words + licence + "<http://x/a> <http://x/r> [ <http://x/r> <http://x/b> ] ."
    )
    (tmp_path / "b.ttl").write_text("<http://x/a> <http://x/r> [ <http://x/r> <http://x/c> ], 3 .")
    manifest = import_graph([tmp_path / "a.ttl", tmp_path / "b.ttl"], tmp_path / "g")
    assert manifest["entities"] == 4  # what has no name gives its facts to whoever has it
    assert manifest["licence"] == "http://x/cc0"
    assert [source["file"] for source in manifest["sources"]] == ["a.ttl", "b.ttl"]
    assert not manifest["skipped"]
    assert "goes to" in {relation.words for relation in GraphStore.open(tmp_path / "g").relations}


def test_a_broken_second_file_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text("<http://x/a> <http://x/r> <http://x/b> .\n")
    (tmp_path / "b.nt").write_text("<http://x/a> oops .\n")
    with pytest.raises(InputError, match=r"b\.nt:1:14"):
        import_graph([tmp_path / "a.nt", tmp_path / "b.nt"], tmp_path / "out" / "g")
    assert list((tmp_path / "out").iterdir()) == []


def test_is_url() -> None:
    assert is_url("https://x/sparql")
    assert not is_url("a.ttl")

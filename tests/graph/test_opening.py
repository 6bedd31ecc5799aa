"""A graph is opened by name, folder, file or address; a file is compiled once."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.graph.opening import cache_folder, open_graph
from kgqa.graph.sparql import SparqlGraph
from kgqa.graph.store import GraphStore, write_store
from kgqa.types import InputError, Triple

FACT = "<http://x/a> <http://x/r> <http://x/b> .\n"


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("KGQA_GRAPHS", str(tmp_path / "shipped"))
    (tmp_path / "shipped").mkdir()


def test_file_is_compiled_once(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text(FACT)
    first = open_graph(tmp_path / "a.nt")
    (folder,) = cache_folder().iterdir()
    written = (folder / "manifest.json").stat().st_mtime_ns
    assert open_graph(str(tmp_path / "a.nt")).hash == first.hash
    assert (folder / "manifest.json").stat().st_mtime_ns == written
    assert first.name == "a"
    (tmp_path / "a.nt").write_text(FACT * 2 + FACT.replace("/b", "/c"))
    assert open_graph(tmp_path / "a.nt").hash != first.hash


def test_damaged_cache_is_compiled_again(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text(FACT)
    open_graph(tmp_path / "a.nt")
    (folder,) = cache_folder().iterdir()
    (folder / "edge_tail.bin").write_bytes(b"")
    graph = open_graph(tmp_path / "a.nt")
    assert isinstance(graph, GraphStore) and graph.edge_count == 1


def test_by_name_and_by_folder(tmp_path: Path) -> None:
    (tmp_path / "shipped" / "garden.ttl").write_text(FACT)
    write_store([Triple("a", "r", "b")], tmp_path / "shipped" / "kitchen")
    assert open_graph("garden").name == "garden"
    assert open_graph("kitchen").name == "kitchen"
    assert open_graph(tmp_path / "shipped" / "kitchen").name == "kitchen"


def test_no_such_graph() -> None:
    with pytest.raises(InputError, match="did you mean 'everyday'"):
        open_graph("everday")


def test_address() -> None:
    assert isinstance(open_graph("http://127.0.0.1:9/sparql"), SparqlGraph)

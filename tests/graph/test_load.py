"""A graph is opened by name, folder, file or address; a file is compiled once."""

from __future__ import annotations

import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kgqa.graph import load
from kgqa.graph.load import open_graph
from kgqa.graph.sparql import SparqlGraph
from kgqa.graph.storage import relation_names
from kgqa.graph.storage.import_graph import import_graph
from kgqa.graph.storage.store import GraphStore
from kgqa.graph.storage.writer import write_store
from kgqa.settings import cache_folder
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
    (folder,) = cache_folder("graphs").iterdir()
    written = (folder / "manifest.json").stat().st_mtime_ns
    assert open_graph(str(tmp_path / "a.nt")).hash == first.hash
    assert (folder / "manifest.json").stat().st_mtime_ns == written
    assert first.name == "a"
    (tmp_path / "a.nt").write_text(FACT * 2 + FACT.replace("/b", "/c"))
    assert open_graph(tmp_path / "a.nt").hash != first.hash


def test_a_file_is_compiled_again_once_the_code_that_compiles_it_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.nt").write_text(FACT)
    first = open_graph(tmp_path / "a.nt")
    monkeypatch.setattr(load, "relation_types", load.linking)  # as if its text were another
    assert open_graph(tmp_path / "a.nt").hash == first.hash
    assert len(list(cache_folder("graphs").iterdir())) == 2


def test_a_file_is_compiled_again_once_a_relation_is_worded_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.tsv").write_text("head\trelation\ttail\ntrowel\tUsedFor\tplant flowers\n")
    table = tmp_path / "relations.toml"
    shutil.copy(load.RELATIONS, table)
    monkeypatch.setattr(load, "RELATIONS", table)
    monkeypatch.setattr(relation_names, "RELATIONS", table)
    assert [relation.words for relation in open_graph(tmp_path / "a.tsv").relations] == ["is used for"]
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace('words = "is used for"', 'words = "serves to"'), encoding="utf-8")
    assert [relation.words for relation in open_graph(tmp_path / "a.tsv").relations] == ["serves to"]
    assert len(list(cache_folder("graphs").iterdir())) == 2


def test_a_file_opened_many_times_at_once_is_compiled_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.nt").write_text(FACT)
    started: list[object] = []

    def slowly(sources: list[Path], folder: Path, *limits: object, **settings: Any) -> dict[str, Any]:
        started.append(sources)
        time.sleep(0.2)
        return import_graph(sources, folder, **settings)

    monkeypatch.setattr(load, "import_sandboxed", slowly)
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(lambda _: open_graph(tmp_path / "a.nt"), range(8)))
    assert len({graph.hash for graph in opened}) == len(started) == 1


def test_a_cache_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.nt").write_text(FACT)
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "taken"))
    with pytest.raises(InputError, match="cannot write here"):
        open_graph(tmp_path / "a.nt")


def test_damaged_cache_is_compiled_again(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text(FACT)
    open_graph(tmp_path / "a.nt")
    (folder,) = cache_folder("graphs").iterdir()
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


def test_a_folder_without_a_graph_says_so_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="without a graph.*kgqa graph import SOURCE") as caught:
        open_graph(tmp_path)
    assert "Errno" not in str(caught.value) and "\n" not in str(caught.value)
    (tmp_path / "b.ttl").write_text(FACT)
    with pytest.raises(InputError, match=r"name the file: .*b\.ttl"):
        open_graph(tmp_path)


def test_a_damaged_manifest_says_so(tmp_path: Path) -> None:
    for text in ("{}", "[1", ""):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(InputError, match=r"manifest\.json: damaged \(.*make the graph again"):
            open_graph(tmp_path)


@pytest.mark.parametrize("name", ["", "  ", "x" * 5000, "a\x00b", "ftp://host/graph"])
def test_no_name_of_a_graph(name: str) -> None:
    with pytest.raises(InputError) as caught:
        open_graph(name)
    assert len(str(caught.value)) < 300 and str(caught.value).isprintable()


def test_a_pipe_is_no_graph(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "slow.ttl")
    with pytest.raises(InputError, match="not a regular file"):
        open_graph(tmp_path / "slow.ttl")


SCHEMA_ALONE = "@prefix kgqa: <https://kgqa.org/ontology#> . kgqa:a kgqa:b 3 .\n"


@pytest.mark.parametrize("text", ["", "# nothing\n", SCHEMA_ALONE])
def test_a_file_without_facts_leaves_nothing_behind(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.ttl").write_text(text)
    with pytest.raises(
        InputError, match="no facts between concepts.*; give facts of head, relation and tail"
    ):
        open_graph(tmp_path / "a.ttl")
    assert not cache_folder("graphs").exists() or not list(cache_folder("graphs").iterdir())


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    for name in ("a.ttl", "a.nt", "a.tsv"):
        text = "r\ta\tb\n" if name == "a.tsv" else FACT
        (tmp_path / name).write_text("\ufeff" + text, encoding="utf-8")
        graph = open_graph(tmp_path / name)
        assert isinstance(graph, GraphStore) and graph.edge_count == 1


def test_a_folder_of_sources_stands_for_what_is_built_of_it(tmp_path: Path) -> None:
    (tmp_path / "garden").mkdir()
    (tmp_path / "garden" / "tools.txt").write_text("trowel\n  ko: 모종삽\n")
    (tmp_path / "garden.ttl").write_text(FACT)
    assert open_graph(tmp_path / "garden").hash == open_graph(tmp_path / "garden.ttl").hash


def test_files_that_describe_a_graph_are_no_graphs() -> None:
    with pytest.raises(InputError, match="known by name") as refusal:
        open_graph("nothing of the kind")
    assert "everyday" in str(refusal.value)
    for name in ("ontology", "shapes"):
        assert name not in str(refusal.value)
        with pytest.raises(InputError, match="no such graph"):
            open_graph(name)

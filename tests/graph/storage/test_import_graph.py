"""Several sources become one store, with where they came from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgqa.graph.storage.import_graph import import_graph, import_sandboxed, is_url
from kgqa.graph.storage.store import GraphStore
from kgqa.limits.sandbox import SandboxLimits
from kgqa.types import InputError

pytestmark = pytest.mark.usefixtures("imported_in_child")


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


def test_a_file_is_imported_in_a_child_as_ever(tools_file: Path, tmp_path: Path) -> None:
    heard: list[str] = []
    manifest = import_sandboxed(
        [tools_file], tmp_path / "store", name="tools", progress=lambda stage, _: heard.append(stage)
    )
    assert manifest["name"] == "tools" and GraphStore.open(tmp_path / "store").edge_count == manifest["edges"]
    assert "reading" in heard


def test_what_is_wrong_with_a_file_is_heard_outside(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("ex:a ex:b")
    with pytest.raises(InputError, match=r"a\.ttl:1"):
        import_sandboxed([tmp_path / "a.ttl"], tmp_path / "store")


@pytest.mark.parametrize(
    "sandbox_limits", [SandboxLimits(memory_bytes=100 << 20), SandboxLimits(time_s=0.01)]
)
def test_a_reader_without_memory_or_time_ends_in_one_line(
    sandbox_limits: SandboxLimits, tools_file: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"tools\.ttl") as caught:
        import_sandboxed([tools_file], tmp_path / "out" / "store", sandbox_limits)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_nested_json_ld_is_refused(tmp_path: Path) -> None:
    nested: object = "end"
    for _ in range(400):
        nested = {"@list": [nested]}
    path = tmp_path / "deep.jsonld"
    path.write_text(json.dumps({"@id": "http://a/b", "http://a/p": nested}))
    with pytest.raises(InputError, match="nested over"):
        import_sandboxed([path], tmp_path / "store")


def test_a_chain_of_terms_that_exhausts_the_parser_leaves_nothing(tmp_path: Path) -> None:
    terms = {f"a{n}": {"@id": f"a{n + 1}:x"} for n in range(20_000)}
    (tmp_path / "a.jsonld").write_text(json.dumps({"@context": terms, "@id": "http://a/b", "a0": "c"}))
    with pytest.raises(InputError, match="exhausts its reader") as caught:
        import_sandboxed([tmp_path / "a.jsonld"], tmp_path / "out" / "store", SandboxLimits(0, 0))
    assert "\n" not in str(caught.value) and not list((tmp_path / "out").iterdir())

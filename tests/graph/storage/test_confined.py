import json
from pathlib import Path

import pytest

from kgqa.graph.storage.confined import import_confined
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError


def test_a_file_is_imported_as_ever(tools_file: Path, tmp_path: Path) -> None:
    manifest = import_confined([tools_file], tmp_path / "store", "tools")
    assert manifest["name"] == "tools" and GraphStore.open(tmp_path / "store").edge_count == manifest["edges"]


def test_what_is_wrong_with_a_file_is_heard_outside(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("ex:a ex:b")
    with pytest.raises(InputError, match=r"a\.ttl:1"):
        import_confined([tmp_path / "a.ttl"], tmp_path / "store")


def test_a_reader_without_memory_or_time_ends_in_one_line(tools_file: Path, tmp_path: Path) -> None:
    for limits in ({"memory_bytes": 100 << 20}, {"time_s": 0.01}):
        with pytest.raises(InputError, match="tools.ttl") as caught:
            import_confined([tools_file], tmp_path / "store", **limits)
        assert "\n" not in str(caught.value) and not (tmp_path / "store").exists()


def test_nested_json_ld_is_refused(tmp_path: Path) -> None:
    nested: object = "end"
    for _ in range(400):
        nested = {"@list": [nested]}
    path = tmp_path / "deep.jsonld"
    path.write_text(json.dumps({"@id": "http://a/b", "http://a/p": nested}))
    with pytest.raises(InputError, match="nested over"):
        import_confined([path], tmp_path / "store")

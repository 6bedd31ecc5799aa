"""WordNet's database files."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from kgqa.graph.formats.tsv import is_wordnet
from kgqa.graph.storage.import_graph import import_graph
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError

NOUNS = (
    "  1 This software and database is being provided to you\n"
    "00000100 06 n 02 garden_trowel 0 trowel 0 002 @ 00000200 n 0000 ~ 00000300 n 0000 | a small spade\n"
    "00000200 06 n 01 hand_tool 0 000 | a tool used with the hand\n"
)
VERBS = (
    "00000300 35 v 01 dig 0 001 @ 00000400 v 0000 01 + 08 00 | turn up\n"
    "00000400 35 v 01 turn 0 000 00 | move\n"
)


def archive(path: Path, nouns: str = NOUNS) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, text in (("dict/data.noun", nouns), ("dict/data.verb", VERBS), ("dict/index.noun", "x")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return path


def test_archive(tmp_path: Path) -> None:
    path = archive(tmp_path / "wn3.1.dict.tar.gz")
    assert is_wordnet(path) and not is_wordnet(tmp_path / "a.nt.gz")
    manifest = import_graph([path], tmp_path / "g")
    assert (manifest["edges"], manifest["skipped"]) == (2, {"inverse or usage pointer": 1})
    graph = GraphStore.open(tmp_path / "g")
    assert graph.labels(graph.find(["trowel", "dig"])[0]) == ["garden trowel"]
    assert [relation.name for relation in graph.relations] == ["IsA", "MannerOf"]


def test_broken(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"data\.noun:1: not a WordNet synset"):
        import_graph([archive(tmp_path / "a.tar.gz", "nonsense\n")], tmp_path / "g")
    (tmp_path / "b.tar.gz").write_bytes(b"no archive")
    with pytest.raises(InputError, match="damaged"):
        import_graph([tmp_path / "b.tar.gz"], tmp_path / "g")

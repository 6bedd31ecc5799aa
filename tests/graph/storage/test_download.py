"""Downloads are resumed and their size is checked; a file on disk needs no network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.web import Quiet, running

from kgqa.graph.storage.import_graph import Official, download
from kgqa.types import InputError

CONTENT = b"0123456789" * 100


class Files(Quiet):
    def do_GET(self) -> None:
        start = int(self.headers.get("Range", "bytes=0-")[6:-1])
        size = str(len(CONTENT) - start)
        self.reply(206 if start else 200, CONTENT[start:], **{"Content-Length": size})


@pytest.fixture
def url() -> Iterator[str]:
    with running(Files) as address:
        yield f"{address}/graph.csv"


@pytest.mark.parametrize("have", [0, 300])
def test_download_and_resume(tmp_path: Path, url: str, have: int) -> None:
    if have:
        (tmp_path / "graph.csv.part").write_bytes(CONTENT[:have])
    path = download(Official(url, "", "", 1000, 1000), tmp_path)
    assert path.read_bytes() == CONTENT
    assert [file.name for file in tmp_path.iterdir()] == ["graph.csv"]


def test_wrong_size(tmp_path: Path, url: str) -> None:
    with pytest.raises(InputError, match="not a plausible size"):
        download(Official(url, "", "", 10, 20), tmp_path)


def test_nobody_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--from FILE"):
        download(Official("http://127.0.0.1:9/x", "", "", 1, 2), tmp_path)

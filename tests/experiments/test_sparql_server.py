"""An endpoint over a file: as it is where a parser reads it, else from its store."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.graph.load import open_graph
from kgqa.graph.sparql import SparqlGraph
from training.experiments.sparql_server import serve


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "farm.ttl",
            '<http://e/t> <http://www.w3.org/2000/01/rdf-schema#label> "trowel" ; <http://e/for> <http://e/d> .',
        ),
        ("farm.tsv", "head\trelation\ttail\ntrowel\tused for\tdigging\n"),
    ],
)
def test_a_file_is_asked_through_an_endpoint(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with serve(path, open_graph(path)) as url:
        graph = SparqlGraph(url)
        (found,) = graph.find(["trowel"])
        assert len(found) == 1
        assert len(graph.neighbours(found).head) == 1

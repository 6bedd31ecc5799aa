"""Concepts bear the labels of another language where they have one."""

from __future__ import annotations

import numpy as np
import pytest

from kgqa.graph.load import open_graph
from kgqa.trainer.data.generated import OtherLabels
from kgqa.types import Example, InputError, Question, Subgraph

TURTLE = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix : <https://example.org/> .
:dig rdfs:label "dig"@en ; :with :trowel .
:trowel rdfs:label "trowel"@en, "모종삽"@ko .
"""


@pytest.fixture
def labels(tmp_path):  # type: ignore[no-untyped-def]
    (tmp_path / "tools.ttl").write_text(TURTLE, encoding="utf-8")
    return OtherLabels(open_graph(str(tmp_path / "tools.ttl")), "ko")


def test_labels_and_answers(labels: OtherLabels) -> None:
    nodes = tuple(labels.graph.names(np.arange(labels.graph.entity_count or 0)))
    called = tuple(labels.graph.labels(np.arange(len(nodes))))
    found = labels.of_subgraph(Subgraph(nodes=nodes, labels=called)).labels
    assert dict(zip(called, found, strict=True)) == {"dig": "dig", "trowel": "모종삽"}
    example = labels.of_example(Example(Question("What with?"), concepts=("trowel", "spoon")))
    assert example.concepts == ("trowel", "spoon", "모종삽")


def test_only_a_store_tells_the_languages_of_labels() -> None:
    class Endpoint:
        name = "endpoint"

    with pytest.raises(InputError, match="import it first"):
        OtherLabels(Endpoint(), "ko")  # type: ignore[arg-type]

"""schema.org's context is known without the network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgqa.graph.formats import read_source
from kgqa.graph.formats.rdf import with_context
from kgqa.graph.formats.source_files import Tally
from kgqa.types import InputError

SHOP = {"@type": "Bakery", "@id": "http://x/shop", "name": "Mill Lane", "founder": {"@id": "http://x/otto"}}


@pytest.mark.parametrize(
    "address", ["https://schema.org", "http://schema.org/", ["https://schema.org", {"x": "http://x/"}]]
)
def test_schema_org_is_known(tmp_path: Path, address: object) -> None:
    (tmp_path / "a.jsonld").write_text(json.dumps({"@context": address, **SHOP}))
    (batch,) = read_source(tmp_path / "a.jsonld", Tally())
    assert ("http://x/shop", "https://schema.org/founder", "http://x/otto") in zip(
        batch.heads, batch.relations, batch.tails, strict=True
    )
    assert [label.text for label in batch.labels] == ["Mill Lane"]


def test_any_other_context_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonld").write_text(json.dumps({"@context": "http://x/schema.org/context", **SHOP}))
    assert with_context(tmp_path / "a.jsonld") is None
    with pytest.raises(InputError, match="nothing is downloaded"):
        list(read_source(tmp_path / "a.jsonld", Tally()))


def test_what_is_no_json_is_left_to_the_parser(tmp_path: Path) -> None:
    (tmp_path / "a.jsonld").write_text('{"@context": "https://schema.org"')
    assert with_context(tmp_path / "a.jsonld") is None


def test_half_a_letter_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonld").write_text(
        json.dumps({"@context": "https://schema.org", **SHOP, "name": "\ud800"})
    )
    with pytest.raises(InputError, match="a.jsonld"):
        list(read_source(tmp_path / "a.jsonld", Tally()))

"""XML built to exhaust its reader is refused before it is read."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kgqa.graph.formats import rdf as markup
from kgqa.graph.formats.rdf import check_markup
from kgqa.types import InputError

LAUGHS = '<?xml version="1.0"?>\n<!DOCTYPE r [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]>\n<r>&b;</r>'
OUTSIDE = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<r>&a;</r>'
LONG = f'<!DOCTYPE r [<!ENTITY a "{"x" * 2000}">]>\n<r>&a;</r>'


@pytest.mark.parametrize(
    ("text", "output"),
    [
        (LAUGHS, r":2:\d+: entity 'b'"),
        (OUTSIDE, "is external"),
        (LONG, "very long"),
        ("<r>" * 2000 + "</r>" * 2000, "nested"),
        ("<r>\n<s></r>", ":2:6: not RDF/XML here: mismatched tag"),
        ("", "no element found"),
        ('<?xml version="1.0" encoding="UTF-7"?><r/>', "multi-byte encodings are not supported"),
    ],
)
def test_refused(tmp_path: Path, text: str, output: str) -> None:
    (tmp_path / "a.rdf").write_text(text)
    with pytest.raises(InputError, match=output) as caught:
        check_markup(tmp_path / "a.rdf")
    assert "\n" not in str(caught.value)


def test_namespaces_as_entities_are_fine(tmp_path: Path) -> None:
    (tmp_path / "a.rdf").write_text(
        '<!DOCTYPE r [<!ENTITY owl "http://www.w3.org/2002/07/owl#">]>\n<r a="&owl;"/>'
    )
    check_markup(tmp_path / "a.rdf")


@pytest.mark.parametrize("unit", ["<a/>", '<a b="" c="" d=""/>'])
def test_an_archive_of_elements_that_multiply_is_refused_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    monkeypatch.setattr(markup, "FREE_PARTS", 20_000)
    text = f"<r>{unit * 200_000}</r>".encode()
    (tmp_path / "a.rdf.gz").write_bytes(gzip.compress(text))
    with pytest.raises(InputError, match="over 10 elements and attributes per compressed byte; decompress"):
        check_markup(tmp_path / "a.rdf.gz")
    (tmp_path / "a.rdf").write_bytes(text)
    check_markup(tmp_path / "a.rdf")

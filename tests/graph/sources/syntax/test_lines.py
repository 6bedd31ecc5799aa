"""N-Triples in pieces: what the fast way reads is what the parser reads."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa.graph.sources.syntax import lines
from kgqa.graph.sources.syntax.lines import read_lines

PLAIN = "<http://x/a> <http://x/r> <http://x/é> .\n<urn:b> <http://x/r> <http://x/a> .\n"


def test_plain_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_bytes(PLAIN.encode())
    ((line, piece, columns),) = read_lines(path)
    assert line == 0
    assert columns == (
        ["http://x/a", "urn:b"],
        ["http://x/r", "http://x/r"],
        ["http://x/é", "http://x/a"],
    )
    parsed = list(pyoxigraph.parse(piece, format=pyoxigraph.RdfFormat.N_TRIPLES))
    assert [quad.object.value for quad in parsed] == list(columns[2])


@pytest.mark.parametrize(
    "line",
    [
        '<http://x/a> <http://x/r> "text" .',
        "_:a <http://x/r> <http://x/a> .",
        "<a> <http://x/r> <http://x/a> .",
        "<http://x/a> <http://x/r> <http://x/a>",
        "<http://x/\\u00e9> <http://x/r> <http://x/a> .",
        "# note",
        "<urn:a> <urn:r> <urn:b> <urn:g> .\n<urn:a> <urn:r> .",
        "<urn:a>  <urn:r> <urn:b>.",
        "<urn:a> <urn:r> <urn:b c> .",
        "<urn:a> <urn:r>\t<urn:b> .",
        "<urn:a> <urn:r> <urn:b> .\r",
        "<urn:a>x <urn:r> <urn:b> .",
        "<urn:a> x<urn:r> <urn:b> .",
        "<urn:a> <urn:r> <urn:b> . ",
        "<urn:a> <urn:r> <urn:b> x",
        "<urn:a> <urn:r> <urn:b> ..",
        "x<urn:a> <urn:r> <urn:b> .",
        "<urn:a> <urn:r>. <urn:b>",
        "<urn:a><urn:r> <urn:b>  .",
        "<> <urn:r> <urn:b> .",
        "<http://:x/a> <urn:r> <urn:b> .",
        "<urn:a[b]> <urn:r> <urn:b> .",
        "<urn:a%zz> <urn:r> <urn:b> .",
        "<urn:a#b#> <urn:r> <urn:b> .",
        "<http://@@x/a> <urn:r> <urn:b> .",
        "<urn:a\x7f> <urn:r> <urn:b> .",
        "<urn:a\x85> <urn:r> <urn:b> .",
        "<urn:a\ue000> <urn:r> <urn:b> .",
        "<urn:a\U0001fffe> <urn:r> <urn:b> .",
        "",
    ],
)
def test_anything_else_is_for_the_parser(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.nt").write_text(PLAIN + line + "\n")
    ((_, _, columns),) = read_lines(tmp_path / "a.nt")
    assert columns is None


NOISE = "<> .\n:/%[]@?#ax1\r\t\x7f\x85\u00a0\u00e9\u2028\ue000\ufdd0\ufeff\ufffe\U0001fffe"


@given(st.text(alphabet=NOISE, max_size=30), st.integers(0, 60))
def test_what_is_cut_apart_is_what_is_parsed(noise: str, place: int) -> None:
    text = PLAIN[:place] + noise + PLAIN[place:]
    piece = text.encode()
    columns = lines._columns(piece, piece.count(b"\n"))
    if columns is not None:
        parsed = list(pyoxigraph.parse(piece, format=pyoxigraph.RdfFormat.N_TRIPLES))
        assert [(q.subject.value, q.predicate.value, q.object.value) for q in parsed] == list(
            zip(*columns, strict=True)
        )


def test_pieces_end_at_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "PIECE", 60)
    (tmp_path / "a.nt").write_text("".join(f"<urn:a> <urn:r> <urn:{i}> .\n" for i in range(9)))
    found = list(read_lines(tmp_path / "a.nt"))
    assert [tail for _, _, columns in found if columns for tail in columns[2]] == [
        f"urn:{i}" for i in range(9)
    ]
    assert [start for start, _, _ in found] == [0, 2, 4, 6]

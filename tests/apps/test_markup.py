import pytest

from apps.markup import annotated, bars, escaped, listed, mentions, plain
from kgqa.types import Link, NodeRole, Span, Subgraph


def test_text_with_a_span_and_linked_concepts() -> None:
    text = "I <b>plant</b> flowers"
    output = annotated(text, [(5, 10, 'a "plant"'), (15, 22, "flower")], Span(8, 18))
    assert "<b>" not in output and 'title="a &quot;plant&quot;"' in output and output.count("<mark") == 1
    assert output.count("<span") == 4  # a concept that the span cuts is underlined on both sides
    assert annotated("", []) == ""


def test_longer_mentions_hide_those_inside() -> None:
    links = tuple(Link(NodeRole.PASSAGE, *at) for at in ((0, 5, 0), (0, 13, 1), (6, 13, 2), (20, 24, 0)))
    graph = Subgraph(labels=("plant", "plant flowers", "flower"), links=links)
    text = "plant flowers, then bulb"
    assert mentions(graph, NodeRole.PASSAGE, text) == [(0, 13, "plant flowers"), (20, 24, "plant")]
    assert mentions(graph, NodeRole.QUESTION, text) == []
    ending = Subgraph(labels=("break",), links=(Link(NodeRole.PASSAGE, 1, 3, 0),))
    assert mentions(ending, NodeRole.PASSAGE, "안나는 책을 읽었다.") == []


@pytest.mark.parametrize(
    "evil", ["**b**", "[a](b)", "<i>", ":red[x]", "$x$", "`c`", "# h", "a\n# b", "~~s~~"]
)
def test_markdown_stays_text(evil: str) -> None:
    output = plain(evil)
    assert "\n" not in output
    assert not any(c in output.replace("\\" + c, "") for c in "*[]<>$`#~")


def test_an_address_can_be_copied() -> None:
    assert plain("http://x/rel; say").replace("\\", "") == "http://x/rel; say"
    assert ":\u2060smile:" in plain(":smile:") and ":\u2060material" in plain(":material/hive:")


def test_bars_and_lists_escape() -> None:
    output = bars([("<i>", 0.5, "<u>"), ("b", -2.0, "")]) + listed(["<script>"]) + escaped("a\0<")
    assert "<i>" not in output and "<u>" not in output and "<script>" not in output and "\0" not in output
    assert "width:50.0%" in output and "width:100.0%" in output

"""An answer in a notebook: headline, marked passage, and the path of facts as a picture."""

from __future__ import annotations

from xml.etree import ElementTree

from kgqa.notebook import LONGEST
from kgqa.types import Answer, Evidence, EvidencePath, Question, Source, Span

SVG = "{http://www.w3.org/2000/svg}"


def test_the_span_is_marked_and_every_text_is_escaped() -> None:
    asked = Question("Who?", passage="<b>Ann</b> & Bo rang.")
    answer = Answer(asked, "<b>Ann", Source.PASSAGE, 0.5, evidence=Evidence(span=Span(0, 6)))
    shown = answer._repr_html_()
    assert "<mark>&lt;b&gt;Ann</mark>&lt;/b&gt; &amp; Bo rang." in shown
    assert "<b>&lt;b&gt;Ann</b>" in shown and "passage, confidence 50%" in shown and "<svg" not in shown


def test_where_nothing_is_answered_that_is_said() -> None:
    assert "(no answer)" in Answer(Question("Who?"), None, Source.NONE, 0.9)._repr_html_()


def test_a_path_is_drawn_as_it_is_walked_with_arrows_from_head_to_tail(digging) -> None:  # type: ignore[no-untyped-def]
    edges = digging.edges.tolist()
    first, second = next(
        (a, b) for a, x in enumerate(edges) for b, y in enumerate(edges) if a != b and x[2] == y[2]
    )
    path = EvidencePath((first, second), (True, False), 1.0)
    answer = Answer(Question("What?"), "it", Source.KNOWLEDGE, 0.9, evidence=Evidence(None, (path,), digging))
    shown = ElementTree.fromstring(answer._repr_html_())
    boxes, texts = list(shown.iter(f"{SVG}rect")), [text.text for text in shown.iter(f"{SVG}text")]
    ends = edges[first][0], edges[first][2], edges[second][0]
    assert len(boxes) == 3 and texts[:3] == [digging.labels[end][:LONGEST] for end in ends]
    on, back = shown.iter(f"{SVG}line")
    assert float(back.get("x1", "")) > float(back.get("x2", ""))
    assert float(on.get("x1", "")) < float(on.get("x2", ""))
    width = float(next(shown.iter(f"{SVG}svg")).get("width", ""))
    assert all(float(box.get("x", "")) + float(box.get("width", "")) <= width for box in boxes)

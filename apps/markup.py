"""Text to HTML and Markdown that shows it as it is: nothing in a passage or label becomes markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from kgqa.types import NodeRole, Span, Subgraph

MARK = "background:#ffe08a;color:#1a1a1a;border-radius:.2em;padding:0 .15em"
LINKED = "text-decoration:underline dotted;text-underline-offset:.2em;cursor:help"
QUIET = "opacity:.75;font-size:.9rem"


def escaped(text: str) -> str:
    """Text inside HTML."""
    return html.escape("".join(c for c in text if c >= " " or c in "\n\t"))


def plain(text: str) -> str:
    """Text inside Streamlit's Markdown (labels, messages): no emphasis, links, colours, emoji or formulas."""
    flat = " ".join(text.split())
    # the word joiner keeps :names: from becoming emoji or colours, and stays out of addresses
    flat = re.sub(r":(?=\S*:)", ":\u2060", flat)
    return re.sub(r"([!-/;-@\[-`{-~])", r"\\\1", flat)


def mentions(graph: Subgraph, part: NodeRole) -> list[tuple[int, int, str]]:
    """Linked stretches of a text with the concepts they mean; longer ones hide those inside them."""
    said: dict[tuple[int, int], list[str]] = {}
    for link in graph.links:
        if link.part == part:
            said.setdefault((link.start, link.end), []).append(graph.labels[link.node])
    kept: list[tuple[int, int, str]] = []
    for start, end in sorted(said, key=lambda at: (at[0] - at[1], at)):
        if all(end <= a or start >= b for a, b, _ in kept):
            kept.append((start, end, ", ".join(dict.fromkeys(said[start, end]))))
    return sorted(kept)


def annotated(text: str, linked: Sequence[tuple[int, int, str]], span: Span | None = None) -> str:
    """A text as HTML: linked concepts (in order, apart) underlined with a tooltip, the span marked."""
    if span is None:
        return _underlined(text, linked, 0, len(text))
    before = _underlined(text, linked, 0, span.start)
    inside = _underlined(text, linked, span.start, span.end)
    after = _underlined(text, linked, span.end, len(text))
    return f'{before}<mark style="{MARK}">{inside}</mark>{after}'


def _underlined(text: str, linked: Sequence[tuple[int, int, str]], first: int, last: int) -> str:
    parts, at = [], first
    for start, end, label in linked:
        start, end = max(start, first), min(end, last)
        if start < end:
            parts.append(escaped(text[at:start]))
            parts.append(
                f'<span tabindex="0" style="{LINKED}" title="{escaped(label)}">{escaped(text[start:end])}</span>'
            )
            at = end
    return "".join([*parts, escaped(text[at:last])])


def bars(rows: Iterable[tuple[str, float, str]], largest: float = 1.0) -> str:
    """A bar chart as HTML: (words, value, note) a row; values below zero get the other colour."""
    items = []
    for words, value, note in rows:
        width = min(abs(value) / largest, 1.0) * 100 if largest else 0.0
        colour = "#2e8b68" if value >= 0 else "#c2603a"
        items.append(
            '<li style="margin:.35rem 0"><div style="display:flex;justify-content:space-between;gap:1rem">'
            f'<span>{escaped(words)}</span><span style="{QUIET};white-space:nowrap">{escaped(note)}</span></div>'
            '<div style="height:.45rem;border-radius:.25rem;background:rgba(128,128,128,.2)">'
            f'<div style="height:100%;width:{width:.1f}%;border-radius:.25rem;background:{colour}"></div>'
            "</div></li>"
        )
    return f'<ul style="list-style:none;padding:0;margin:0">{"".join(items)}</ul>'


def listed(lines: Iterable[str], tag: str = "ul") -> str:
    """Lines as an HTML list."""
    return f"<{tag}>{''.join(f'<li>{escaped(line)}</li>' for line in lines)}</{tag}>"

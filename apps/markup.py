"""Escaped HTML and Markdown: nothing in a passage or label becomes markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from kgqa.types import NodeRole, Span, Subgraph

MARK = "background:#ffe08a;color:#1a1a1a;border-radius:.2em;padding:0 .15em"
LINKED = "text-decoration:underline dotted;text-underline-offset:.2em;cursor:help"
QUIET = "opacity:.75;font-size:.9rem"


def escaped(text: str) -> str:
    """Text escaped for HTML."""
    return html.escape("".join(c for c in text if c >= " " or c in "\n\t"))


def plain(text: str) -> str:
    """Text escaped for Streamlit's Markdown (labels, messages): no emphasis, links, colours, emoji or formulas."""
    flat = " ".join(text.split())
    # the word joiner keeps :names: from becoming emoji or colours, and stays out of addresses
    flat = re.sub(r":(?=\S*:)", ":\u2060", flat)
    return re.sub(r"([!-/;-@\[-`{-~])", r"\\\1", flat)


def mentions(graph: Subgraph, part: NodeRole, text: str) -> list[tuple[int, int, str]]:
    """Linked mentions of a text with their concepts; longer ones hide those inside them.

    Mentions that start within a word are skipped: they are parts of another name, as with Korean endings.
    """
    said: dict[tuple[int, int], list[str]] = {}
    for link in graph.links:
        within = link.start > 0 and text[link.start - 1 : link.start + 1].isalnum()
        if link.part == part and not within:
            said.setdefault((link.start, link.end), []).append(graph.labels[link.node])
    kept: list[tuple[int, int, str]] = []
    for start, end in sorted(said, key=lambda at: (at[0] - at[1], at)):
        if all(end <= a or start >= b for a, b, _ in kept):
            kept.append((start, end, ", ".join(dict.fromkeys(said[start, end]))))
    return sorted(kept)


def annotated(text: str, linked: Sequence[tuple[int, int, str]], span: Span | None = None) -> str:
    """A text as HTML: linked concepts (sorted, disjoint) underlined with a tooltip, the span highlighted."""
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
    """A bar chart as HTML with rows (words, value, note); negative values get the other colour."""
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


def meter(value: float, colour: str, words: str) -> str:
    """A share as a bar, with words of the same colour beside it."""
    return (
        '<div style="display:flex;align-items:center;gap:.6rem;margin-top:.2rem">'
        '<div style="flex:0 0 7rem;height:.5rem;'
        f'border-radius:.25rem;background:rgba(128,128,128,.25)"><div style="height:100%;width:{value:.0%};'
        f'border-radius:.25rem;background:{colour}"></div></div>'
        f'<span style="color:{colour};font-weight:600">{escaped(words)}</span></div>'
    )


def chain(nodes: Sequence[tuple[str, str]], steps: Sequence[tuple[str, bool]]) -> str:
    """A path as a picture: (label, colour) of its concepts, and for each step the words of the fact and whether it is
    followed from head to tail."""
    box = "border-radius:.4rem;padding:.1rem .5rem;color:#1a1a1a;border:1px solid rgba(128,128,128,.6)"
    parts = []
    for number, (label, colour) in enumerate(nodes):
        if number:
            words, onwards = steps[number - 1]
            arrows = ("", " →") if onwards else ("← ", "")
            parts.append(f'<span style="{QUIET}">{arrows[0]}{escaped(words)}{arrows[1]}</span>')
        parts.append(f'<span style="{box};background:{colour}">{escaped(label)}</span>')
    return f'<div style="display:flex;flex-wrap:wrap;align-items:center;gap:.4rem">{"".join(parts)}</div>'


def key_of(rows: Iterable[tuple[str, str]], label: str = "") -> str:
    """What the colours of a picture mean: (colour, words)."""
    items = "".join(
        '<span style="display:inline-flex;align-items:center;gap:.35rem;margin-right:1rem">'
        f'<span style="width:.9rem;height:.9rem;border-radius:.25rem;background:{colour};'
        f'border:1px solid rgba(128,128,128,.6)"></span>{escaped(words)}</span>'
        for colour, words in rows
    )
    named = f' role="note" aria-label="{escaped(label)}"' if label else ""
    return f'<div style="font-size:.9rem"{named}>{items}</div>'

"""An interactive Graphviz picture (zoom, drag, click) without external resources."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from apps.resources import say

SCRIPT = Path(__file__).with_suffix(".js")
HTML = '<div class="explorer"></div>'
CSS = """
.explorer{display:flex;flex-wrap:wrap;gap:.35rem;align-items:center;font-family:var(--st-font)}
.explorer button{min-width:2rem;padding:0 .4rem;height:2rem;border:1px solid var(--st-border-color);border-radius:.4rem;
  background:transparent;color:inherit;font-size:1rem;cursor:pointer}
.explorer button:hover{border-color:var(--st-primary-color);color:var(--st-primary-color)}
.explorer span{opacity:.75;font-size:.85rem;margin-left:.35rem}
[class*=st-key-drawn-] [data-testid=stGraphVizChart]{overflow-x:auto;max-width:100%}
[class*=st-key-drawn-] [data-testid=stGraphVizChart] svg{max-width:100%;height:auto}
[class*=st-key-drawn-] :is(g.node,g.edge[id^=f],g.edge[id^=x]){cursor:pointer}
[class*=st-key-drawn-] g.edge:is(:hover,:focus) text{font-weight:700}
/* labels of other scripts are larger than Graphviz takes them for: off the arrow, and over it if need be */
[class*=st-key-drawn-] g.edge text{transform:translate(2px,-3px);paint-order:stroke;stroke-width:3px;
  stroke:var(--st-background-color)}
[class*=st-key-drawn-] g.taken path{stroke-dasharray:4 3;opacity:.5}
"""


def is_narrow(key: str, guess: bool = False) -> bool:
    """Whether the picture with this key is narrow; a guess until the browser reports that it is wrong."""
    narrow = getattr(st.session_state.get(f"explorer-{key}"), "narrow", None)
    return guess if narrow is None else bool(narrow)


def drawn(dot: str, alt: str, key: str, narrow: bool, hint: str = "zoom_hint") -> str:
    """Draw DOT with nodes named n0, n1, ...; `narrow` is what `is_narrow` said. Returns the node or the edge id
    that was just clicked, if any."""
    # registering the same component again is harmless: Streamlit keeps the first
    explorer = st.components.v2.component(
        "kgqa_explorer", html=HTML, css=CSS, js=SCRIPT.read_text(encoding="utf-8"), isolate_styles=False
    )
    with st.container(key=f"drawn-{key}"):
        words = {
            "closer": "zoom_in",
            "wider": "zoom_out",
            "whole": "zoom_whole",
            "save": "save_as",
            "hint": hint,
        }
        st.graphviz_chart(dot, width="content", alt=alt)
        result = explorer(
            key=f"explorer-{key}",
            data={name: say(text) for name, text in words.items()} | {"narrow": narrow},
            on_picked_change=lambda: None,
            on_narrow_change=lambda: None,
        )
    return str(getattr(result, "picked", None) or "")


def number_of(picked: str, kind: str = "n") -> int | None:
    """The index of the clicked element if it has this kind: a node (n), a fact (f), a removed fact (x)."""
    return int(picked[1:]) if picked[:1] == kind and picked[1:].isdecimal() else None

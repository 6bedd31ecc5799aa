"""A Graphviz picture that is zoomed, dragged and clicked; nothing in it is loaded from elsewhere."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from apps.resources import say

SCRIPT = Path(__file__).with_suffix(".js")
HTML = '<div class="explorer"></div>'
CSS = """
.explorer{display:flex;flex-wrap:wrap;gap:.35rem;align-items:center;font-family:var(--st-font)}
.explorer button{width:2rem;height:2rem;border:1px solid var(--st-border-color);border-radius:.4rem;
  background:transparent;color:inherit;font-size:1rem;cursor:pointer}
.explorer button:hover{border-color:var(--st-primary-color);color:var(--st-primary-color)}
.explorer span{opacity:.75;font-size:.85rem;margin-left:.35rem}
"""


def drawn(dot: str, alt: str, nodes: int, key: str) -> int | None:
    """Draw DOT whose nodes are named n0, n1, ...; the number of the node that was just clicked, if any.

    On a narrow screen it is scrolled, not shrunk until nobody can read it.
    """
    width = min(14 + 2 * nodes, 60)
    # Streamlit keeps a component once registered; the same definition again changes nothing
    explorer = st.components.v2.component(
        "kgqa_explorer", html=HTML, css=CSS, js=SCRIPT.read_text(encoding="utf-8"), isolate_styles=False
    )
    with st.container(key=f"drawn-{key}"):
        st.html(
            f"<style>.st-key-drawn-{key} [data-testid=stGraphVizChart]{{overflow-x:auto}}"
            f".st-key-drawn-{key} g.node{{cursor:pointer}}"
            f"@media(max-width:700px){{.st-key-drawn-{key} [data-testid=stGraphVizChart] svg"
            f"{{min-width:{width}rem}}}}</style>"
        )
        words = {"closer": "zoom_in", "wider": "zoom_out", "whole": "zoom_whole", "hint": "zoom_hint"}
        result = explorer(
            key=f"explorer-{key}",
            data={name: say(text) for name, text in words.items()},
            on_picked_change=lambda: None,
        )
        st.graphviz_chart(dot, width="content", alt=alt)
    picked = getattr(result, "picked", None)
    number = str(picked)[1:] if picked else ""
    return int(number) if number.isdecimal() else None

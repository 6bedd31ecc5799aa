"""A Graphviz picture that is zoomed, dragged and clicked; nothing in it is loaded from elsewhere."""

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
"""


def is_narrow(key: str) -> bool:
    """Whether the picture of that key has little width; known once the browser has told."""
    return bool(getattr(st.session_state.get(f"explorer-{key}"), "narrow", False))


def drawn(dot: str, alt: str, key: str) -> int | None:
    """Draw DOT whose nodes are named n0, n1, ...; the number of the node that was just clicked, if any."""
    # Streamlit keeps a component once registered; the same definition again changes nothing
    explorer = st.components.v2.component(
        "kgqa_explorer", html=HTML, css=CSS, js=SCRIPT.read_text(encoding="utf-8"), isolate_styles=False
    )
    with st.container(key=f"drawn-{key}"):
        st.html(
            f"<style>.st-key-drawn-{key} [data-testid=stGraphVizChart]{{overflow-x:auto;max-width:100%}}"
            f".st-key-drawn-{key} [data-testid=stGraphVizChart] svg{{max-width:100%;height:auto}}"
            f".st-key-drawn-{key} g.node{{cursor:pointer}}</style>"
        )
        words = {
            "closer": "zoom_in",
            "wider": "zoom_out",
            "whole": "zoom_whole",
            "hint": "zoom_hint",
            "save": "save_as",
        }
        result = explorer(
            key=f"explorer-{key}",
            data={name: say(text) for name, text in words.items()},
            on_picked_change=lambda: None,
            on_narrow_change=lambda: None,
        )
        st.graphviz_chart(dot, width="content", alt=alt)
    picked = getattr(result, "picked", None)
    number = str(picked)[1:] if picked else ""
    return int(number) if number.isdecimal() else None

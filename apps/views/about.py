"""What this is, what it is good at, and what it cannot do."""

from __future__ import annotations

import streamlit as st

from apps.markup import plain
from apps.own_graphs import asked_graph
from apps.resources import answerer, say
from apps.views.why import source_of
from kgqa.assets import feedback_file


def page() -> None:
    """The page."""
    st.title(say("about"), anchor=False)
    values: dict[str, str] = {
        "model": plain(answerer().name),
        "graph": plain(source_of(asked_graph())),
        "file": plain(str(feedback_file())),
    }
    for section in ("what", "good", "limits", "privacy", "keys"):
        st.header(say(f"about_{section}"), anchor=False, divider="gray")
        st.markdown(say(f"about_{section}_text", **values))
    st.caption(say("about_licence"))

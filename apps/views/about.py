"""About page: purpose, strengths and limitations."""

from __future__ import annotations

import streamlit as st

from apps.custom_graphs import asked_graph
from apps.markup import plain
from apps.resources import answerer, say
from apps.views.why import source_of
from kgqa.settings import feedback_file


def page() -> None:
    st.title(say("about"), anchor=False)
    other = getattr(answerer(), "multilingual_reader", None)
    values: dict[str, str] = {
        "model": plain(answerer().name),
        "graph": plain(source_of(asked_graph())),
        "file": plain(str(feedback_file())),
        "languages": say("about_translated")
        if other is None
        else say("about_other", model=plain(other.model)),
    }
    for section in ("what", "good", "asked", "limits", "privacy", "keys"):
        st.header(say(f"about_{section}"), anchor=False, divider="gray")
        st.markdown(say(f"about_{section}_text", **values))
    st.caption(say("about_licence"))

"""The app: pages, language, and the questions asked so far. Run by `kgqa app`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from apps.resources import is_dark, say
from apps.texts import LANGUAGES
from apps.views import ask, batch, compare, learn, own

ICON = Path(__file__).with_name("icon.svg")
KEPT = ("passage", "question", "choices", "graph_choice", "language", "how_many")
STYLE = (
    ".stApp{word-break:keep-all}.stMainBlockContainer{padding-top:4rem}.stSidebar button p{text-align:left}"
)
DARK = "button[data-selected=true] p,[data-testid=stCaptionContainer] code{color:#8fd3b4!important}"
PAGES = {
    "ask": (ask.page, ":material/quiz:"),
    "own": (own.page, ":material/hub:"),
    "compare": (compare.page, ":material/compare:"),
    "batch": (batch.page, ":material/table_rows:"),
    "learn": (learn.page, ":material/school:"),
}


def main() -> None:
    """Navigation around the page that was asked for."""
    st.set_page_config(page_title="kgqa", page_icon=str(ICON), layout="wide")
    st.html(f"<style>{STYLE}{DARK if is_dark() else ''}</style>")
    state = st.session_state
    saved = state.setdefault("saved", {})
    if "language" not in saved:
        state["language"] = saved["language"] = "ko" if st.query_params.get("lang") == "ko" else "en"
    pages = {
        name: st.Page(page, title=say(name), icon=icon, url_path=name, default=name == "ask")
        for name, (page, icon) in PAGES.items()
    }
    state["ask_page"] = pages["ask"]
    chosen = st.navigation(list(pages.values()), position="top")
    if state.get("page") != chosen.url_path:  # Streamlit forgets a widget's value when its page is left
        state["page"] = chosen.url_path
        state.update(saved)
    with st.sidebar:
        st.segmented_control(
            say("language"), list(LANGUAGES), format_func=LANGUAGES.__getitem__, key="language", required=True
        )
    try:
        chosen.run()
        with st.sidebar:
            ask.history()
    finally:
        saved.update({key: state[key] for key in KEPT if key in state})


if __name__ == "__main__":
    main()

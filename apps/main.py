"""The app: pages, language, and the questions asked so far. Run by `kgqa app`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from apps import memory
from apps.own_graphs import keep_in_address, reopen
from apps.resources import is_dark, is_quick, language, quicker, say
from apps.texts import LANGUAGES
from apps.views import about, ask, batch, compare, learn, own
from kgqa.types import CAUTION

ICON = Path(__file__).with_name("icon.svg")
KEPT = ("passage", "question", "choices", "graph_choice", "language", "how_many", "caution", "quick")
STYLE = """
.stApp,.stApp p,.stApp li{word-break:keep-all;overflow-wrap:anywhere}
.stMainBlockContainer{padding-top:4rem}
.stMainBlockContainer h1{padding:.2rem 0}
.stSidebar button p{text-align:left}
[data-testid=stCaptionContainer]{color:inherit;opacity:.8}
.st-key-gallery{flex-wrap:nowrap!important;overflow-x:auto;padding:.2rem .1rem .5rem;scrollbar-width:thin}
.st-key-gallery>*{flex:none!important;width:auto!important}
.st-key-gallery{padding-right:3rem!important;
  mask-image:linear-gradient(90deg,#000 calc(100% - 3rem),transparent)}
.st-key-pages{display:none}
.stHtml span[title]:focus::after{content:" (" attr(title) ")";font-size:.85em;opacity:.85}
.st-key-asking .st-key-question{flex:1 1 12rem}
.st-key-memory{position:absolute;height:0;overflow:hidden}
@media(max-width:767px){
  .st-key-pages{display:flex;flex-wrap:wrap!important;gap:0!important;justify-content:space-between}
  [data-testid=stElementToolbar]{display:none}
  .st-key-pages>*{flex:none!important;width:auto!important}
  .st-key-pages a{padding:.2rem .3rem;gap:0}
  .st-key-pages a p{font-size:.85rem}
  .stMainBlockContainer{padding:4rem 1rem 2rem}
  .stMainBlockContainer>div>.stVerticalBlock,.stMainBlockContainer>.stVerticalBlock{gap:.6rem}
  .stHorizontalBlock{gap:1rem}
  .stMainBlockContainer h1{font-size:1.5rem;padding-bottom:.6rem}
  .stMainBlockContainer h2{font-size:1.3rem}
  .stMainBlockContainer h3{font-size:1.1rem}
}
"""
# Streamlit's own words on the uploader; its label says the rest
KOREAN = """
[data-testid=stFileUploaderDropzoneInstructions]{display:none}
[data-testid=stFileUploaderDropzone] button p{font-size:0}
[data-testid=stFileUploaderDropzone] button p::after{content:"올리기";font-size:1rem}
"""
DARK = (
    "button[data-selected=true] p,[role=tab][aria-selected=true] p,"
    "[data-testid=stSliderThumbValue] p,[data-testid=stCaptionContainer] code"
    "{color:#8fd3b4!important}"
)
PAGES = {
    "ask": (ask.page, ":material/quiz:"),
    "own": (own.page, ":material/hub:"),
    "compare": (compare.page, ":material/compare:"),
    "batch": (batch.page, ":material/table_rows:"),
    "learn": (learn.page, ":material/school:"),
    "about": (about.page, ":material/info:"),
}


def main() -> None:
    """Navigation around the page that was asked for."""
    st.set_page_config(page_title="kgqa", page_icon=str(ICON), layout="wide")
    state = st.session_state
    saved = state.setdefault("saved", {})
    if "language" not in saved:
        asked = st.query_params.get("lang", "")
        state["language"] = saved["language"] = asked if asked in LANGUAGES else "en"
        state["caution"] = saved["caution"] = CAUTION
    st.html(f"<style>{STYLE}{DARK if is_dark() else ''}{KOREAN if language() == 'ko' else ''}</style>")
    pages = {
        name: st.Page(page, title=say(name), icon=icon, url_path=name, default=name == "ask")
        for name, (page, icon) in PAGES.items()
    }
    state["ask_page"] = pages["ask"]
    chosen = st.navigation(list(pages.values()), position="top")
    if state.get("page") != chosen.url_path:  # Streamlit forgets a widget's value when its page is left
        state["page"] = chosen.url_path
        state.update(saved)
    with st.container(horizontal=True, key="pages"):  # on a phone Streamlit hides its own menu
        for name, page in pages.items():
            st.page_link(page, label=say(name), icon="")
    with st.sidebar:
        st.segmented_control(
            say("language"), list(LANGUAGES), format_func=LANGUAGES.__getitem__, key="language", required=True
        )
        st.slider(
            say("caution"), 0.0, 0.9, step=0.05, format="percent", key="caution", help=say("caution_help")
        )
    try:
        reopen()
        chosen.run()
        with st.sidebar:
            if quicker():
                state.setdefault("quick", is_quick())
                st.toggle(say("quick"), key="quick", help=say("quick_help"), on_change=ask.ask_again)
            ask.history()
        memory.component(ask.walk)
        keep_in_address()
    finally:
        saved.update({key: state[key] for key in KEPT if key in state})


if __name__ == "__main__":
    main()

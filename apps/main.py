"""The app: pages, language and history. Run by `kgqa app`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from apps import memory
from apps.custom_graphs import custom_token, reopen
from apps.resources import is_dark, is_quick, language, quicker, say
from apps.texts import LANGUAGES
from apps.views import about, ask, batch, compare, custom_graph, learn, voting
from kgqa.types import CAUTION

ICON = Path(__file__).with_name("icon.svg")
KEPT = (
    "passage",
    "question",
    "choices",
    "graph_choice",
    "language",
    "how_many",
    "caution",
    "quick",
    "class_mode",
)
STYLE = """
.stApp,.stApp p,.stApp li,.stApp h1,.stApp h2,.stApp h3{word-break:keep-all;overflow-wrap:break-word}
.stApp[data-test-script-state=running]::after{content:"";position:fixed;inset:0 0 auto;height:3px;z-index:9999999;
  background:#2e8b68}
.stMainBlockContainer{padding-top:4rem}
.stMainBlockContainer h1{padding:.2rem 0}
.stMainBlockContainer h2{font-size:1.75rem}
.stMainBlockContainer h3{font-size:1.4rem}
.stSidebar button p{text-align:left}
[data-testid=stCaptionContainer]{color:inherit;opacity:.8}
[data-testid=stCaptionContainer] code{font-size:.95em}
[data-testid=stCode] .token{color:inherit!important}
.stButton button [data-testid=stMarkdownContainer]{white-space:normal}
.stButton button p{white-space:inherit}
[data-testid=stButtonGroup] [role=radiogroup]{flex-wrap:wrap;row-gap:.3rem}
#kgqa-skip{position:fixed;left:-99rem;top:.5rem;z-index:9999999;padding:.4rem .8rem;background:#1f7050;color:#fff}
#kgqa-skip:focus{left:.5rem}
.st-key-pages{display:none}
.stHtml span[title]:focus::after{content:" (" attr(title) ")";font-size:.85em;opacity:.85}
.st-key-asking .st-key-question{flex:1 1 12rem}
.st-key-memory{position:absolute;height:0;overflow:hidden}
@media(max-width:767px){
  .st-key-pages{display:flex;flex-wrap:wrap!important;gap:0!important;justify-content:space-between}
  [data-testid=stElementToolbar],.st-key-asking [data-testid=InputInstructions]{display:none}
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
# replaces Streamlit's English text on the uploader; its label says the rest
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
    "own": (custom_graph.page, ":material/hub:"),
    "compare": (compare.page, ":material/compare:"),
    "batch": (batch.page, ":material/table_rows:"),
    "learn": (learn.page, ":material/school:"),
    "about": (about.page, ":material/info:"),
}


def main() -> None:
    """Navigation around the requested page."""
    st.set_page_config(page_title="kgqa", page_icon=str(ICON), layout="wide")
    state = st.session_state
    saved = state.setdefault("saved", {})
    if "language" not in saved:
        asked = st.query_params.get("lang", "")
        state["language"] = saved["language"] = asked if asked in LANGUAGES else "en"
        state["caution"] = saved["caution"] = CAUTION
    st.html(f"<style>{STYLE}{DARK if is_dark() else ''}{KOREAN if language() == 'ko' else ''}</style>")
    if code := st.query_params.get("room"):  # a pupil sees only the vote
        voting.pupil(code)
        return
    pages = {
        name: st.Page(page, title=say(name), icon=icon, url_path=name, default=name == "ask")
        for name, (page, icon) in PAGES.items()
    }
    if state.get("class_mode"):
        st.html(f"<style>{voting.LARGE}</style>")
    state.update({f"{name}_page": page for name, page in pages.items()})
    chosen = st.navigation(list(pages.values()), position="top")
    if state.get("page") != chosen.url_path:  # Streamlit drops a widget's value when its page is left
        state["page"] = chosen.url_path
        state.update(saved)
    with st.container(horizontal=True, key="pages"):  # on a phone Streamlit hides its own menu
        for name, page in pages.items():
            st.page_link(page, label=say(name), icon="")
    with st.sidebar:
        st.segmented_control(
            say("language"),
            list(LANGUAGES),
            format_func=LANGUAGES.__getitem__,
            key="language",
            required=True,
            on_change=ask.to_address,
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
            st.toggle(say("class_mode"), key="class_mode", help=say("class_mode_help"))
            ask.history()
        memory.component(ask.walk, ask.went, language(), custom_token(), say("skip"))
    finally:
        saved.update({key: state[key] for key in KEPT if key in state})


if __name__ == "__main__":
    main()

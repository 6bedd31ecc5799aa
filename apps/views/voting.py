"""Class mode on the page: the teacher's view of the votes, and the pupils' page."""

from __future__ import annotations

import base64
import secrets
from urllib.parse import urlsplit

import streamlit as st

from apps.classroom import Room, Rooms, options_of, qr_code
from apps.markup import bars, escaped, plain
from apps.resources import language, say, spoken
from kgqa.types import Answer

EVERY_S = 1.5
LARGE = "html{font-size:125%}"


@st.cache_resource(show_spinner=False)
def rooms() -> Rooms:
    """The rooms of all classes."""
    return Rooms()


def room() -> Room | None:
    """The visitor's room, if class mode is on."""
    if not st.session_state.get("class_mode"):
        return None
    code = str(st.session_state.get("room", ""))
    if code not in rooms():
        code = st.session_state["room"] = rooms().open()
    return rooms()[code]


def is_voted_on(answer: Answer) -> bool:
    """Whether the class is still voting, so that the answer is hidden; only in class mode."""
    own = room()
    if own is None:
        return False
    number = st.session_state.get("times_asked", 0)
    if st.session_state.get("room_asked") != number:
        st.session_state["room_asked"] = number
        options = [spoken(text) for text in options_of(answer, say("none_of_these"))]
        own.ask(answer.question.passage_text, answer.question.text, options)
    return own.is_open


def teacher(own: Room) -> None:
    """Where to vote, the number of votes, and the button that shows the answer."""
    left, right = st.columns([2, 1], gap="large")
    with left:
        st.header(say("vote_now"), anchor=False)
        counted(own, False)
        st.button(
            say("show_answer"), on_click=close, args=(own,), type="primary", icon=":material/visibility:"
        )
    here = urlsplit(st.context.url or "")
    address = f"{here.scheme}://{here.netloc}/?lang={language()}&room={st.session_state['room']}"
    picture = base64.b64encode(qr_code(address).encode()).decode()
    with right:
        st.html(
            f'<img alt="{escaped(say("vote_at", address=address))}" style="width:100%;max-width:16rem" '
            f'src="data:image/svg+xml;base64,{picture}">'
        )
        st.code(address, language=None, wrap_lines=True)
        if here.hostname in ("127.0.0.1", "localhost", "::1"):
            st.caption(say("vote_here_alone"))


def close(own: Room) -> None:
    """Close the vote, and show the answer."""
    own.is_open = False


@st.fragment(run_every=EVERY_S)
def counted(own: Room, shows: bool) -> None:
    """The number of votes, and the tally once the answer is shown."""
    st.markdown(f"**{plain(say('votes', count=len(own.votes)))}**")
    if shows:
        whole = max(len(own.votes), 1)
        st.html(bars([(option, count / whole, str(count)) for option, count in own.tally]))
    else:
        st.html("".join(f"<p>{escaped(option)}</p>" for option in own.options))


@st.fragment(run_every=EVERY_S)
def pupil(code: str) -> None:
    """A pupil's page: the question, and a button for each option."""
    st.title(say("class_mode"), anchor=False)
    own = rooms().get(code)
    if own is None:
        st.info(say("room_gone"))
        return
    me = st.session_state.setdefault("pupil", secrets.token_urlsafe(6))
    if own.passage:
        st.text(own.passage)
    if own.question:
        st.header(plain(own.question), anchor=False)
    for number, option in enumerate(own.options):
        chosen = own.votes.get(me) == option
        st.button(
            plain(option),
            on_click=own.vote,
            args=(me, option),
            key=f"option{own.asked}-{number}",
            type="primary" if chosen else "secondary",
            disabled=not own.is_open,
            width="stretch",
        )
    if not own.is_open:
        st.caption(say("vote_waits"))
    elif me in own.votes:
        st.caption(say("vote_counted"))

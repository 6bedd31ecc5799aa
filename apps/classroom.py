"""Class mode: pupils vote on their phones before the answer is shown; rooms are kept in memory. No Streamlit."""

from __future__ import annotations

import io
import secrets
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from kgqa.qa.render import likely_runners_up
from kgqa.types import Answer

MAX_ROOMS = 100
OPTIONS = 4


@dataclass
class Room:
    """A class's question and votes: one option per pupil, which may be changed until the answer is shown."""

    passage: str = ""
    question: str = ""
    options: tuple[str, ...] = ()
    is_open: bool = False
    votes: dict[str, str] = field(default_factory=dict)
    asked: int = 0

    def ask(self, passage: str, question: str, options: Sequence[str]) -> None:
        """Ask another question; all votes are deleted."""
        self.passage, self.question, self.options = passage, question, tuple(options)
        self.votes.clear()
        self.is_open, self.asked = True, self.asked + 1

    def vote(self, pupil: str, option: str) -> None:
        """Count a pupil's vote; one that is late or for no known option is ignored."""
        if self.is_open and option in self.options:
            self.votes[pupil] = option

    @property
    def tally(self) -> list[tuple[str, int]]:
        """The options with their votes, in their order."""
        counts = Counter(self.votes.values())
        return [(option, counts[option]) for option in self.options]


class Rooms(OrderedDict[str, Room]):
    """Rooms by code; the oldest is dropped first."""

    def open(self) -> str:
        """Open a room and return its code."""
        code = secrets.token_urlsafe(6)
        self[code] = Room()
        while len(self) > MAX_ROOMS:
            self.popitem(last=False)
        return code


def options_of(answer: Answer, nothing: str) -> list[str]:
    """The options of a vote: the question's choices, or the answer with its runners-up (if there are few, with other
    concepts) in alphabetical order, followed by `nothing` for "none of them"."""
    question = answer.question
    others = (*likely_runners_up(answer), *(c for c in answer.runners_up if c.concept))
    found = question.choices or (answer.best or "", *(c.text for c in others))
    distinct = list(dict.fromkeys(filter(None, found)))[: len(question.choices) or OPTIONS]
    return [*sorted(distinct, key=str.casefold), nothing]


def qr_code(address: str) -> str:
    """An address as a QR code, an SVG in black on white."""
    import segno

    out = io.BytesIO()
    segno.make(address, micro=False).save(
        out, kind="svg", scale=5, border=2, dark="#000", light="#fff", xmldecl=False, nl=False
    )
    return out.getvalue().decode()

"""Class mode: pupils vote by their phones before the answer is shown; rooms are kept in memory. No Streamlit."""

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
    """What a class is asked, and how it votes: an option for each pupil, to be changed until the answer is shown."""

    passage: str = ""
    question: str = ""
    options: tuple[str, ...] = ()
    is_open: bool = False
    votes: dict[str, str] = field(default_factory=dict)
    asked: int = 0

    def ask(self, passage: str, question: str, options: Sequence[str]) -> None:
        """Put another question; all votes are forgotten."""
        self.passage, self.question, self.options = passage, question, tuple(options)
        self.votes.clear()
        self.is_open, self.asked = True, self.asked + 1

    def vote(self, pupil: str, option: str) -> None:
        """Count a pupil's vote; none that comes too late, or for what is no option."""
        if self.is_open and option in self.options:
            self.votes[pupil] = option

    @property
    def tally(self) -> list[tuple[str, int]]:
        """The options with their votes, in their order."""
        counts = Counter(self.votes.values())
        return [(option, counts[option]) for option in self.options]


class Rooms(OrderedDict[str, Room]):
    """Rooms by their codes; the one opened first is forgotten first."""

    def open(self) -> str:
        """Open a room; its code."""
        code = secrets.token_urlsafe(6)
        self[code] = Room()
        while len(self) > MAX_ROOMS:
            self.popitem(last=False)
        return code


def options_of(answer: Answer, nothing: str) -> list[str]:
    """What may be voted for: the given choices, or the answer among its runners-up and, where these are few, other
    concepts, in the order of the alphabet, and that `nothing` of them is it."""
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

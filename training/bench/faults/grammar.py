"""Questions by grammar: well formed, with dates that are none, numbers of any length and scripts in any mixture.

Good is an answer, or one line, within the time that a question has. A third has a passage of the same making, a third
choices. Asked over the graph of a hospital, which what a question names is sometimes of.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from reliability import CPU_S, SyntheticGraph, Try

from kgqa.limits.cancellation import cancel_when
from kgqa.types import Passage, Question

HERE = ("Dr Kim", "the hospital", "ward 3", "a nurse")
NAMES = (*HERE, "김 선생님", "клиника", "病院", "مستشفى", "Ωmega", "İstanbul", "x" * 300)
SCRIPTS = (
    "abcxyz",
    "ÀßŁğİı",
    "αβγΣς",
    "жЩёҐ",
    "אבגד",
    "ابتث٠١٢",
    "कखगक्षि",
    "กขค่ำ",
    "한글의땅",
    "漢字かなカナ",
    "🙂👩‍🔬🏳️‍🌈",
    "e\u0301\u0301\u0301o\u0308",
    "\u202eabc\u2066",
    "\u200b\u00ad\ufeff",
    "ﷺﬁ㎏Ⅷ½",
    "𝔘𝟙\U000e0041",
    "'’\"«»“",
)
MONTHS = ("January", "Feb", "mars", "Δεκέμβριος", "3월", "Brumaire", "13")
UNITS = ("", " kg", " km/h", " %", " €", " m²", "개", " years", " °C", "th", "-fold")
FORMS = (
    "Who {verb} {thing}?",
    "What {verb} {thing} {when}?",
    "When did {thing} {verb} {thing}?",
    "How many {kind} {verb} {thing}?",
    "How much is {number} and {number}?",
    "Is {thing} older than {number}?",
    "Which {kind} {verb} more than {number} but not {thing}?",
    "Did {thing} {verb} {thing} before {date} or after {date}?",
    "Of {thing}, {thing} and {thing}, which has the second most {kind}?",
    "What is the average {kind} of those who {verb} {thing} {when}?",
    "Who {verb} the {kind} that {verb} the {kind} that {verb} {thing}?",
    "{thing}은 누가 {thing}에서 {verb}했나요?",
    "{number}보다 많은 {kind}는 무엇인가?",
    "{word} {word} {word}?",
    "{number}",
    "{date}",
)


class Grammar:
    """Makes questions and has them answered."""

    def __init__(self, world: SyntheticGraph) -> None:
        self.world = world

    def tries(self) -> dict[str, Try]:
        """The one kind, by name."""
        return {"question by grammar": self._ask}

    def _ask(self, draw: Random, folder: Path) -> None:
        from kgqa.qa.render import answer_json

        text = sentence(draw)
        passage = choices = None
        if draw.random() < 1 / 3:
            passage = Passage(" ".join(sentence(draw).replace("?", ".") for _ in range(draw.randint(1, 12))))
        elif draw.random() < 1 / 2:
            choices = tuple(dict.fromkeys(part(draw, "thing") for _ in range(draw.randint(2, 6))))
        late = time.process_time() + CPU_S / 2
        with cancel_when(lambda: time.process_time() > late):
            answer = self.world.answerer.answer(Question(text, choices or (), passage))
            json.dumps(answer_json(answer), ensure_ascii=False).encode()


def sentence(draw: Random) -> str:
    """A question, now and then in the letters of another case or with two sentences in one."""
    text = draw.choice(FORMS)
    while "{" in text:
        before, _, rest = text.partition("{")
        name, _, after = rest.partition("}")
        text = before + part(draw, name).replace("{", "(") + after
    return draw.choice((str, str, str, str.upper, str.lower, str.swapcase))(text)


def part(draw: Random, name: str) -> str:
    """Words for a place in a sentence."""
    makers: dict[str, Callable[[], str]] = {
        "verb": lambda: draw.choice(
            ("works in", "treat", "owns", "be", "has", "일하", "работает в", word(draw))
        ),
        "kind": lambda: draw.choice(("nurse", "wards", "prize", "의사", "numbers", word(draw))),
        "thing": lambda: draw.choice((*NAMES, word(draw), number(draw), date(draw), f"“{word(draw)}”")),
        "when": lambda: draw.choice(
            (f"on {date(draw)}", f"in {number(draw)}", "yesterday", f"since {date(draw)}", "")
        ),
        "number": lambda: number(draw),
        "date": lambda: date(draw),
        "word": lambda: word(draw),
    }
    return makers[name]()


def word(draw: Random) -> str:
    """Letters of one to three scripts, as one word."""
    return "".join(
        "".join(draw.choice(script) for _ in range(draw.choice((1, 2, 5, 40))))
        for script in draw.sample(SCRIPTS, draw.randint(1, 3))
    )


def number(draw: Random) -> str:
    """A number in figures of some script, of up to 5,000 digits, perhaps with a sign, a point and a unit."""
    length = draw.choice((1, 2, 4, 9, 20, 309, 5_000))
    digits = draw.choice(("0123456789", "9", "0", "٠١٢٣٤٥٦٧٨٩", "०१२३", "０１２", "一二三", "½²Ⅷ"))
    output = "".join(draw.choice(digits) for _ in range(length))
    output = draw.choice(("", "", "-", "+", "−", "~", "≥ ", "1e", "0x")) + output
    mark = draw.choice(("", "", ".", ",", "/", ":", " ", "e", "e-"))
    more = "".join(draw.choice(digits) for _ in range(draw.choice((1, 3, 400)))) if mark else ""
    return output + mark + more + draw.choice(UNITS)


def date(draw: Random) -> str:
    """A date in some order of its parts, which need be none of the calendar's."""
    year = draw.choice(
        ("2024", "0", "-44", "99999", "1e9", "'24", "2024 BC", "9" * draw.choice((1, 4, 50, 4_000)))
    )
    month, day = draw.randrange(15), draw.choice((0, 1, 28, 29, 30, 31, 32, 99))
    called = draw.choice(MONTHS)
    forms = (
        f"{year}-{month:02}-{day:02}",
        f"{day}/{month}/{year}",
        f"{called} {day}, {year}",
        f"{day} {called} {year}",
        f"{year}년 {month}월 {day}일",
        f"{year}-{month:02}-{day:02}T25:61:61Z",
        f"the {day}th of {called}",
        year,
    )
    return draw.choice(forms)

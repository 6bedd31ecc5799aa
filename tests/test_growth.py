"""Texts of hostile shapes: every step of an answer takes time in proportion to them, and gives up when asked to."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from kgqa.data.documents import markdown_text
from kgqa.graph.linking.fuzzy import fuzzy_linker
from kgqa.graph.linking.normalize import people
from kgqa.language.head_final import in_english_order
from kgqa.limits.cancellation import cancel_when
from kgqa.models.collation.collate import Collator
from kgqa.qa.answerer import Answerer
from kgqa.qa.evidence import sentence_around
from kgqa.types import Example, InputError, Passage, Question, Span, Subgraph

UNITS = {
    "prose": "The cook dug a garden with a trowel. Alice Rose planted 12 flowers, and it rained. ",
    "denials": "not ",
    "taken back": "almost ",
    "lists": "cook and ",
    "and": "and ",
    "marks": ".",
    "marks apart": ". ",
    "commas": ", ",
    "quotes": '"',
    "round brackets": "(",
    "brackets": "[",
    "links": "[a](",
    "pictures": "![",
    "emphasis": "_*`",
    "lines": "\n",
    "headings": "#\n",
    "names": "Rose ",
    "titles": "Mr Smith ",
    "joined names": "Rose-",
    "pronouns": "dug it ",
    "apostrophes": "a'",
    "letters": "A b ",
    "one word": "a",
    "numbers": "12 ",
    "spaces": " ",
    "Korean": "의사였니? 땅을 팠니? ",
    "Korean without an end": "땅을 팠니 삽으로 ",
    "Korean owners": "땅의 ",
    "Korean joined": "삽과 ",
    "Korean times": "밤사이 ",
    "Korean, one word": "가",
    "accents": "a\u0301",
    "faces": "😀",
}


def shaped(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


@pytest.fixture
def answerer(model_folder: Path, tools_file: Path) -> Answerer:
    import json

    card = json.loads((model_folder / "reader.json").read_text())
    card["input"] = {"max_nodes": 20, "max_tokens": 120, "stride": 16, "facts": 1}
    (model_folder / "reader.json").write_text(json.dumps(card))
    return Answerer.load(str(model_folder), str(tools_file), device="cpu")


def asked(passage: str, text: str = "Did the cook dig a garden?") -> Question:
    return Question(text, passage=Passage(passage))


def steps(answerer: Answerer) -> dict[str, Callable[[str], object]]:
    """What an answer, and the page before it, does with a text."""
    linker = fuzzy_linker(answerer.graph)
    reader = answerer.reader
    collator = Collator(reader.collator.tokenizer, reader.settings)
    return {
        "link": linker.link,
        "people": people,
        "sentence": lambda text: sentence_around(text, Span(len(text) // 2, len(text) // 2)),
        "gloss": lambda text: in_english_order(text, (), {}, asking=False),
        "retrieve": lambda text: answerer.retrieve(asked(text)),
        "collate": lambda text: collator([Example(asked(text))], [[Subgraph()]]),
        "answer": lambda text: answerer.answer(asked(text)),
        "answer in Korean": lambda text: answerer.answer_many([asked(text, "무엇으로 땅을 팠니?")]),
        "Markdown": lambda text: markdown_text(text.encode()),
    }


WHOLE = ("answer", "answer in Korean", "Markdown")
"""Steps that take all the others."""
LENGTHS = (2_000, 20_000)
MOST = 25
"""Times as long for a text of ten times the length: where time is squared it is a hundred times."""


@pytest.fixture(autouse=True)
def without_collection() -> Iterator[None]:
    """What is timed is the step, not the garbage of all tests before it."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def seconds(step: Callable[[str], object], text: str) -> float:
    begin = time.process_time()
    with suppress(InputError):  # refused is good, as long as it is soon
        step(text)
    return time.process_time() - begin


class Watch:
    """How long a step works, and for how long it does not ask whether anybody waits."""

    def __init__(self) -> None:
        self.last = self.longest = 0.0

    def stop(self) -> bool:
        self.longest = max(self.longest, time.process_time() - self.last)
        self.last = time.process_time()
        return False

    def seconds(self, step: Callable[[str], object], text: str) -> float:
        self.last, self.longest = time.process_time(), 0.0
        with cancel_when(self.stop):
            taken = seconds(step, text)
        self.stop()
        return taken


def is_slow(short: float, long: float) -> bool:
    return long > max(MOST * short, 0.5)


def test_every_step_takes_time_in_proportion_to_the_text_and_asks_whether_anybody_waits(
    answerer: Answerer,
) -> None:
    """The steps that take all the others are timed; only where one is slow are the others, to tell which it is."""
    watch, every = Watch(), steps(answerer)
    slow: list[str] = []
    deaf: list[str] = []
    for work in every.values():
        work("The cook dug.")
    answerer.answer(asked("", "땅을 팠니?"))  # the analyser of Korean is loaded once
    for step in WHOLE:
        for name, unit in UNITS.items():
            texts = [shaped(unit, length) for length in LENGTHS]
            for _ in range(2):  # again, for what else the machine does
                taken = seconds(every[step], texts[0]), watch.seconds(every[step], texts[1])
                if not is_slow(*taken) and watch.longest <= 0.4:
                    break
            if is_slow(*taken):
                parts = {part: [round(seconds(every[part], text), 2) for text in texts] for part in every}
                slow.append(f"{step}, {name}: {taken} s, of which {parts}")
            if watch.longest > 0.4:
                deaf.append(f"{step}, {name}: {watch.longest:.2f} s without a look at the time")
    assert not slow and not deaf

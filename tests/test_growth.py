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
from kgqa.korean.answering import KoreanOver
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
    linker, korean = fuzzy_linker(answerer.graph), KoreanOver(answerer.graph)
    reader = answerer.reader
    collator = Collator(reader.collator.tokenizer, reader.settings)
    return {
        "link": linker.link,
        "people": people,
        "sentence": lambda text: sentence_around(text, Span(len(text) // 2, len(text) // 2)),
        "gloss": lambda text: korean.gloss(asked(text, "땅을 팠니?")),
        "retrieve": lambda text: answerer.retrieve(asked(text)),
        "collate": lambda text: collator([Example(asked(text))], [[Subgraph()]]),
        "answer": lambda text: answerer.answer(asked(text)),
        "answer in Korean": lambda text: answerer.answer_many([asked(text, "무엇으로 땅을 팠니?")]),
        "Markdown": lambda text: markdown_text(text.encode()),
    }


WHOLE = ("answer", "answer in Korean", "Markdown")
"""Steps that take all the others."""


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


def test_every_step_takes_time_in_proportion_to_the_text(answerer: Answerer) -> None:
    slow: list[str] = []
    for step, work in steps(answerer).items():
        work("The cook dug.")
        for name, unit in UNITS.items():
            texts = [shaped(unit, length) for length in (2_000, 8_000)]
            taken = [seconds(work, text) for text in texts]
            if taken[1] > max(8 * taken[0], 0.2):  # four times as long; again, for what else the machine does
                taken = [seconds(work, text) for text in texts]
            if taken[1] > max(8 * taken[0], 0.2):
                slow.append(f"{step}, {name}: {taken} s")
    assert not slow


def test_every_step_asks_whether_anybody_waits(answerer: Answerer) -> None:
    last, longest = 0.0, 0.0

    def stop() -> bool:
        nonlocal last, longest
        longest = max(longest, time.process_time() - last)
        last = time.process_time()
        return False

    deaf: list[str] = []
    answerer.answer(asked("", "땅을 팠니?"))  # the words of Korean are read once
    whole = {step: work for step, work in steps(answerer).items() if step in WHOLE}
    for step, work in whole.items():
        for name, unit in UNITS.items():
            text = shaped(unit, 20_000)
            last, longest = time.process_time(), 0.0
            with cancel_when(stop), suppress(InputError):
                work(text)
            stop()
            if longest > 0.4:
                deaf.append(f"{step}, {name}: {longest:.2f} s without a look at the time")
    assert not deaf

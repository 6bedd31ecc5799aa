"""`kgqa ask` with a reader."""

from __future__ import annotations

import json
from pathlib import Path

from kgqa.types import CAUTION, Answer, InputError, Passage, Question, printable

MAX_PASSAGE_BYTES = 1_000_000
"""More than the most characters that are read, in any script."""

_NO_ANSWER = ("(no answer)", "(답 없음)")
_CONFIDENCE = ("confidence", "확신")
_BECAUSE = ("because", "까닭:")
_READING = (
    "known from reading; no single fact decided this; it fits that",
    "읽어서 아는 것이며 한 사실이 정하지는 않음:",
)
_OR = ("or:", "또는:")
_THINGS = (" things:", "가지:")
_PERHAPS = ("I don't know; perhaps", "잘 모르겠습니다. 아마")


def ask_one(
    question: str,
    passage: str,
    choices: tuple[str, ...],
    graph: str,
    model: str,
    as_json: bool,
    device: str = "auto",
    language: str = "auto",
    caution: float = CAUTION,
    none_above: float | None = None,
) -> None:
    """Answer one question and print it; an answer less sure than `caution` is told as a guess."""
    from kgqa import load
    from kgqa.assets import find_model
    from kgqa.checking import check_question, checked_language
    from kgqa.graph.opening import open_graph
    from kgqa.models.encoders.sparing_import import import_encoders

    asked = Question(question, choices, Passage(read_passage(passage)) if passage else None)
    check_question(asked)
    find_model(model)
    checked_language(language)
    opened = open_graph(graph)
    import_encoders()
    answerer = load(model, opened, device=device, language=language, none_above=none_above)
    answer = answerer.shown(answerer.answer(asked))
    if as_json:
        from kgqa.answering.presentation.answer_json import answer_json

        print(json.dumps(answer_json(answer), ensure_ascii=False))
    else:
        show(answer, caution, answerer.is_korean(asked))


def read_passage(passage: str) -> str:
    """The passage, or the content of the file that @FILE names.

    Raises:
        InputError: it is no UTF-8 file of an ordinary size.
    """
    if not passage.startswith("@"):
        return passage
    path = Path(passage[1:])
    try:
        if not path.is_file():
            raise InputError(f"{path}: no regular file; name a UTF-8 text file")
        with path.open("rb") as file:
            content = file.read(MAX_PASSAGE_BYTES + 1)
        if len(content) > MAX_PASSAGE_BYTES:
            raise InputError(f"{path}: larger than {MAX_PASSAGE_BYTES:,} bytes; pass the part that matters")
        return content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: the passage cannot be read ({error}); name a UTF-8 text file") from error


def show(answer: Answer, caution: float, korean: bool = False) -> None:
    """Print an answer for people: how sure it is, why, and what else it might be."""
    from rich.console import Console
    from rich.text import Text

    from kgqa.answering.presentation.sentences import (
        in_full,
        is_decided_by_facts,
        is_guess,
        likely_runners_up,
        path_sentences,
        perhaps,
        source_words,
    )

    console = Console()

    def say(text: str, style: str = "") -> None:
        console.print(Text(printable(text), style=style))

    runners_up = likely_runners_up(answer)
    told = in_full(answer) or _NO_ANSWER[korean]
    if is_guess(answer, caution) and (guess := perhaps(answer)):
        told = f"{_PERHAPS[korean]} {guess}"
    say(told, "bold")
    say(f"{source_words(answer, korean)}, {_CONFIDENCE[korean]} {answer.confidence:.0%}", "dim")
    if answer.items:
        say(f"{len(answer.items)}{_THINGS[korean]}")
        for item in answer.items:
            facts = path_sentences(answer.evidence, item.path) if item.path else []
            say(f"  {item.text}{': ' * bool(facts)}{'; '.join(facts)}")
    elif answer.evidence.paths:
        facts = path_sentences(answer.evidence, answer.evidence.paths[0])
        begin = (_BECAUSE if is_decided_by_facts(answer) else _READING)[korean]
        say(f"{begin} {'; '.join(facts)}")
    others = [f"{c.text} ({c.score:.0%})" for c in runners_up[:3]]
    if others:
        say(f"{_OR[korean]} {', '.join(others)}", "dim")

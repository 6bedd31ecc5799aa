"""`kgqa ask`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from kgqa.assets import DEFAULT_READER, find_model
from kgqa.cli.asking.prompting import is_prompted, open_prompter, prompt_one
from kgqa.cli.options import AsJson, Device, Graph, Language, Model, NoneAbove, Shots, Shown, Worth
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


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    passage: Annotated[str, typer.Option(help="The text it is asked about, or @FILE.")] = "",
    choice: Annotated[list[str] | None, typer.Option(help="A possible answer; repeat for each.")] = None,
    graph: Graph = "everyday",
    model: Model = DEFAULT_READER,
    device: Device = "auto",
    as_json: AsJson = False,
    language: Language = "auto",
    server: Annotated[str, typer.Option(help="Ask a service (`kgqa serve`) at this address instead.")] = "",
    key: Annotated[str, typer.Option(envvar="KGQA_API_KEY", help="Key for --server.")] = "",
    caution: Annotated[
        float, typer.Option(min=0, max=1, help="Confidence below which the answer is called a guess.")
    ] = CAUTION,
    none_above: NoneAbove = None,
    shots: Shots = 0,
    shown: Shown = None,
    worth: Worth = "token",
) -> None:
    """Answer one question, with the evidence; --model may be any causal Hugging Face folder, which is prompted."""
    from kgqa import load
    from kgqa.checking import check_question, checked_language
    from kgqa.graph.opening import open_graph

    choices = tuple(choice or ())
    if server:
        from kgqa.cli.asking.serving import ask_server

        own = {
            "--device": device != "auto",
            "--language": language != "auto",
            "--caution": caution != CAUTION,
            "--none-above": none_above is not None,
            "--shots": shots > 0,
            "--shown": shown is not None,
            "--worth": worth != "token",
        }
        if said := next((name for name, given in own.items() if given), None):
            raise InputError(f"{said} is for a reader that is opened here; leave it out with --server")
        named = (model if model != DEFAULT_READER else "", graph if graph != "everyday" else "")
        ask_server(server, question, read_passage(passage), choices, key, as_json, *named)
        return
    asked = Question(question, choices, Passage(read_passage(passage)) if passage else None)
    if is_prompted(model):
        prompt_one(asked, open_prompter(model, shots, shown, worth, device), as_json)
        return
    check_question(asked)
    find_model(model)
    checked_language(language)
    opened = open_graph(graph)
    from kgqa.models.encoders.sparing_import import import_encoders

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

    from kgqa.answering.presentation import sentences as words

    console = Console()

    def say(text: str, style: str = "") -> None:
        console.print(Text(printable(text), style=style))

    told = words.in_full(answer) or _NO_ANSWER[korean]
    if words.is_guess(answer, caution) and (guess := words.perhaps(answer)):
        told = f"{_PERHAPS[korean]} {guess}"
    say(told, "bold")
    say(f"{words.source_words(answer, korean)}, {_CONFIDENCE[korean]} {answer.confidence:.0%}", "dim")
    if answer.items:
        say(f"{len(answer.items)}{_THINGS[korean]}")
        for item in answer.items:
            facts = words.path_sentences(answer.evidence, item.path) if item.path else []
            say(f"  {item.text}{': ' * bool(facts)}{'; '.join(facts)}")
    elif answer.evidence.paths:
        facts = words.path_sentences(answer.evidence, answer.evidence.paths[0])
        begin = (_BECAUSE if words.is_decided_by_facts(answer) else _READING)[korean]
        say(f"{begin} {'; '.join(facts)}")
    others = [f"{c.text} ({c.score:.0%})" for c in words.likely_runners_up(answer)[:3]]
    if others:
        say(f"{_OR[korean]} {', '.join(others)}", "dim")

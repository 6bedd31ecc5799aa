"""`kgqa ask`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from kgqa.assets import DEFAULT_READER, find_model
from kgqa.cli.asking.prompting import is_prompted, open_prompter, prompt_one
from kgqa.cli.options import AsJson, Device, Graph, Language, Model, NoneAbove, Shots, Shown, Worth
from kgqa.types import CAUTION, Answer, Evidence, EvidencePath, InputError, Passage, Question, printable

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
_READ_AS = ("Read as:", "이렇게 읽음:")
_NEAR = ("The graph does not say it. It does say:", "그래프에 없습니다. 가까운 사실:")


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    passage: Annotated[str, typer.Option(help="The text it is asked about, or @FILE.")] = "",
    choice: Annotated[list[str] | None, typer.Option(help="A possible answer; repeat for each.")] = None,
    graph: Graph = "everyday",
    model: Model = DEFAULT_READER,
    device: Device = "auto",
    as_json: AsJson = False,
    full: Annotated[
        bool, typer.Option("--full", help="With --json: the graph around the evidence too.")
    ] = False,
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

    text = read_passage(passage)
    asked = Question(question, tuple(choice or ()), Passage(text) if text else None)
    of_prompts = {"--shots": shots > 0, "--shown": shown is not None, "--worth": worth != "token"}
    of_reading = {"--language": language != "auto", "--none-above": none_above is not None}
    _refuse({"--full": full and not as_json}, "adds to what --json prints; add --json")
    _refuse(
        {"--caution": caution != CAUTION and as_json}, "words what is printed for people; leave out --json"
    )
    if server:
        own = {"--device": device != "auto", **of_reading, **of_prompts}
        _refuse(own, "is for a reader that is opened here; leave it out with --server")
        named = (model if model != DEFAULT_READER else "", graph if graph != "everyday" else "")
        ask_server(server, asked, key, as_json, full, caution, *named)
        return
    if is_prompted(model):
        others = {
            "--graph": graph != "everyday",
            "--caution": caution != CAUTION,
            "--full": full,
            **of_reading,
        }
        _refuse(others, "is for a reader over a graph; leave it out with a causal language model")
        prompt_one(asked, open_prompter(model, shots, shown, worth, device), as_json)
        return
    _refuse(of_prompts, "is for a causal language model as --model; leave it out")
    check_question(asked)
    find_model(model)
    checked_language(language)
    opened = open_graph(graph)
    from kgqa.models.encoders.sparing_import import import_encoders

    import_encoders()
    from kgqa.models.devices import spare_threads

    spare_threads()
    answerer = load(model, opened, device=device, language=language, none_above=none_above)
    answer = answerer.shown(answerer.answer(asked))
    if as_json:
        from kgqa.answering.presentation.answer_json import answer_json

        print(json.dumps(answer_json(answer, full), ensure_ascii=False))
    else:
        show(answer, caution, answerer.is_korean(asked))


def _refuse(options: dict[str, bool], why: str) -> None:
    """Raise InputError for the first of the options that was given."""
    for name, is_given in options.items():
        if is_given:
            raise InputError(f"{name} {why}")


def ask_server(
    url: str,
    question: Question,
    key: str,
    as_json: bool,
    full: bool,
    caution: float,
    model: str = "",
    graph: str = "",
) -> None:
    """Answer one question by a service, and print it as `kgqa ask` does without one.

    Args:
        url: of the service.
        question: with its passage and choices.
        key: of the service, empty where it has none.
        as_json: print what came back.
        full: with the graph around the evidence.
        caution: confidence below which the answer is called a guess.
        model: of those it serves, empty its first.
        graph: of those it serves, empty its first.

    Raises:
        InputError: the question is refused, or the service does not answer.
    """
    from kgqa.graph.linking.morphology import is_korean_question
    from kgqa.serving.client import Client
    from kgqa.serving.remote import answer_of

    client = Client(url, key, model=model, graph=graph, full=full)
    asked = question.text, question.passage_text, question.choices
    if as_json:
        print(json.dumps(client.answer(*asked), ensure_ascii=False))
        return
    body = client.explain(*asked)  # its evidence is tested, as that of an answer found here is
    answer = answer_of(question, body, {})
    paths = [*answer.evidence.paths, *(item.path for item in answer.items)]
    rows = [*body["evidence"]["paths"], *(item["path"] for item in body["items"])]
    said = {path: row["sentences"] for path, row in zip(paths, rows, strict=True) if path}
    show(answer, caution, is_korean_question(question.text), lambda _, path: said[path])


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


Sentences = Callable[[Evidence, EvidencePath], list[str]]


def show(answer: Answer, caution: float, korean: bool = False, sentences: Sentences | None = None) -> None:
    """Print an answer for people: how sure it is, why, and what else it might be.

    `sentences` of a path are given where it was worded elsewhere.
    """
    from rich.console import Console
    from rich.text import Text

    from kgqa.answering.presentation import sentences as words

    console = Console()

    def say(text: str, style: str = "") -> None:
        console.print(Text(printable(text), style=style))

    sentences = sentences or words.path_sentences
    told = words.in_full(answer) or _NO_ANSWER[korean]
    if words.is_guess(answer, caution) and (guess := words.perhaps(answer)):
        told = f"{_PERHAPS[korean]} {guess}"
    say(told, "bold")
    say(f"{words.source_words(answer, korean)}, {_CONFIDENCE[korean]} {answer.confidence:.0%}", "dim")
    if answer.evidence.reading is not None:
        say(f"{_READ_AS[korean]} {answer.evidence.reading.phrase}", "dim")
    if answer.evidence.near is not None:
        near = answer.evidence.near
        say(f"{_NEAR[korean]} {near.phrase}: {near.result}", "dim")
    if answer.items:
        say(f"{len(answer.items)}{_THINGS[korean]}")
        for item in answer.items:
            facts = sentences(answer.evidence, item.path) if item.path else []
            say(f"  {item.text}{': ' * bool(facts)}{'; '.join(facts)}")
    elif answer.evidence.paths:
        facts = sentences(answer.evidence, answer.evidence.paths[0])
        begin = (_BECAUSE if words.is_decided_by_facts(answer) else _READING)[korean]
        say(f"{begin} {'; '.join(facts)}")
    others = [f"{c.text} ({c.score:.0%})" for c in words.likely_runners_up(answer)[:3]]
    if others:
        say(f"{_OR[korean]} {', '.join(others)}", "dim")

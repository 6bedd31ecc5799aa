"""`kgqa ask` and `kgqa continue`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from kgqa.cli.options import (
    AsJson,
    ChoiceScoreOption,
    Device,
    ExampleFile,
    Graph,
    Language,
    Model,
    NoAnswerThreshold,
    Shots,
)
from kgqa.settings import DEFAULT_READER, MULTILINGUAL, find_model
from kgqa.types import CAUTION, Answer, Evidence, EvidencePath, InputError, Question, printable

if TYPE_CHECKING:
    from kgqa.models.language_model import ChoiceScore as ScoreMethod
    from kgqa.models.language_model import Prompter


# `kgqa ask` with a causal language model, and `kgqa continue`.

CHOICE_SCORES = ("token", "sum", "unconditional")


def is_prompted(model: str) -> bool:
    """Whether a folder contains a causal language model, and neither a reader nor a classifier."""
    folder = Path(model)
    other = any((folder / card).exists() for card in ("reader.json", "task.json"))
    if other or not (folder / "config.json").is_file():
        return False
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        kind, names = str(config.get("model_type", "")), config.get("architectures") or ()
    except (OSError, ValueError, AttributeError):
        return False
    from kgqa.models.language_model import is_causal

    return is_causal(kind, names)


def open_prompter(
    model: str, shots: int, example_file: Path | None, choice_score: str, device: str = "auto"
) -> Prompter:
    """A causal language model as a reader, with `shots` evenly spaced examples of a file in the prompt. Raises
    InputError if the model or file does not exist, or the file has too few examples.
    """
    from kgqa.data.datasets.load import load_dataset
    from kgqa.models.language_model import load_prompter

    if choice_score not in CHOICE_SCORES:
        raise InputError(f"--choice-score {choice_score}: unknown; use one of {', '.join(CHOICE_SCORES)}")
    if shots and example_file is None:
        raise InputError("--shots needs --examples, a JSON-lines file of questions with answers")
    examples = list(load_dataset(str(example_file))) if shots else []
    if len(examples) < shots:
        raise InputError(f"{example_file}: {len(examples)} examples, fewer than --shots {shots}")
    picked = examples[:: max(len(examples) // max(shots, 1), 1)][:shots]
    return load_prompter(Path(model), picked, device=device, choice_score=cast("ScoreMethod", choice_score))


def prompt_one(asked: Question, prompter: Prompter, as_json: bool) -> None:
    """Answer one question by prompt and print it."""
    from kgqa.qa.render import answer_json

    answer = prompter.answer(asked)
    if as_json:
        print(json.dumps(answer_json(answer), ensure_ascii=False))
        return
    print(answer.text or "(no answer)")
    print(f"answered by {prompter.name}, {len(prompter.examples)}-shot, likelihood {answer.confidence:.0%}")
    if len(answer.candidates) > 1:
        print("or: " + ", ".join(f"{c.text} ({c.score:.0%})" for c in answer.candidates[1:4]))


def continue_text(
    text: Annotated[str, typer.Argument(help="Text to continue.")],
    model: Annotated[str, typer.Option("--model", help="Folder of a causal language model.")],
    tokens: Annotated[int, typer.Option(min=1, help="Maximum number of new tokens.")] = 40,
    temperature: Annotated[
        float, typer.Option(min=0, help="Sampling temperature; 0 for greedy decoding.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Random seed for sampling.")] = 0,
    device: Device = "auto",
) -> None:
    """Continue a text with a causal language model."""
    from kgqa.models.language_model import load_prompter

    if not is_prompted(model):
        raise InputError(f"{model}: contains no causal language model; `kgqa pretrain` trains one (gpt2)")
    prompter = load_prompter(Path(model), device=device)
    print(f"{text} {prompter.generate(text, tokens, temperature=temperature, seed=seed).strip()}")


MAX_PASSAGE_BYTES = 1_000_000
"""Maximum size of a passage file; the longest passage allowed takes fewer bytes in any writing system."""


def ask(
    question: Annotated[str, typer.Argument(help="The question.")] = "",
    passage: Annotated[
        str, typer.Option(help="The passage, or @FILE: plain text, Markdown, HTML or PDF.")
    ] = "",
    choice: Annotated[
        list[str] | None, typer.Option(help="Answer choice; repeat the option for each.")
    ] = None,
    graph: Graph = "everyday",
    model: Model = DEFAULT_READER,
    device: Device = "auto",
    as_json: AsJson = False,
    full: Annotated[
        bool, typer.Option("--full", help="With --json: include all candidates, all facts and the subgraph.")
    ] = False,
    language: Language = "auto",
    server: Annotated[
        str, typer.Option(help="URL of a running service (`kgqa serve`) that answers the question.")
    ] = "",
    key: Annotated[str, typer.Option(envvar="KGQA_API_KEY", help="API key for --server.")] = "",
    caution: Annotated[
        float, typer.Option(min=0, max=1, help="Present an answer below this confidence as a guess.")
    ] = CAUTION,
    no_answer_threshold: NoAnswerThreshold = None,
    shots: Shots = 0,
    example_file: ExampleFile = None,
    choice_score: ChoiceScoreOption = "token",
    form: Annotated[
        str,
        typer.Option(help='Logical form to execute instead of a question, such as (COUNT (CLASS "film")).'),
    ] = "",
) -> None:
    """Answer one question, with evidence. If --model is a causal language model, it is prompted.

    Example: kgqa ask "Who rang?" --passage "Ann rang at noon."
    """
    from kgqa import load
    from kgqa.graph.load import open_graph
    from kgqa.validation import check_question, checked_language

    text = read_passage(passage)
    asked = Question(question, choice or (), text)
    of_prompts = {
        "--shots": shots > 0,
        "--examples": example_file is not None,
        "--choice-score": choice_score != "token",
    }
    of_reading = {"--language": language != "auto", "--no-answer-threshold": no_answer_threshold is not None}
    _refuse({"--full": full and not as_json}, "changes the output of --json; add --json")
    _refuse({"--caution": caution != CAUTION and as_json}, "has no effect with --json; leave one out")
    if form:
        others = {"QUESTION": question, "--passage": passage, "--choice": choice, "--server": server}
        _refuse({**others, **of_reading, **of_prompts}, "has no effect with --form; leave it out")
        from kgqa.qa.compute import execute_form

        _print(execute_form(form, open_graph(graph)), as_json, full, 0.0)
        return
    if server:
        own = {"--device": device != "auto", **of_reading, **of_prompts}
        _refuse(own, "applies to a local reader; leave it out with --server")
        # empty: the service's first reader or graph
        named = (model if model != DEFAULT_READER else "", graph if graph != "everyday" else "")
        ask_server(server, asked, key, as_json, full, caution, *named)
        return
    if is_prompted(model):
        own = {"--graph": graph != "everyday", "--caution": caution != CAUTION, "--full": full, **of_reading}
        _refuse(own, "applies to a reader over a graph; leave it out with a causal language model")
        prompt_one(asked, open_prompter(model, shots, example_file, choice_score, device), as_json)
        return
    _refuse(of_prompts, "is for a causal language model as --model; leave it out")
    check_question(asked)
    find_model(model)
    checked_language(language)
    opened = open_graph(graph)
    from kgqa.models.devices import use_one_thread

    use_one_thread()
    answerer = load(
        model, opened, device=device, language=language, no_answer_threshold=no_answer_threshold, once=True
    )
    answer = answerer.shown(answerer.answer(asked))
    _print(answer, as_json, full, caution, answerer.language_of(asked))


def _print(answer: Answer, as_json: bool, full: bool, caution: float, language: str = "en") -> None:
    """Print an answer in words, or as JSON; with `full`, including all candidates, all facts and the subgraph."""
    from kgqa.qa.render import response_json

    if as_json:
        print(json.dumps(response_json(answer, full), ensure_ascii=False))
    else:
        print_answer(answer, caution, language)


def _refuse(options: Mapping[str, object], why: str) -> None:
    """Raise InputError for the first option that is given (true), with the reason `why`."""
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
    """Send one question to a service, by default to its first reader and graph, and print the answer. Raises InputError
    if the question is rejected, or the service does not respond.
    """
    from kgqa.language.detect import question_language
    from kgqa.serving.remote import Client, answer_of

    client = Client(url, key, model=model, graph=graph, full=full or not as_json)
    asked = question.text, question.passage_text, question.choices
    if as_json:
        print(json.dumps(client.answer(*asked), ensure_ascii=False))
        return
    body = client.explain(*asked)  # with attribution, as for a local answer
    answer = answer_of(question, body, {})
    paths = [*answer.evidence.paths, *(item.path for item in answer.items)]
    rows = [*body["evidence"]["paths"], *(item["path"] for item in body["items"])]
    sentences_of = {path: row["sentences"] for path, row in zip(paths, rows, strict=True) if path}
    print_answer(
        answer,
        caution,
        question_language(question.text, question.passage_text),
        lambda _, path: sentences_of[path],
    )


def read_passage(passage: str) -> str:
    """The passage, or the text of the file that @FILE names: plain text, Markdown, a web page or PDF. Raises InputError
    if there is no such file, or it is too large or unreadable.
    """
    from kgqa.data.documents import text_of

    if not passage.startswith("@"):
        return passage
    path = Path(passage[1:])
    try:
        if not path.is_file():
            raise InputError(f"{path}: not a regular file; give a UTF-8 text file")
        with path.open("rb") as file:
            content = file.read(MAX_PASSAGE_BYTES + 1)
        if len(content) > MAX_PASSAGE_BYTES:
            raise InputError(f"{path}: larger than {MAX_PASSAGE_BYTES:,} bytes; pass the part that matters")
        if path.suffix.lower() in (".pdf", ".md", ".html", ".htm"):
            return text_of(path.name, content)
        return content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: the passage cannot be read ({error}); give a UTF-8 text file") from error


Sentences = Callable[[Evidence, EvidencePath], list[str]]


def print_answer(
    answer: Answer, caution: float, language: str = "en", sentences: Sentences | None = None
) -> None:
    """Print an answer with its confidence, evidence and runners-up.

    `sentences` verbalizes a path; default: `path_sentences`, as for a local answer.
    """
    from rich.console import Console
    from rich.text import Text

    from kgqa.language import wording
    from kgqa.language.care import turn_to
    from kgqa.qa import render as words

    console, phrase = Console(), partial(wording.answer_phrase, language)

    def say(text: str, style: str = "") -> None:
        console.print(Text(printable(text), style=style))

    if answer.harm:
        say(turn_to(answer.question, answer.harm), "bold")
        return
    sentences = sentences or words.path_sentences
    output = words.in_full(answer) or phrase("none_of_them" if words.is_none_of_them(answer) else "no_answer")
    if words.is_guess(answer, caution) and (guess := words.perhaps(answer)):
        output = f"{phrase('perhaps')} {guess}"
    say(output, "bold")
    reader = f", {answer.model}" * (answer.model == MULTILINGUAL)
    say(
        f"{words.source_words(answer, language)}, {phrase('confidence')} {answer.confidence:.0%}{reader}",
        "dim",
    )
    if answer.evidence.interpretation is not None:
        begin = phrase("because" if words.is_computed(answer) else "read_as")
        say(f"{begin} {answer.evidence.interpretation.phrase}", "dim")
    if answer.evidence.near is not None:
        near = answer.evidence.near
        say(f"{phrase('near')} {near.phrase}: {near.result}", "dim")
    if answer.items:
        say(f"{len(answer.items)}{phrase('things')}")
        for item in answer.items:
            facts = sentences(answer.evidence, item.path) if item.path else []
            say(f"  {item.text}{': ' * bool(facts)}{'; '.join(facts)}")
    elif answer.evidence.paths:
        facts = sentences(answer.evidence, answer.evidence.paths[0])
        begin = phrase("because" if words.is_decided_by_facts(answer) else "fits")
        say(f"{begin} {'; '.join(facts)}")
    others = [f"{candidate.text} ({share:.0%})" for candidate, share in words.beside(answer, caution)[:3]]
    if others:
        say(f"{phrase('or')} {', '.join(others)}", "dim")

"""`kgqa ask` with a causal language model, and `kgqa continue`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from kgqa.cli.options import Device
from kgqa.types import InputError, Question

if TYPE_CHECKING:
    from kgqa.models.language.prompting import Prompter, Worth

WORTHS = ("token", "sum", "unconditional")


def is_prompted(model: str) -> bool:
    """Whether a folder holds a causal language model and neither reader nor classifier."""
    folder = Path(model)
    other = any((folder / card).exists() for card in ("reader.json", "task.json"))
    if other or not (folder / "config.json").is_file():
        return False
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        kind, names = str(config.get("model_type", "")), config.get("architectures") or ()
    except (OSError, ValueError, AttributeError):
        return False
    from kgqa.models.language.language_model import is_causal

    return is_causal(kind, names)


def open_prompter(model: str, shots: int, shown: Path | None, worth: str, device: str = "auto") -> Prompter:
    """A causal language model as a reader, with so many examples of a file before each question.

    Raises:
        InputError: there is no such model or file, or too few examples in it.
    """
    from kgqa.models.language.prompting import load_prompter
    from kgqa.text.datasets.loading import load_dataset

    if worth not in WORTHS:
        raise InputError(f"--worth {worth}: unknown; write one of {', '.join(WORTHS)}")
    if shots and shown is None:
        raise InputError("--shots needs --shown, a JSON-lines file of questions with answers")
    examples = list(load_dataset(str(shown))) if shots else []
    if len(examples) < shots:
        raise InputError(f"{shown}: {len(examples)} examples, {shots} are to be shown")
    picked = examples[:: max(len(examples) // max(shots, 1), 1)][:shots]
    return load_prompter(Path(model), picked, device=device, worth=cast("Worth", worth))


def prompt_one(asked: Question, prompter: Prompter, as_json: bool) -> None:
    """Answer one question by prompt and print it."""
    from kgqa.answering.presentation.answer_json import answer_json

    answer = prompter.answer(asked)
    if as_json:
        print(json.dumps(answer_json(answer), ensure_ascii=False))
        return
    print(answer.text or "(no answer)")
    print(
        f"said by {prompter.name}, {len(prompter.shown)} examples shown, likelihood {answer.confidence:.0%}"
    )
    if len(answer.candidates) > 1:
        print("or: " + ", ".join(f"{c.text} ({c.score:.0%})" for c in answer.candidates[1:4]))


def continue_text(
    text: Annotated[str, typer.Argument(help="How the story begins.")],
    model: Annotated[str, typer.Option("--model", help="Folder of a causal language model.")],
    tokens: Annotated[int, typer.Option(min=1, help="To go on with, at most.")] = 40,
    temperature: Annotated[
        float, typer.Option(min=0, help="0 takes the likeliest words; else they are drawn.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 0,
    device: Device = "auto",
) -> None:
    """Go on with a text, by a causal language model."""
    from kgqa.models.language.prompting import load_prompter

    if not is_prompted(model):
        raise InputError(f"{model}: no causal language model here; `kgqa pretrain` with gpt2 makes one")
    prompter = load_prompter(Path(model), device=device)
    print(f"{text} {prompter.go_on(text, tokens, temperature=temperature, seed=seed).strip()}")

"""The `kgqa` command. Commands import what they need when they run, so that --help is instant."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from kgqa import __version__
from kgqa.cli.ask import ask, continue_text
from kgqa.cli.evaluate import evaluate_task
from kgqa.cli.options import (
    Device,
    Engine,
    Graph,
    Language,
    Model,
    NoAnswerThreshold,
    Overwrite,
    add_from_checkout,
)
from kgqa.cli.serve import serve, serve_app, serve_tools
from kgqa.cli.train import adapt_reader, pretrain_recipe, train_recipe
from kgqa.limits.cancellation import is_panic
from kgqa.renamed import current_arguments
from kgqa.settings import DEFAULT_READER
from kgqa.types import InputError, first_line, printable

ENVIRONMENT = {
    "OMP_WAIT_POLICY": "passive",  # spinning threads slow every other process down
    "HF_HUB_OFFLINE": "1",  # nothing is downloaded at run time
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
}

app = typer.Typer(
    name="kgqa",
    help="Question answering over text and knowledge graphs.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kgqa {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Question answering over text and knowledge graphs."""


def predict(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="Questions: JSON lines, CSV, TSV or Parquet; a file or a URL.")
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT.jsonl", help="Answers in the same order: JSON lines or Parquet; a file or a URL."
        ),
    ],
    graph: Graph = "everyday",
    model: Model = DEFAULT_READER,
    batch: Annotated[int, typer.Option(min=1, help="Batch size.")] = 16,
    device: Device = "auto",
    language: Language = "auto",
    engine: Annotated[Engine, typer.Option(help="local, or ray (the cluster at RAY_ADDRESS).")] = "local",
    workers: Annotated[
        int, typer.Option(min=1, help="Ray only: number of parallel readers, one core or GPU each.")
    ] = 2,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first malformed row instead of skipping it.")
    ] = False,
    no_answer_threshold: NoAnswerThreshold = None,
    overwrite: Overwrite = False,
) -> None:
    """Answer a file of questions (resumable); if --model is a classifier, label the file's rows with it."""
    from kgqa.cli import predict as predict_module

    if (Path(model) / "task.json").is_file():
        predict_module.classify_file(Path(source), Path(target), Path(model), batch, device, overwrite)
        return
    run = predict_module.PredictionRun(
        graph, model, batch, device, language, engine, workers, strict, no_answer_threshold
    )
    predict_module.predict_file(source, target, run, overwrite)


COMMANDS: dict[str, Callable[..., None]] = {
    "ask": ask,
    "continue": continue_text,
    "predict": predict,
    "evaluate": evaluate_task,
    "train": train_recipe,
    "adapt": adapt_reader,
    "pretrain": pretrain_recipe,
    "serve": serve,
    "mcp": serve_tools,
    "app": serve_app,
}
for name, command in COMMANDS.items():
    app.command(name=name)(command)
add_from_checkout(
    app,
    "compare",
    "training.experiments.commands:compare_rows",
    "Train the reasoners under one recipe, and print a table of results.",
)
add_from_checkout(
    app, "suite", "training.experiments.commands:suite", "Evaluate a reader on a suite of graphs."
)
add_from_checkout(
    app,
    "probe",
    "training.experiments.commands:probe_encoder",
    "Evaluate an encoder: held-out loss, BLiMP, and small fine-tunes.",
)


def run() -> None:
    """Entry point: bad input ends in one line on standard error and exit code 2."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    from kgqa.cli.graph import graph_app

    app.add_typer(graph_app, name="graph", help="Import, inspect and export knowledge graphs.")
    try:
        code = app(args=current_arguments(sys.argv[1:]), standalone_mode=False)
        if code == 130:  # typer's code for KeyboardInterrupt
            print("kgqa: interrupted; run the same command again to resume", file=sys.stderr)
        sys.exit(code)
    except TyperException as error:  # an unknown command, option or argument
        if wrong := error.format_message():  # empty if the help was shown
            context = getattr(error, "ctx", None)
            command = context.command_path if context else "kgqa"
            print(f"kgqa: {printable(wrong.rstrip('.'))}; see {command} --help", file=sys.stderr)
        sys.exit(error.exit_code)
    except InputError as error:
        print(f"kgqa: {printable(str(error))}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader of the output, such as `head`, has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        message = f"{error.filename or 'the system'}: {error.strerror or error}"
        print(f"kgqa: {printable(message)}; check the path and the free disk space", file=sys.stderr)
        sys.exit(2)
    except MemoryError:
        print("kgqa: not enough memory; give a smaller input", file=sys.stderr)
        sys.exit(2)
    except BaseException as error:
        if not is_panic(error):
            raise
        print(f"kgqa: a library crashed ({printable(first_line(error))}); try other input", file=sys.stderr)
        sys.exit(2)

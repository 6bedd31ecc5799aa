"""The `kgqa` command. Commands import what they need when they run, so that --help is instant."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from kgqa import __version__
from kgqa.assets import DEFAULT_READER
from kgqa.cli.asking.answering import ask
from kgqa.cli.asking.prompting import continue_text
from kgqa.cli.asking.serving import serve, serve_app, serve_tools
from kgqa.cli.evaluation.evaluating import compare_rows, evaluate_task, probe_encoder
from kgqa.cli.options import Ablated, AsJson, Device, Engine, Graph, Language, Model, NoneAbove, Overwrite
from kgqa.cli.training.adapting import adapt_reader
from kgqa.cli.training.recipes import learn, pretrain_recipe, train_recipe
from kgqa.limits.panics import is_panic
from kgqa.types import InputError, first_line, printable

ENVIRONMENT = {
    "OMP_WAIT_POLICY": "passive",  # spinning threads slow every other process down
    "HF_HUB_OFFLINE": "1",  # nothing is downloaded at run time
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
}

app = typer.Typer(
    name="kgqa",
    help="Reading comprehension that knows what the passage leaves unsaid.",
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
    """Reading comprehension that knows what the passage leaves unsaid."""


def predict(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="JSON lines, a table or Parquet; or an address.")
    ],
    target: Annotated[
        str, typer.Argument(metavar="OUT.jsonl", help="An answer a line; or Parquet, an address.")
    ],
    graph: Graph = "everyday",
    model: Model = DEFAULT_READER,
    batch: Annotated[int, typer.Option(min=1, help="Questions read together.")] = 16,
    device: Device = "auto",
    language: Language = "auto",
    engine: Annotated[Engine, typer.Option(help="local, or ray: on the cluster of RAY_ADDRESS.")] = "local",
    workers: Annotated[int, typer.Option(min=1, help="For ray: readers at work, a core or GPU each.")] = 2,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at a row that holds no question.")] = False,
    none_above: NoneAbove = None,
    overwrite: Overwrite = False,
) -> None:
    """Answer a file of questions, or with a classifier label a file; a stopped run of answers goes on where it was."""
    from kgqa.cli.asking import predicting

    if (Path(model) / "task.json").is_file():
        predicting.classify_file(Path(source), Path(target), Path(model), batch, device, overwrite)
        return
    run = predicting.Run(graph, model, batch, device, language, engine, workers, strict, none_above)
    predicting.predict(source, target, run, overwrite)


def suite(
    of: Annotated[str, typer.Argument(metavar="[graphs|edits]", help="Questions, or what if.")] = "graphs",
    data: Annotated[Path | None, typer.Option(help="Folder of graphs with their questions.")] = None,
    model: Model = DEFAULT_READER,
    device: Device = "auto",
    limit: Annotated[int | None, typer.Option(help="Only the first so many questions of each graph.")] = None,
    as_json: AsJson = False,
    sparql: Annotated[bool, typer.Option("--sparql", help="Ask through an endpoint here.")] = False,
    ablation: Ablated = "none",
) -> None:
    """Measure a reader on many graphs that it was not trained on."""
    from kgqa.cli.evaluation.suites import evaluate_edits, evaluate_graphs

    if of == "graphs":
        evaluate_graphs(data, model, as_json, sparql, limit, device, ablation)
    elif of == "edits":
        evaluate_edits(data, model, as_json, device)
    else:
        raise InputError(f"{of}: no such suite; it is graphs or edits")


COMMANDS: dict[str, Callable[..., None]] = {
    "ask": ask,
    "continue": continue_text,
    "predict": predict,
    "evaluate": evaluate_task,
    "compare": compare_rows,
    "suite": suite,
    "train": train_recipe,
    "adapt": adapt_reader,
    "pretrain": pretrain_recipe,
    "words": learn,
    "probe": probe_encoder,
    "serve": serve,
    "mcp": serve_tools,
    "app": serve_app,
}
for name, command in COMMANDS.items():
    app.command(name=name)(command)


def run() -> None:
    """Entry point: bad input ends in one line on standard error and exit code 2."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    from kgqa.cli.graph.commands import graph_app

    app.add_typer(graph_app, name="graph", help="Import, look at and export knowledge graphs.")
    try:
        app()
    except InputError as error:
        print(f"kgqa: {printable(str(error))}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        said = f"{error.filename or 'the system'}: {error.strerror or error}"
        print(f"kgqa: {printable(said)}; check the path and the room on the disk", file=sys.stderr)
        sys.exit(2)
    except MemoryError:
        print("kgqa: not enough memory; give a smaller input", file=sys.stderr)
        sys.exit(2)
    except BaseException as error:
        if isinstance(error, SystemExit) and error.code == 130:  # what typer makes of KeyboardInterrupt
            print("kgqa: interrupted; the same command goes on", file=sys.stderr)
        if not is_panic(error):
            raise
        print(
            f"kgqa: a library breaks down ({printable(first_line(error))}); give other input", file=sys.stderr
        )
        sys.exit(2)

"""The `kgqa` command. Thin: commands import what they need when they run, so that --help is instant."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from kgqa import __version__
from kgqa.assets import DEFAULT_READER, RECIPES
from kgqa.cli.options import (
    Ablated,
    AsJson,
    Device,
    Engine,
    Graph,
    Language,
    Limit,
    Model,
    NoneAbove,
    Shots,
    Shown,
    Worth,
)
from kgqa.types import CAUTION, InputError, printable

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

COMPARED = RECIPES / "compare" / "commonsenseqa.toml"


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


@app.command()
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
    from kgqa.cli.asking.answering import ask_one, read_passage
    from kgqa.cli.asking.prompting import as_question, is_prompted, open_prompter, prompt_one

    if server:
        from kgqa.cli.asking.serving import ask_server

        named = (model if model != DEFAULT_READER else "", graph if graph != "everyday" else "")
        ask_server(server, question, read_passage(passage), tuple(choice or ()), key, as_json, *named)
        return
    if is_prompted(model):
        prompter = open_prompter(model, shots, shown, worth, device)
        prompt_one(as_question(question, passage, choice or ()), prompter, as_json)
        return
    options = (device, language, caution, none_above)
    ask_one(question, passage, tuple(choice or ()), graph, model, as_json, *options)


@app.command(name="continue")
def go_on(
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
    from kgqa.cli.asking.prompting import continue_text

    continue_text(text, model, tokens, temperature, seed, device)


@app.command()
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
) -> None:
    """Answer a file of questions, or with a classifier label a file; a stopped run of answers goes on where it was."""
    if (Path(model) / "task.json").is_file():
        from kgqa.cli.asking.classifying import classify_file

        classify_file(Path(source), Path(target), Path(model), batch, device)
        return
    from kgqa.cli.asking import predicting

    run = predicting.Run(graph, model, batch, device, language, engine, workers, strict, none_above)
    predicting.predict(source, target, run)


@app.command()
def evaluate(
    task: Annotated[str, typer.Argument(help="Data set name, or `own` with --data.")],
    data: Annotated[Path | None, typer.Option(help="Your own JSONL with answers.")] = None,
    graph: Graph = "everyday",
    model: Model = DEFAULT_READER,
    device: Device = "auto",
    limit: Limit = None,
    as_json: AsJson = False,
    language: Language = "auto",
    deletion: Annotated[int, typer.Option(min=0, help="So many explanations are tested too.")] = 0,
    calibrate: Annotated[bool, typer.Option("--calibrate", help="First fit and store its table.")] = False,
    none_above: NoneAbove = None,
    ablation: Ablated = "none",
    shots: Shots = 0,
    shown: Shown = None,
    worth: Worth = "token",
) -> None:
    """Measure a reader on a data set."""
    from kgqa.cli.asking.prompting import is_prompted, open_prompter
    from kgqa.cli.evaluation.evaluating import evaluate_prompted, evaluate_task

    if is_prompted(model):
        evaluate_prompted(task, data, open_prompter(model, shots, shown, worth, device), limit, as_json)
        return
    fitted = (deletion, calibrate, device, language, ablation, none_above)
    evaluate_task(task, data, graph, model, limit, as_json, *fitted)


@app.command()
def compare(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE.toml", help="What every row follows.")] = COMPARED,
    overrides: Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE...")] = None,
    rows: Annotated[str, typer.Option(help="Rows, separated by ';' (default all).")] = "",
    seeds: Annotated[int, typer.Option(min=1, help="Of each row.")] = 3,
    limit: Limit = None,
    out: Annotated[Path, typer.Option(help="Resumable folder.")] = Path("runs/compare"),
    as_json: AsJson = False,
) -> None:
    """Train all reasoners alike, and measure them."""
    from kgqa.cli.evaluation.comparing import compare_rows

    compare_rows(recipe, overrides or [], rows, seeds, limit, out, as_json)


@app.command()
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


@app.command()
def train(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE.toml")],
    overrides: Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE...")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for checkpoints; default runs/NAME.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="So many trainings; tells mean and spread.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Train a reader or a classifier; run the same line again to resume."""
    from kgqa.cli.training.recipes import train_recipe

    train_recipe(recipe, overrides or [], out, seeds, as_json)


@app.command()
def adapt(
    graph: Annotated[str, typer.Argument(help="RDF or TSV file, imported folder, or shipped name.")],
    model: Model = DEFAULT_READER,
    out: Annotated[Path | None, typer.Option(help="Its folder; default runs/adapted-GRAPH.")] = None,
    minutes: Annotated[float, typer.Option(min=0.01, help="Length of the training.")] = 5.0,
    questions: Annotated[int, typer.Option(min=20, help="Questions made of the graph's facts.")] = 600,
    steps: Annotated[int | None, typer.Option(min=1, help="End the training after so many steps.")] = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Fit a reader to one graph by questions made of its facts; says what that brought on others."""
    from kgqa.cli.training.adapting import adapt_reader

    adapt_reader(graph, model, out, minutes, questions, steps, device, as_json)


@app.command()
def pretrain(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE.toml")],
    overrides: Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE...")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for checkpoints; default runs/NAME.")] = None,
) -> None:
    """Pretrain an encoder; run the same line again to resume."""
    from kgqa.cli.training.recipes import pretrain_recipe

    pretrain_recipe(recipe, overrides or [], out)


@app.command()
def words(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE.toml")],
    overrides: Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE...")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the vectors; default runs/NAME.")] = None,
    show: Annotated[list[str] | None, typer.Option(help="A word whose neighbours to print; repeat.")] = None,
) -> None:
    """Learn word vectors by counting what goes with what in texts and graphs."""
    from kgqa.cli.training.word_vectors import learn

    learn(recipe, overrides or [], out, show or [])


@app.command()
def probe(
    folder: Annotated[str, typer.Argument(help="Hugging Face folder, ours or anyone's, or a shipped name.")],
    tasks: Annotated[str, typer.Option(help="By comma; squad2 and squad (both) are known too.")] = (
        "heldout,blimp,csqa,squad1,cola,sst2,rte"
    ),
    tokens: Annotated[int | None, typer.Option(min=1, help="End fine-tunes after so many tokens.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask fine-tunes the first so many development questions.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Fine-tunes of each task.")] = 1,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of each of BLiMP's paradigms (1,000: all).")] = 100,
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="Take the architecture only, with random weights.")
    ] = False,
    sift: Annotated[float, typer.Option(min=0.0, help="Weight of virtual adversarial training.")] = 0.0,
    as_json: AsJson = False,
    name: Annotated[str, typer.Option(help="What the table calls it; default the folder's name.")] = "",
    out: Annotated[Path, typer.Option(help="Folder of the figures; resumable.")] = Path("runs/probes"),
) -> None:
    """Measure an encoder: held-out loss, BLiMP, and small fine-tunes."""
    from kgqa.cli.evaluation.probing import probe_encoder

    options = (limit, tokens, seeds, pairs, from_scratch, sift)
    probe_encoder(folder, tasks, *options, as_json, name, out)


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="0.0.0.0 lets others in this network ask.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8600,
    graph: Annotated[list[str] | None, typer.Option(help="A graph to answer from; repeat.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="A reader to answer with; repeat.")] = None,
    device: Device = "auto",
    language: Language = "auto",
    processes: Annotated[int, typer.Option(min=1, help="They share the port and the graph's pages.")] = 1,
    keys: Annotated[Path | None, typer.Option(help="API keys, one a line; else anyone may ask.")] = None,
    rate: Annotated[float, typer.Option(min=0, help="Requests a minute of one caller; 0: any.")] = 0,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds from question to answer.")] = 30,
    batch: Annotated[int, typer.Option(min=1, help="Questions of many callers read together.")] = 16,
    waiting: Annotated[int, typer.Option(min=1, help="Questions that may wait; else 503.")] = 1000,
    log_texts: Annotated[bool, typer.Option(help="Write questions and passages to the log.")] = False,
) -> None:
    """Answer over HTTP: /v1/answer, /v1/answers, /v1/explain, /v1/what-if; described at /docs."""
    from kgqa.cli.asking import serving

    serving.need("fastapi", "serve")
    from kgqa.serving.guarding import Limits

    limits = Limits(
        serving.read_keys(keys),
        rate,
        timeout_s=timeout,
        batch=batch,
        most_waiting=waiting,
        log_texts=log_texts,
    )
    models, graphs = tuple(model or (DEFAULT_READER,)), tuple(graph or ("everyday",))
    serving.serve(serving.Served(models, graphs, device, language, limits), host, port, processes)


@app.command()
def mcp(
    graph: Graph = "everyday",
    model: Model = DEFAULT_READER,
    device: Device = "auto",
    language: Language = "auto",
    http: Annotated[int | None, typer.Option(min=1, max=65535, help="Port here; else stdin.")] = None,
) -> None:
    """Offer an agent the tools answer, explain and graph_search (Model Context Protocol)."""
    from kgqa.cli.asking.serving import serve_tools

    serve_tools(model, graph, device, language, http)


@app.command(name="app")
def open_app(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 8501,
    graph: Graph = "everyday",
    model: Model = DEFAULT_READER,
    device: Device = "auto",
    reader: Annotated[list[str] | None, typer.Option(help="Another reader to compare; repeat.")] = None,
    address: Annotated[str, typer.Option(help="0.0.0.0 lets others in this network ask.")] = "127.0.0.1",
    allow_sparql: Annotated[bool, typer.Option(help="Let visitors name SPARQL endpoints.")] = False,
    server: Annotated[str, typer.Option(help="Let a service (`kgqa serve`) at this address answer.")] = "",
    key: Annotated[str, typer.Option(envvar="KGQA_API_KEY", help="Key for --server.")] = "",
    headless: Annotated[bool, typer.Option(help="Open no browser.")] = False,
) -> None:
    """Open the app in a browser."""
    from kgqa.cli.asking.serving import serve_app

    environment = {
        "KGQA_GRAPH": graph,
        "KGQA_MODEL": model,
        "KGQA_DEVICE": device,
        "KGQA_READERS": os.pathsep.join(reader or []),
        "KGQA_ALLOW_SPARQL": "1" if allow_sparql else "",
        "KGQA_SERVER": server,
        "KGQA_API_KEY": key,
    }
    serve_app(environment, port, address, headless)


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
    except SystemExit as end:
        if end.code == 130:  # what typer makes of KeyboardInterrupt
            print("kgqa: interrupted; the same command goes on", file=sys.stderr)
        raise

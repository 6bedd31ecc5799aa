"""`kgqa adapt`: a reader for one graph, and what that brought."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgqa.assets import DEFAULT_READER, find_model, output_file, write_whole
from kgqa.cli.options import AsJson, Device, Model
from kgqa.types import Example, InputError

if TYPE_CHECKING:
    from kgqa.answering.answerer import Answerer


def adapt_reader(
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
    from kgqa.answering.answerer import Answerer
    from kgqa.graph.opening import open_graph
    from kgqa.trainer.finetuning.adapting import adapt, own_questions

    folder, opened = find_model(model), open_graph(graph)
    target = out or Path("runs") / f"adapted-{opened.name}"
    if (target / "export").exists():
        raise InputError(
            f"{target}: holds an adapted reader already; take another --out, or remove the folder"
        )
    output_file(target / "report.json", overwrite=False)
    train, held = own_questions(opened, questions)
    before = _figures(Answerer.load(str(folder), opened, device=device), held)
    exported = adapt(folder, graph, train, target, minutes, steps)
    after = _figures(Answerer.load(str(exported), opened, device=device), held)
    report = {"graph": opened.name, "trained_on": len(train), "before": before, "after": after}
    written = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    write_whole(target / "report.json", written)
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return
    _show(opened.name, before, after)
    print(f"the reader is in {exported}; ask it with: kgqa ask ... --graph {graph} --model {exported}")


def _figures(answerer: Answerer, examples: Sequence[Example]) -> dict[str, tuple[int, int]]:
    """(right, asked) of each kind of question, and of all."""
    from kgqa.evaluation.graph_suite import is_right

    found: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for at in range(0, len(examples), 16):
        chunk = examples[at : at + 16]
        for example, answer in zip(chunk, answerer.answer_many([e.question for e in chunk]), strict=True):
            right = is_right(answer.best, example.concepts)
            for key in (example.kind, "all"):
                found[key] = (found[key][0] + right, found[key][1] + 1)
    return dict(found)


def _show(graph: str, before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]) -> None:
    from rich.console import Console
    from rich.table import Table

    title = f"questions about facts that were not trained on, {graph}"
    table = Table("kind", "questions", "before, %", "after, %", title=title)
    for kind in sorted(before, key=lambda key: (key == "all", key)):
        shares = (f"{100 * right / asked:.1f}" for right, asked in (before[kind], after[kind]))
        table.add_row(kind, str(before[kind][1]), *shares)
    Console().print(table)

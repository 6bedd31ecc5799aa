"""`kgqa adapt`: a reader for one graph, and what that brought."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa.types import Example, InputError

if TYPE_CHECKING:
    from kgqa.answering.answerer import Answerer


def adapt_reader(
    graph: str,
    model: str,
    out: Path | None,
    minutes: float,
    count: int,
    steps: int | None,
    device: str,
    as_json: bool,
) -> None:
    """Make questions of a graph's facts, train the reader on some of them, and print how it answers the others.

    Raises:
        InputError: the graph has too few facts, or graph or reader cannot be used.
    """
    from kgqa.answering.answerer import Answerer
    from kgqa.assets import find_model
    from kgqa.graph.opening import open_graph
    from kgqa.trainer.finetuning.adapting import adapt, own_questions

    folder, opened = find_model(model), open_graph(graph)
    target = out or Path("runs") / f"adapted-{opened.name}"
    if (target / "export").exists():
        raise InputError(
            f"{target}: holds an adapted reader already; take another --out, or remove the folder"
        )
    train, held = own_questions(opened, count)
    before = _figures(Answerer.load(str(folder), opened, device=device), held)
    exported = adapt(folder, graph, train, target, minutes, steps)
    after = _figures(Answerer.load(str(exported), opened, device=device), held)
    report = {"graph": opened.name, "trained_on": len(train), "before": before, "after": after}
    (target / "report.json").write_text(
        json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return
    _show(report)
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


def _show(report: dict[str, object]) -> None:
    from rich.console import Console
    from rich.table import Table

    before, after = report["before"], report["after"]
    assert isinstance(before, dict) and isinstance(after, dict)
    title = f"questions about facts that were not trained on, {report['graph']}"
    table = Table("kind", "questions", "before, %", "after, %", title=title)
    for kind in sorted(before, key=lambda key: (key == "all", key)):
        shares = (f"{100 * right / asked:.1f}" for right, asked in (before[kind], after[kind]))
        table.add_row(kind, str(before[kind][1]), *shares)
    Console().print(table)

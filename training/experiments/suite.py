"""`kgqa suite graphs` and `kgqa suite edits`: what is made of many graphs, without retraining."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from itertools import groupby, islice
from pathlib import Path

from kgqa.graph.load import open_graph
from kgqa.graph.overlay import OverlayGraph
from kgqa.graph.retrieval.ablation import find_ablation
from kgqa.graph.storage.store import GraphStore
from kgqa.settings import GRAPH_SUITE
from kgqa.types import KnowledgeGraph
from training.experiments import graph_suite
from training.experiments.graph_suite import AnswerMany, SuiteResult, System


def evaluate_graphs(
    data: Path | None,
    model: str,
    as_json: bool,
    sparql: bool,
    limit: int | None,
    device: str = "auto",
    ablation: str = "none",
) -> None:
    """Ask every question of a folder of graphs and print who got how many of each kind, and of each graph.

    `sparql` serves each graph on loopback and asks the endpoint; `limit` takes the first questions of each graph;
    `ablation` takes something away from what the reader is shown (`kgqa/graph/retrieval/ablation.py`).
    """
    from training.experiments.baselines import BASELINES
    from training.experiments.sparql_server import serve

    by_graph = groupby(graph_suite.load_suite(data or GRAPH_SUITE), key=lambda asked: asked.graph)
    suite = [asked for _, own in by_graph for asked in islice(own, limit)]
    find_ablation(ablation)
    systems: dict[str, System] = {"reader": _reader(model, device, ablation)}
    systems |= {name: lambda graph, made=made: made(graph).answer_many for name, made in BASELINES.items()}  # type: ignore[misc]
    with ExitStack() as endpoints:
        opened: dict[Path, KnowledgeGraph] = {}

        def open_once(path: Path) -> KnowledgeGraph:
            if path not in opened:
                graph = open_graph(path)
                if sparql and isinstance(graph, GraphStore):
                    graph = open_graph(endpoints.enter_context(serve(path, graph)))
                opened[path] = graph
            return opened[path]

        results = graph_suite.ask_suite(suite, systems, open_once)
    if as_json:
        report = {"model": model, "sparql": sparql, "ablation": ablation, "questions": len(suite)}
        found = graph_suite.figures(results, "kind")["reader"]
        shares = {kind: right / asked for kind, (right, asked) in found.items()}
        print(json.dumps({**report, **shares, "results": [*map(asdict, results)]}, ensure_ascii=False))
        return
    how = " by SPARQL" * sparql + f", facts: {ablation}" * (ablation != "none")
    _show(results, f"{model} over {len(opened)} graphs{how}")


def evaluate_edits(data: Path | None, model: str, as_json: bool, device: str = "auto") -> None:
    """Ask the questions of the edits before and after them and print how often the answer moved as it should."""
    from rich.console import Console
    from rich.table import Table

    folder = data or GRAPH_SUITE
    edits = graph_suite.load_edits(folder)

    def open_one(name: str) -> KnowledgeGraph:
        beside = folder / name
        return open_graph(beside if beside.is_file() else name)

    changes = graph_suite.ask_edits(edits, _reader(model, device), open_one)
    if as_json:
        right = sum(change.right for change in changes) / len(changes)
        report = {"model": model, "questions": len(changes), "all": right, "results": [*map(asdict, changes)]}
        print(json.dumps(report, ensure_ascii=False))
        return
    table = Table(
        "graph", "question", "before", "after", "expected", "", title=f"{model}, {len(changes)} edits"
    )
    for change in changes:
        expected = " / ".join(change.expected) or "–"
        cells = [change.before or "–", change.problem or change.after or "–"]
        table.add_row(change.graph, change.question, *cells, expected, "✓" if change.right else "")
    console = Console()
    console.print(table)
    right, before = (sum(getattr(change, name) for change in changes) for name in ("right", "was_right"))
    console.print(f"correct after the edit: {right} of {len(changes)}; correct before it: {before}")


def _reader(model: str, device: str, ablation: str = "none") -> System:
    """The reader over any graph. What if asks the index of labels of the graph beneath, which is made once."""
    from kgqa.qa.answerer import Answerer

    first: list[Answerer] = []
    over: dict[int, Answerer] = {}

    def system(graph: KnowledgeGraph) -> AnswerMany:
        if not first:
            answerer = Answerer.load(model, graph, device=device)
            first.append(answerer if ablation == "none" else answerer.with_ablation(find_ablation(ablation)))
        base = graph.base if isinstance(graph, OverlayGraph) else graph
        if id(base) not in over:
            over[id(base)] = first[0].with_graph(base)
        return (over[id(base)] if graph is base else over[id(base)].with_graph(graph)).answer_many

    return system


def _show(results: Sequence[SuiteResult], title: str) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for by, order in (("kind", graph_suite.KINDS), ("graph", ())):
        found = graph_suite.figures(results, by)
        asked = {key: count for key, (_, count) in next(iter(found.values())).items()}
        keys = sorted(asked.keys() - {"all"}, key=lambda key: (order.index(key) if order else 0, key))
        table = Table(by, "questions", *(f"{name}, %" for name in found), title=f"hits@1, {title}")
        for key in (*keys, "all"):
            shares = (100 * row[key][0] / row[key][1] for row in found.values())
            table.add_row(key, str(asked[key]), *(f"{share:.1f}" for share in shares))
        console.print(table)
    for problem in dict.fromkeys(result.problem for result in results if result.problem):
        console.print(problem, highlight=False)

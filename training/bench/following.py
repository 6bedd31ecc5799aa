"""Fit the constants of following facts (`kgqa/answering/ways/planning.py`) to a reader's weights, and check them.

Run `python training/bench/following.py [--keep FILE]`: every question of `tests/graphs` that is no exact operation is
read twice, as its graph is and with the facts struck that lead to its answers, so that nothing in the graph answers it
any more. The weights of a way and of "the graph does not tell" are one softmax, fitted on half of the graphs and
reported on the other half, then with each graph left out in turn. `--keep` stores what was read, which takes ten
minutes; a second run with it takes seconds.
"""

from __future__ import annotations

import argparse
import pickle
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from kgqa.answering.answerer import Answerer
from kgqa.answering.draft import Draft
from kgqa.answering.operations.asking import asked as operation_of
from kgqa.answering.reading import read as first_reading
from kgqa.answering.ways.features import WayFeatures, way_features
from kgqa.answering.ways.planning import Plan, as_choices_along, lacking, margin_of, plan
from kgqa.answering.ways.ways import ways
from kgqa.assets import GRAPH_SUITE
from kgqa.evaluation.graph_suite import Asked, is_right, load_suite
from kgqa.graph.opening import open_graph
from kgqa.graph.overlay import Fact
from kgqa.models.collation.rereading import choice_rows
from kgqa.types import Question, Relation, Subgraph, Triple

LOOK = ("bakery", "films", "hospital", "orchestra", "railway", "software", "university")
READ = 16
SHIFT = 0.85
"""Taken from the constant of silence: of what is answered rightly without it nineteen in twenty stay answered."""


class Row(NamedTuple):
    """One question as it was read: over its graph, or with the facts struck that answer it."""

    asked: Asked
    answers: tuple[str, ...]
    question: Question
    subgraph: Subgraph
    gate: list[float]
    first: dict[str, float]
    read: dict[tuple[int, tuple[tuple[int, bool], ...]], float]
    relations: tuple[Relation, ...]


class Case(NamedTuple):
    """What is fitted of one question."""

    row: Row
    struck: bool
    features: NDArray[np.float64]
    """(W, F): the features of each way, the reader's score of it, the log-probability that its end had at first."""
    right: NDArray[np.bool_]
    """(W,) whether the end that stands for the way is accepted."""
    labels: list[str]
    lacks: float


NAMES = (*WayFeatures._fields, "read", "first")
SIGNS = ("constant", "lacks", "worth", "margin")


class Fitted(NamedTuple):
    """Weights, as `NAMES` and `SIGNS` name them."""

    ways: NDArray[np.float64]
    silence: NDArray[np.float64]


def main() -> None:
    """Read, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=GRAPH_SUITE)
    parser.add_argument("--model", default="kgqa-base")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--wrong", action="store_true")
    arguments = parser.parse_args()
    if arguments.keep and arguments.keep.exists():
        rows = pickle.loads(arguments.keep.read_bytes())
    else:
        rows = list(read_all(arguments.folder, arguments.model))
        if arguments.keep:
            arguments.keep.write_bytes(pickle.dumps(rows))
    cases = [case_of(row) for row in rows]
    look, check = ([c for c in cases if (graph_of(c) in LOOK) == half] for half in (True, False))
    for name, fitted, shown in (
        ("fitted on LOOK, over LOOK", look, look),
        ("fitted on LOOK, over CHECK", look, check),
        ("fitted on CHECK, over LOOK", check, look),
        ("fitted on all", cases, cases),
    ):
        weights = fit(fitted)
        print(name, dict(zip(NAMES, weights.ways.round(2).tolist(), strict=True)))
        print("  silence", dict(zip(SIGNS, weights.silence.round(2).tolist(), strict=True)))
        print("  ", table([(case, said(case, weights)) for case in shown]))
    graphs = sorted({graph_of(case) for case in cases})
    left_out = []
    for graph in graphs:
        weights = fit([case for case in cases if graph_of(case) != graph])
        left_out += [(case, said(case, weights)) for case in cases if graph_of(case) == graph]
    print("each graph left out", table(left_out))
    if arguments.wrong:
        for case, told in left_out:
            if not is_right(told, case.row.answers):
                kind = "struck" if case.struck else case.row.asked.kind
                print(f"{kind}: {case.row.question.text} | {told} | {' / '.join(case.row.answers[:2])}")


def graph_of(case: Case) -> str:
    return case.row.asked.graph.stem


def case_of(row: Row) -> Case:
    question, subgraph = row.question.text, row.subgraph
    found = ways(subgraph)
    features = way_features(question, subgraph, found)
    read = np.array([row.read.get((way.source, way.steps), np.nan) for way in found])
    kept = np.flatnonzero(~np.isnan(read))
    first = [max((_log(row.first.get(subgraph.nodes[e], 0.0)), -e) for e in way.ends) for way in found]
    numbers = (
        np.stack([*features, read, [f for f, _ in first]], 1)[kept]
        if len(found)
        else np.zeros((0, len(NAMES)))
    )
    labels = [subgraph.labels[-first[k][1]] for k in kept]
    right = np.array([is_right(label, row.answers) if row.answers else False for label in labels], dtype=bool)
    lacks = lacking(question, subgraph, found, row.relations)
    return Case(row, bool(row.asked.answers) and not row.answers, numbers, right, labels, lacks)


def _log(p: float) -> float:
    return float(np.log(max(p, 1e-6)))


def fit(cases: Sequence[Case], decay: float = 0.01) -> Fitted:
    """Weights by listwise softmax over the ways of what can be answered, then of silence by logistic regression."""
    ways_of = [
        (torch.tensor(c.features), torch.tensor(c.right))
        for c in cases
        if c.right.any() and not c.right.all()
    ]

    def first(weights: torch.Tensor) -> torch.Tensor:
        lost = [torch.logsumexp(x @ weights, 0) - torch.logsumexp((x @ weights)[y], 0) for x, y in ways_of]
        return torch.stack(lost).mean()

    best = _least(first, len(NAMES), decay)
    sure = [
        case for case in cases if len(case.features) and (not case.row.answers or is_right_way(case, best))
    ]
    signs = torch.tensor(np.array([signs_of(case, best) for case in sure]))
    none = torch.tensor([float(not case.row.answers) for case in sure])
    weight = torch.where(none > 0, (none == 0).sum() / none.sum(), 1.0)

    def second(weights: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.binary_cross_entropy_with_logits(signs @ weights, none, weight=weight)

    silence = _least(second, signs.shape[1], decay)
    silence[0] -= SHIFT
    return Fitted(best, silence)


def is_right_way(case: Case, weights: NDArray[np.float64]) -> bool:
    return bool(case.right[int((case.features @ weights).argmax())])


def _least(loss: Callable[[torch.Tensor], torch.Tensor], size: int, decay: float) -> NDArray[np.float64]:
    weights = torch.zeros(size, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def step() -> torch.Tensor:
        optimiser.zero_grad()
        value = loss(weights) + decay * weights.square().sum()
        value.backward()
        return value

    optimiser.step(step)
    return weights.detach().numpy()


def signs_of(case: Case, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    worth = np.sort(case.features @ weights)
    return np.array([1.0, case.lacks, worth[-1], margin_of(worth)])


def said(case: Case, weights: Fitted) -> str | None:
    if not len(case.features) or signs_of(case, weights.ways) @ weights.silence > 0:
        return None
    return case.labels[int((case.features @ weights.ways).argmax())]


def table(told: Sequence[tuple[Case, str | None]]) -> str:
    count: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for case, text in told:
        kind = "struck" if case.struck else case.row.asked.kind
        right = is_right(text, case.row.answers)
        for key in (kind, *(() if case.struck else ("all", "answerable" if case.row.answers else "none"))):
            count[key][0] += right
            count[key][1] += 1
    return ", ".join(f"{kind} {100 * a / b:.0f} ({b})" for kind, (a, b) in sorted(count.items()))


def read_all(folder: Path, model: str) -> Iterator[Row]:
    suite = [a for a in load_suite(folder) if operation_of(a.question.text) is None]
    first: Answerer | None = None
    over: dict[Path, Answerer] = {}
    for asked in suite:
        if asked.graph not in over:
            graph = open_graph(asked.graph)
            first = first or Answerer.load(model, graph)
            over[asked.graph] = first.with_graph(graph)
            print(asked.graph.name, flush=True)
        answerer = over[asked.graph]
        row, made = read_one(answerer, asked, asked.answers)
        yield row
        struck = list(leading_to(row.subgraph, made, asked.answers))
        if struck:
            without = answerer.with_edits((), struck)
            yield read_one(without, asked, ())[0]


def leading_to(subgraph: Subgraph, made: Plan, answers: Sequence[str]) -> Iterator[Fact]:
    rows = {
        steps[-1]
        for way in made.ways
        for end, steps in zip(way.ends, way.edges, strict=True)
        if is_right(subgraph.labels[end], answers)
    }
    for row in rows:
        head, relation, tail = subgraph.edges[row].tolist()
        triple = Triple(subgraph.nodes[head], subgraph.relations[relation].name, subgraph.nodes[tail])
        yield Fact(triple, (subgraph.labels[head], subgraph.labels[tail]))


def read_one(answerer: Answerer, asked: Asked, answers: tuple[str, ...]) -> tuple[Row, Plan]:
    question = answerer.read_as(asked.question)
    subgraphs = answerer.retrieve(asked.question)
    scores = first_reading((Draft(question, tuple(subgraphs)),), answerer.reader)[0].scores
    concepts = scores.concepts
    first = {c.concept: c.score for c in concepts if c.concept is not None}
    known = tuple(answerer.graph.relations)
    made = plan(question.text, subgraphs[0], first, known, READ)
    read: list[float] = []
    if made.chosen:
        chosen = [(made.ways[way], end) for way, end in made.chosen]
        read = answerer.reader.score(choice_rows(*as_choices_along(question, subgraphs[0], chosen))).tolist()
    by_way = {
        (made.ways[way].source, made.ways[way].steps): score
        for (way, _), score in zip(made.chosen, read, strict=True)
    }
    return Row(asked, answers, question, subgraphs[0], scores.gate.tolist(), first, by_way, known), made


if __name__ == "__main__":
    main()

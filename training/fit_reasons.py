"""Fit the ranker of reasons to paths judged by hand: `python training/fit_reasons.py [--write]`.

`training/data/reasons/train/reasons.jsonl` holds, for the right answers of training questions, paths of facts that a
person accepts as the reason (good), that are half of one (left out of the fit), or that are none (bad). A logistic
regression is fitted to each of the two sets of features of `kgqa/qa/reasons.py`; ten-fold cross-validation over
questions says how often a good path is ranked over a bad one, and how often the first is good.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from kgqa.data.datasets.json_lines import question_of
from kgqa.data.files import read_json_lines
from kgqa.graph.load import open_graph
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.dense_retrieval import open_fact_encoder
from kgqa.progress import track
from kgqa.qa import reasons
from kgqa.qa.evidence import candidate_paths
from kgqa.qa.retrieve import Retriever
from kgqa.settings import FACT_ENCODER
from kgqa.types import Candidate, Source, Subgraph

DATA = Path(__file__).parent / "data" / "reasons" / "train" / "reasons.jsonl"
TABLE = Path(reasons.__file__).with_suffix(".toml")
LONGER = 0.15
"""What each fact beyond the first takes from the worth of a path: chosen, not fitted."""
WORDED = ("near", "behind", "last_near", "weakest_near")
"""How features begin that need the encoder."""
PENALTY = 0.3
"""Inverse strength of the L2 penalty, over features of unit variance."""


def judged(row: dict[str, Any]) -> dict[frozenset[tuple[str, ...]], float]:
    """The judged paths of a row by their facts: 1 good, 0 bad, NaN half."""
    values = {"good": 1.0, "bad": 0.0, "half": np.nan}
    return {frozenset(map(tuple, path)): value for kind, value in values.items() for path in row[kind]}


def facts_of(graph: Subgraph, steps: Sequence[int]) -> frozenset[tuple[str, ...]]:
    """Facts by the last parts of their names, as the file has them."""
    triples = [graph.triple(step) for step in steps]
    return frozenset(tuple(name.rsplit("/", 1)[-1] for name in (t.head, t.relation, t.tail)) for t in triples)


def examples() -> tuple[list[str], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Names of features, features (P, F), judgements (P,) and questions (P,) of the paths that are retrieved again."""
    encoder = open_fact_encoder(FACT_ENCODER)
    assert encoder is not None
    retriever = Retriever(open_graph("everyday"), InputConfig(max_nodes=120), encoder=encoder)
    names: list[str] = []
    found: list[NDArray[Any]] = []
    values: list[float] = []
    questions: list[int] = []
    for number, row in track(list(read_json_lines(DATA)), "questions"):
        question, known = question_of(row, str(DATA), str(number)), judged(row)
        (graph,) = retriever.retrieve(question)
        (answer,) = row["answers"]
        if answer not in graph.labels:
            continue
        best = Candidate(answer, Source.KNOWLEDGE, 1.0, concept=graph.nodes[graph.labels.index(answer)])
        paths = candidate_paths(best, graph, question.text)
        if not paths:
            continue
        own = reasons.path_features(paths, best, question, graph, encoder.encode)
        names = list(own)
        for place, path in enumerate(paths):
            value = known.get(facts_of(graph, path.steps), None)
            if value is not None and not np.isnan(value):
                found.append(np.array([own[name][place] for name in names]))
                values.append(value)
                questions.append(number)
    return names, np.array(found), np.array(values), np.array(questions)


def fitted(rows: NDArray[Any], values: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Weights (F,) and bias of a logistic regression over features as they are."""
    mean, spread = rows.mean(0), rows.std(0) + 1e-9
    model = LogisticRegression(C=PENALTY, max_iter=1000).fit((rows - mean) / spread, values)
    weights = model.coef_[0] / spread
    return weights, float(model.intercept_[0] - weights @ mean)


def cross_validated(rows: NDArray[Any], values: NDArray[Any], questions: NDArray[Any]) -> dict[str, float]:
    """Shares of good paths over bad ones of their question, and of first paths that are good, out of sample."""
    scores = np.zeros(len(values))
    for train, test in GroupKFold(10).split(rows, groups=questions):
        weights, bias = fitted(rows[train], values[train])
        scores[test] = rows[test] @ weights + bias
    over = pairs = first = asked = 0
    for question in np.unique(questions):
        own, value = scores[questions == question], values[questions == question]
        over += int((own[value == 1][:, None] > own[value == 0][None]).sum())
        pairs += int((value == 1).sum() * (value == 0).sum())
        first += int(value[own.argmax()])
        asked += bool(value.any())
    return {"pairs": pairs, "over": over / pairs, "questions": asked, "first": first / asked}


def main() -> None:
    """Fit both, print what cross-validation says, and write the weights if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"replace the weights of {TABLE.name}")
    write = parser.parse_args().write
    torch.set_num_threads(1)
    names, rows, values, questions = examples()
    text = "# Weights of the ranker of reasons (reasons.py), by `python training/fit_reasons.py --write`.\n"
    for table in ("worded", "plain"):
        chosen = [n for n, name in enumerate(names) if table == "worded" or not name.startswith(WORDED)]
        weights, bias = fitted(rows[:, chosen], values)
        print(json.dumps({"features": table} | cross_validated(rows[:, chosen], values, questions)))
        lines = [f"{names[n]} = {weight:.3f}" for n, weight in zip(chosen, weights, strict=True)]
        text += "\n".join(["", f"[{table}]", f"bias = {bias:.3f}", *lines, ""])
    text += f"\n[paths]\nlonger = {reasons._weights()['paths']['longer']:.2f}\n"
    if write:
        TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

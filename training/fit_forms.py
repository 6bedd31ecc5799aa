"""The weights of a reader's card that make probabilities of the scores of logical forms (`FormCalibration`):
`python training/fit_forms.py READER --rows runs/forms/rows.jsonl`.

They are fitted by the likelihood of the right result, asked from end to end, over practice graphs that the adapter was
not trained on and over development graphs of `tests/graphs`; each graph is measured by weights that were fitted
without it. The log-odds of confidences are then scaled down until at most 1 % of the confident answers are wrong: half
of what is allowed, because graphs by other hands come out surer than they are right. The
reader's scores are cached in the file of rows. With `--run RUN`, a run folder of `kgqa train` with a table [forms], its
adapter is copied into the reader's folder first.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import kgqa
from kgqa.data.files import read_json_lines
from kgqa.evaluation import minimise
from kgqa.metrics import is_right
from kgqa.models.adapters import FORMS
from kgqa.models.pretrained import CARD, write_card
from kgqa.progress import track
from kgqa.qa.compute import score_forms
from kgqa.qa.decide import DecisionConfig
from kgqa.qa.logical_forms.execute import execute
from kgqa.qa.logical_forms.graph_facts import GraphFacts
from kgqa.qa.logical_forms.graph_index import NameLookup
from kgqa.qa.logical_forms.rank import FormCalibration, RankedForm
from kgqa.types import Candidate, Question, Source

CALIBRATION = Path("training/data/practice_graphs/calibration")
"""Practice graphs that the adapter was not trained on."""
DEVELOPMENT = tuple(
    Path(f"tests/graphs/{n}") for n in ("vocabularies", "forms_development", "forms_independent")
)
SURE, WRONG = 0.9, 0.01
"""Confidence from which an answer counts as confident, and the share of such answers that may be wrong."""
FOLDS = 5
PENALTY = 0.002
"""Of squared weights, beside the mean loss of a question."""


@dataclass(frozen=True)
class Row:
    """The reader's scores of a question: of C forms and of "no form fits"."""

    graph: str
    scores: Tensor
    """(C + 1,)"""
    features: Tensor
    """(C + 1, 2): the shortlist's score, and one for none."""
    results: Tensor
    """(C + 1,) numbers, equal for equal results; of none -1."""
    right: Tensor
    """(C + 1,) of bool"""
    none: bool
    """Whether the graph does not say it."""


def row_of(
    graph: str, candidates: Sequence[RankedForm], scores: Tensor, right: Sequence[bool], none: bool
) -> dict[str, Any]:
    """A line of the file of rows."""
    read = candidates[: len(scores) - 1]  # the others are not read where one of these is sure
    keys = [candidate.result.key for candidate in read]
    return {
        "graph": graph,
        "scores": [round(score, 4) for score in scores.tolist()],
        "features": [*([c.score, 0.0] for c in read), [0.0, 1.0]],
        "results": [*(keys.index(key) for key in keys), -1],
        "right": [*right[: len(read)], none or not any(right[: len(read)])],
        "none": none,
    }


def rows_in(path: Path) -> list[Row]:
    """What `row_of` made."""
    found = []
    for _, row in read_json_lines(path):
        tensors = {key: torch.tensor(row[key]) for key in ("scores", "features", "results", "right")}
        found.append(Row(row["graph"], **tensors, none=row["none"]))
    return found


def asked(reader: Path, each: int, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """Some questions of each held-out practice graph, and all or the first `limit` of each development graph."""
    for path in sorted(CALIBRATION.glob("*.jsonl")):
        questions = [row for _, row in read_json_lines(path)]
        random.Random(0).shuffle(questions)
        yield from _asked(reader, path.with_suffix(".ttl"), questions[:each])
    for file in (file for folder in DEVELOPMENT for file in sorted(folder.glob("*.jsonl"))):
        graph = next(path for path in file.parent.glob(f"{file.stem}.*") if path != file)
        yield from _asked(reader, graph, [row for _, row in islice(read_json_lines(file), limit)])


def _asked(reader: Path, graph: Path, questions: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    answerer = kgqa.load(model=reader, graph=graph)
    for row in questions:
        question = Question(row["question"])
        ((facts, candidates, scores),) = score_forms([question], answerer.retriever, answerer.reader)
        none = not (row["form"] if "form" in row else row["answers"])
        right = [not none and _is_right(facts, candidate, row) for candidate in candidates]
        yield row_of(graph.stem, candidates, scores, right, none)


def _is_right(facts: GraphFacts, candidate: RankedForm, row: dict[str, Any]) -> bool:
    """Whether a result is that of the form that a row has, or one of its answers."""
    result = candidate.result
    if "form" in row:
        gold = execute(facts, NameLookup(facts).parse(row["form"]))
        return gold is not None and result.key == gold.key
    texts = [facts.label(e) for e in result.members] if result.is_set else [result.text]
    texts, answers = [text for text in dict.fromkeys(texts) if text], row["answers"]
    every = answers[0]["all"] if isinstance(answers[0], dict) else answers if row["kind"] == "list" else None
    if every is not None:
        return len(texts) == len(every) and all(any(is_right(t, [a]) for t in texts) for a in every)
    number = answers[0].replace(".", "", 1).isdigit()  # it may have its unit
    return len(texts) == 1 and (
        is_right(texts[0], answers) or (number and is_right(texts[0].split()[0], answers))
    )


def fitted(rows: Sequence[Row]) -> Tensor:
    """The weights (2,) of the features under which what is right is likeliest, and the logarithm of a factor, last."""
    weights = torch.zeros(rows[0].features.shape[1] + 1, requires_grad=True)

    def loss() -> Tensor:
        losses = [-logits(row, weights).log_softmax(-1)[row.right].logsumexp(-1) for row in rows]
        return torch.stack(losses).mean() + PENALTY * weights[:-1].square().sum()

    minimise(loss, [weights])
    return weights.detach()


def logits(row: Row, weights: Tensor) -> Tensor:
    """(C + 1,)"""
    return (row.scores + row.features @ weights[:-1]) * weights[-1].exp()


def predicted(row: Row, logits_of: Tensor) -> tuple[float, bool, bool]:
    """The probability of the answer, whether it is right, and whether it is "no answer"."""
    probabilities = logits_of.softmax(-1)
    shares = {int(key): float(probabilities[row.results == key].sum()) for key in row.results}
    best = max(shares, key=lambda key: shares[key])
    right = row.none if best == -1 else bool(row.right[row.results == best].any())
    return shares[best], right, best == -1


def out_of_sample(rows: Sequence[Row]) -> list[tuple[Row, Tensor]]:
    """Each row with logits by weights that were fitted without its graph."""
    graphs = sorted({row.graph for row in rows})
    found: list[tuple[Row, Tensor]] = []
    for fold in range(FOLDS):
        left_out = set(graphs[fold::FOLDS])
        weights = fitted([row for row in rows if row.graph not in left_out])
        found += [(row, logits(row, weights)) for row in rows if row.graph in left_out]
    return found


def sharpness(found: Sequence[tuple[Row, Tensor]], decision: DecisionConfig = DecisionConfig()) -> float:
    """The greatest factor of the log-odds, at most 1, with at most a share `WRONG` of confident answers wrong."""
    outcomes = [predicted(*each) for each in found]
    for factor in (1 - step / 50 for step in range(50)):
        sure = [right for p, right, none in outcomes if _is_sure(p, none, factor, decision)]
        if sure.count(False) <= WRONG * len(sure):
            break
    return factor


def _is_sure(probability: float, none: bool, factor: float, decision: DecisionConfig) -> bool:
    """Whether the confidence is at least `SURE` after the calibration of the reader's card."""
    score = FormCalibration(sharpness=factor).confidence(probability)
    return decision.confidence(Candidate("", Source.NONE if none else Source.KNOWLEDGE, score)) >= SURE


def measured(
    found: Sequence[tuple[Row, Tensor]], factor: float = 1.0, decision: DecisionConfig = DecisionConfig()
) -> dict[str, float]:
    """How many questions are right, in all and among the confident ones."""
    outcomes = [(row, *predicted(row, each)) for row, each in found]
    sure = [right for _, p, right, none in outcomes if _is_sure(p, none, factor, decision)]
    return {
        "questions": len(outcomes),
        "right": sum(right for _, _, right, _ in outcomes),
        "answerable": sum(not row.none for row, *_ in outcomes),
        "right_of_answerable": sum(right for row, _, right, _ in outcomes if not row.none),
        "missed": sum(none and not row.none for row, _, _, none in outcomes),
        "right_of_unanswerable": sum(right for row, _, right, _ in outcomes if row.none),
        "sure": len(sure),
        "sure_and_wrong": sure.count(False),
    }


def calibration(weights: Tensor, factor: float) -> FormCalibration:
    """As the card has them."""
    prior, bias, heat = weights.tolist()
    return FormCalibration(
        prior=round(prior, 3),
        no_form_bias=round(bias, 3),
        temperature=round(math.exp(-heat), 3),
        sharpness=round(factor, 3),
    )


def main() -> None:
    """Ask, fit, write, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reader", type=Path)
    parser.add_argument("--rows", type=Path, default=Path("runs/forms/rows.jsonl"))
    parser.add_argument("--run", type=Path)
    parser.add_argument("--questions", type=int, default=30, help="of each practice graph")
    parser.add_argument("--limit", type=int, help="of each development graph; default: all")
    parser.add_argument("--dry-run", action="store_true", help="print what is measured, and write no card")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    card = json.loads((chosen.reader / CARD).read_text(encoding="utf-8"))
    card.pop("checksums", None)
    if chosen.run is not None:
        shutil.copy(chosen.run / "export" / FORMS, chosen.reader / FORMS)
        write_card(chosen.reader, card)
    if not chosen.rows.exists():
        lines = [
            json.dumps(row)
            for row in track(asked(chosen.reader, chosen.questions, chosen.limit), "questions")
        ]
        chosen.rows.parent.mkdir(parents=True, exist_ok=True)
        chosen.rows.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = rows_in(chosen.rows)
    found = out_of_sample(rows)
    decision = DecisionConfig.of_card(card)
    factor = sharpness(found, decision)
    for name in (*sorted({row.graph for row in rows}), "all"):
        own = [(row, each) for row, each in found if name in (row.graph, "all")]
        print(json.dumps({"graph": name, **measured(own, factor, decision)}))
    card["forms"] = calibration(fitted(rows), factor).model_dump()
    if not chosen.dry_run:
        write_card(chosen.reader, card)
    print(json.dumps(card["forms"]))


if __name__ == "__main__":
    main()

"""The table: reasoners and ablations on the same encoder, data and budget, over several seeds."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kgqa.graph.normalising import normalise
from kgqa.metrics import exact_match, golds_of, paired_bootstrap, score_answers
from kgqa.trainer.answering import AnsweringRecipe, DataSettings, load_examples, train_reader
from kgqa.trainer.evaluation import AnswerMany, answer_all
from kgqa.types import Example, KnowledgeGraph

OpenReader = Callable[[Path, KnowledgeGraph], AnswerMany]
ROWS: dict[str, dict[str, str]] = {
    "text-only": {"reasoner": "text-only"},
    "gsc": {"reasoner": "gsc"},
    "k-bert": {"reasoner": "k-bert"},
    "ernie": {"reasoner": "ernie"},
    "kagnet": {"reasoner": "kagnet"},
    "mhgrn": {"reasoner": "mhgrn"},
    "qagnn": {"reasoner": "qagnn"},
    "greaselm": {"reasoner": "greaselm"},
    "dragon": {"reasoner": "dragon"},
    "fused": {"reasoner": "fused"},
    "fused, graph shuffled": {"reasoner": "fused", "ablation": "shuffled"},
    "fused, no direct facts": {"reasoner": "fused", "ablation": "no-direct-edges"},
    "fused, concepts only": {"reasoner": "fused", "ablation": "no-facts"},
}
BASELINE = "text-only"


@dataclass(frozen=True)
class Outcome:
    """One trained reader on one data set. `right` has a 0 or 1 for each question, in order."""

    row: str
    seed: int
    column: str
    figures: dict[str, float]
    right: list[float]
    parameters: int
    minutes: float
    ms_per_question: float


def compare(
    recipe: AnsweringRecipe,
    columns: Sequence[DataSettings],
    open_graph: Callable[[str], KnowledgeGraph],
    open_reader: OpenReader,
    folder: Path,
    *,
    rows: Sequence[str],
    seeds: Sequence[int],
) -> list[Outcome]:
    """Train every row with every seed and ask it every column; what `folder` holds is not done again."""
    tests: list[tuple[DataSettings, KnowledgeGraph, list[Example]]] = []
    for column in columns:
        graph = open_graph(column.graph)
        tests.append((column, graph, load_examples(column, graph)))
    outcomes: list[Outcome] = []
    for seed in seeds:
        for row in rows:
            run = folder / f"{row.replace(', ', '-').replace(' ', '-')}-{seed}"
            report = run / "outcomes.json"
            if not report.exists():
                found = _one(recipe, row, seed, run, tests, open_reader)
                temporary = run / ".outcomes.json"
                temporary.write_text(json.dumps([asdict(o) for o in found]), encoding="utf-8")
                os.replace(temporary, report)
            outcomes += [Outcome(**o) for o in json.loads(report.read_text(encoding="utf-8"))]
    return outcomes


def _one(
    recipe: AnsweringRecipe,
    row: str,
    seed: int,
    run: Path,
    tests: Sequence[tuple[DataSettings, KnowledgeGraph, list[Example]]],
    open_reader: OpenReader,
) -> list[Outcome]:
    import time

    changes: dict[str, Any] = {
        "name": run.name,
        "reasoner": recipe.reasoner.model_copy(update={"name": ROWS[row]["reasoner"]}),
        "ablation": ROWS[row].get("ablation", "none"),
        "trainer": recipe.trainer.model_copy(update={"seed": seed}),
    }
    result = train_reader(recipe.model_copy(update=changes), run)
    export = run / "export"
    outcomes = []
    for column, graph, examples in tests:
        answer_many = open_reader(export, graph)
        begin = time.perf_counter()
        answers = answer_all(answer_many, examples)
        elapsed = 1000 * (time.perf_counter() - begin) / len(examples)
        right = [
            exact_match(a.text or "", golds_of(e), normalise) for e, a in zip(examples, answers, strict=True)
        ]
        figures = score_answers(examples, answers, normalise=normalise)
        outcomes.append(
            Outcome(row, seed, column.name, figures, right, _parameters(export), result.minutes, elapsed)
        )
    return outcomes


def _parameters(export: Path) -> int:
    from safetensors import safe_open

    total = 0
    for name in ("model.safetensors", "reader.safetensors"):
        with safe_open(export / name, framework="np") as weights:
            total += sum(math.prod(weights.get_slice(key).get_shape()) for key in weights.keys())  # noqa: SIM118
    return total


def table(outcomes: Sequence[Outcome], figures: Mapping[str, Sequence[str]]) -> str:
    """Markdown: a row per reader, mean and standard deviation over seeds, gain over text only in brackets.

    `figures[column]` names what is shown of a column. A star marks a gain whose 95 % interval of the paired
    bootstrap over questions lies above zero. A seed counts as collapsed, and is counted in the last column
    but not left out, when its accuracy is within two standard errors of the lowest seed-average any reader
    could get by guessing: 1 / number of choices, or 1 % for open questions.
    """
    columns = list(dict.fromkeys(o.column for o in outcomes))
    shown = [(column, name) for column in columns for name in figures[column]]
    lines = [
        "| reader | "
        + " | ".join(f"{c}: {n}" for c, n in shown)
        + " | parameters | minutes | ms a question | seeds | collapsed |",
        "|---" * (len(shown) + 6) + "|",
    ]
    for row in dict.fromkeys(o.row for o in outcomes):
        mine = [o for o in outcomes if o.row == row]
        cells = [
            _cell([o for o in mine if o.column == c], name) + _gain(outcomes, row, c) for c, name in shown
        ]
        seeds = {o.seed for o in mine}
        collapsed = {o.seed for o in mine if _collapsed(o)}
        cells += [
            f"{mine[0].parameters / 1e6:.1f}M",
            f"{np.mean([o.minutes for o in mine]):.1f}",
            f"{np.mean([o.ms_per_question for o in mine]):.0f}",
            str(len(seeds)),
            str(len(collapsed)),
        ]
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(outcomes: Sequence[Outcome], figure: str) -> str:
    values = [100 * o.figures[figure] for o in outcomes if figure in o.figures]
    if not values:
        return "-"
    spread = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{spread}"


def _gain(outcomes: Sequence[Outcome], row: str, column: str) -> str:
    if row == BASELINE:
        return ""
    ours = {o.seed: o.right for o in outcomes if (o.row, o.column) == (row, column)}
    base = {o.seed: o.right for o in outcomes if (o.row, o.column) == (BASELINE, column)}
    both = sorted(set(ours) & set(base))
    if not both:
        return ""
    first = np.mean([ours[s] for s in both], axis=0)
    second = np.mean([base[s] for s in both], axis=0)
    found = paired_bootstrap(first, second)
    star = "*" if found["low"] > 0 else ""
    return f" ({100 * found['difference']:+.1f}{star})"


def _collapsed(outcome: Outcome) -> bool:
    accuracy = float(np.mean(outcome.right))
    chance = 0.2 if "choice_accuracy" in outcome.figures else 0.01
    return accuracy < chance + 2 * math.sqrt(chance * (1 - chance) / max(len(outcome.right), 1))

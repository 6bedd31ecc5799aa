"""Outcomes of a comparison as a Markdown table: mean and spread over seeds, gains with a bootstrap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kgqa.evaluation.comparison import Outcome
from kgqa.metrics import paired_bootstrap

BASELINE = "text-only"


def table(outcomes: Sequence[Outcome]) -> str:
    """A row per reader: mean and standard deviation over seeds, in brackets the gain over text only.

    The gain is over the seeds that both have; a star marks one whose 95 % interval of the paired bootstrap
    over questions lies above zero, a dagger one whose interval lies below. A seed counts as collapsed, and
    is counted but not left out, when `collapsed` says so.
    """
    shown = list(dict.fromkeys((o.column, name) for o in outcomes for name in o.values))
    tested = any(o.faithful for o in outcomes)
    head = [f"{column}: {name}" for column, name in shown]
    head += ["deletion test"] if tested else []
    lines = [
        "| reader | " + " | ".join(head) + " | parameters | minutes | ms a question | seeds | collapsed |",
        "|---" * (len(head) + 6) + "|",
    ]
    for row in dict.fromkeys(o.row for o in outcomes):
        mine = [o for o in outcomes if o.row == row]
        cells = [_cell(mine, column, name) + _gain(outcomes, row, column, name) for column, name in shown]
        if tested:
            passed = [value for o in mine for value in o.faithful]
            cells.append(f"{100 * np.mean(passed):.0f} % of {len(passed)}" if passed else "-")
        firsts = [next(o for o in mine if o.seed == seed) for seed in dict.fromkeys(o.seed for o in mine)]
        cells += [
            f"{mine[0].parameters / 1e6:.1f}M",
            f"{np.mean([o.minutes for o in firsts]):.1f}",
            f"{np.mean([o.ms_per_question for o in firsts]):.0f}",
            str(len(firsts)),
            str(sum(collapsed([o for o in mine if o.seed == first.seed]) for first in firsts)),
        ]
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def figures(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """A row per reader as data: each figure's mean and standard deviation over seeds, and what it cost."""
    found = []
    for row in dict.fromkeys(o.row for o in outcomes):
        mine = [o for o in outcomes if o.row == row]
        seeds = len({o.seed for o in mine})
        told: dict[str, Any] = {"by": row, "seeds": seeds, "parameters": mine[0].parameters}
        told["minutes"] = float(np.mean([o.minutes for o in mine]))
        told["ms"] = float(np.mean([o.ms_per_question for o in mine]))
        for column, name in dict.fromkeys((o.column, name) for o in mine for name in o.values):
            means = [float(np.mean(o.values[name])) for o in mine if o.column == column]
            spread = [float(np.std(means, ddof=1))] if seeds > 1 else []
            told[f"{Path(column).stem}: {name}"] = [float(np.mean(means)), *spread]
        faithful = [value for o in mine for value in o.faithful]
        found.append({**told, "deletion": float(np.mean(faithful))} if faithful else told)
    return found


def collapsed(outcomes: Sequence[Outcome]) -> bool:
    """Whether a seed's reader learnt nothing: on no data set with choices is it better than guessing.

    Better means by more than two standard errors of a guesser's accuracy. Without such a data set, whether no
    open answer is right.
    """
    if not any(o.chance for o in outcomes):
        return not any(any(value) for o in outcomes for value in o.values.values())
    measured = [(outcome.values["accuracy"], outcome.chance) for outcome in outcomes if outcome.chance]
    return all(
        np.mean(right) <= chance + 2 * math.sqrt(chance * (1 - chance) / len(right))
        for right, chance in measured
    )


def _cell(outcomes: Sequence[Outcome], column: str, figure: str) -> str:
    values = [100 * np.mean(o.values[figure]) for o in outcomes if o.column == column]
    spread = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{spread}"


def _gain(outcomes: Sequence[Outcome], row: str, column: str, figure: str) -> str:
    """Gain over text only; a question's values are averaged over the seeds first, then resampled."""
    if row == BASELINE:
        return ""
    ours = {o.seed: o.values[figure] for o in outcomes if (o.row, o.column) == (row, column)}
    base = {o.seed: o.values[figure] for o in outcomes if (o.row, o.column) == (BASELINE, column)}
    both = sorted(set(ours) & set(base))
    if not both:
        return ""
    first, second = (np.mean([side[seed] for seed in both], axis=0) for side in (ours, base))
    found = paired_bootstrap(first, second)
    mark = "*" if found["low"] > 0 else "†" if found["high"] < 0 else ""
    return f" ({100 * found['difference']:+.1f}{mark})"

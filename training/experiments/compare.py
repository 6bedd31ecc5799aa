"""The table: reasoners and ablations on the same encoder, data and budget, over several seeds.

It prints mean and spread over seeds, and gains with a bootstrap.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from kgqa.evaluation import answer_all, deletion_test
from kgqa.graph.linking.normalize import normalise
from kgqa.graph.load import open_graph
from kgqa.metrics import is_correct, paired_bootstrap, rank_of_gold
from kgqa.qa.answerer import Answerer
from kgqa.settings import cache_folder, write_whole
from kgqa.trainer.checkpoint import claim
from kgqa.trainer.data.mixture import DataSettings, MixturePart, data_hashes
from kgqa.trainer.finetuning.reader import ReaderRecipe, prepare, train_reader, with_expanded_names
from kgqa.types import Answer, Example, KnowledgeGraph, Question
from training.experiments.baselines import RetrievalAlone

ROWS: dict[str, dict[str, str]] = {
    "text-only": {"reasoner": "text-only"},
    # the control of all rows over the graph, whose scores begin at the retriever's ranking: what a graph network adds
    "text-only, retriever prior": {"reasoner": "text-only", "prior": "yes"},
    "retrieval alone": {},
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
    "facts in words": {"reasoner": "text-only", "facts": "2"},
    "facts in words, shuffled": {"reasoner": "text-only", "facts": "2", "ablation": "shuffled"},
    "fused, facts in words": {"reasoner": "fused", "facts": "2"},
    "fused, facts in words, shuffled": {"reasoner": "fused", "facts": "2", "ablation": "shuffled"},
}
EXPLAINING = ("kagnet", "mhgrn", "fused")
"""Rows whose explanations are put to the deletion test."""
TIMED = 64
"""Questions over which the time of an answer, retrieval included, is taken."""


class ComparisonRecipe(ReaderRecipe):
    """What every row learns, and what it is asked."""

    columns: list[DataSettings] = Field(min_length=1)
    """Data sets of the table. `limit` asks the first so many questions."""
    deletion_questions: int = Field(0, ge=0)
    """Questions of the first column for the deletion test of the explanations; 0 leaves it out."""


@dataclass(frozen=True)
class Outcome:
    """One trained reader on one data set.

    `values` has for each figure its value for each question, in order; `chance` is the accuracy of guessing,
    0 for open questions. `faithful` are the deletion tests, 1 where passed, empty where none was made.
    """

    row: str
    seed: int
    column: str
    values: dict[str, list[float]]
    chance: float
    parameters: int
    minutes: float
    ms_per_question: float
    faithful: list[float]


def compare(
    recipe: ComparisonRecipe, folder: Path, *, rows: Sequence[str], seeds: Sequence[int]
) -> list[Outcome]:
    """Train every row with every seed and ask it every column; what `folder` holds is not done again.

    All seeds of a row come before the next row. Returns what the folder holds afterwards, rows that were trained by
    earlier calls included. Raises InputError if `folder` was made by another recipe, and KeyboardInterrupt if a signal
    ended a training; the same call goes on from there.
    """
    columns = [with_expanded_names(column) for column in recipe.columns]
    claim(folder, recipe, **data_hashes([*map(with_expanded_names, recipe.data), *columns]))
    tests: list[tuple[MixturePart, KnowledgeGraph]] | None = None
    # what does not learn gives the same with every seed
    cells = [(row, seed) for row in rows for seed in (seeds if ROWS[row] else seeds[:1])]
    for number, (row, seed) in enumerate(cells, 1):
        run = folder / f"{row.replace(', ', '-').replace(' ', '-')}-{seed}"
        if (run / "outcomes.json").exists():
            continue
        print(f"[{number}/{len(cells)}] {row}, seed {seed}", file=sys.stderr, flush=True)
        minutes = 0.0
        if ROWS[row]:
            result = train_reader(recipe_of_row(recipe, row, seed), run)
            minutes = result.minutes
            if result.interrupted:
                raise KeyboardInterrupt
        if tests is None:
            tests = [(prepare(c, recipe, cache_folder("subgraphs")), open_graph(c.graph)) for c in columns]
        found: list[Outcome] = []
        for part, graph in tests:
            reader: Answerer | RetrievalAlone = RetrievalAlone(graph, recipe.input.max_nodes)
            faithful: list[float] = []
            if ROWS[row]:
                reader = answerer = Answerer.load(str(run / "export"), graph)
                if row in EXPLAINING and not found:
                    asked = [example.question for example in part.examples[: recipe.deletion_questions]]
                    faithful = deletion_test(answerer, asked)
            values, chance, took = ask(reader, part)
            size = parameters(run / "export") if ROWS[row] else 0
            found.append(
                Outcome(row, seed, part.settings.name, values, chance, size, minutes, took, faithful)
            )
            means = ", ".join(f"{name} {100 * np.mean(v):.1f}" for name, v in values.items())
            print(f"    {part.settings.name}: {means}, {took:.0f} ms", file=sys.stderr, flush=True)
        run.mkdir(parents=True, exist_ok=True)
        write_whole(run / "outcomes.json", json.dumps([asdict(o) for o in found]))
    return outcomes_in(folder)


def outcomes_in(folder: Path) -> list[Outcome]:
    """All outcomes that a folder holds, by row in the order of `ROWS`, then by seed."""
    found = [
        Outcome(**row)
        for path in sorted(folder.glob("*/outcomes.json"))
        for row in json.loads(path.read_text(encoding="utf-8"))
    ]
    order = list(ROWS)
    return sorted(found, key=lambda o: (order.index(o.row), o.seed))


def ask(reader: Answerer | RetrievalAlone, part: MixturePart) -> tuple[dict[str, list[float]], float, float]:
    """Values of each figure for each question, the accuracy of guessing, and milliseconds an answer.

    The figures are read over stored subgraphs; the time is that of whole answers, retrieval included, over
    the first questions.
    """
    questions = [example.question for example in part.examples]
    begin = time.perf_counter()
    for at in range(0, len(questions[:TIMED]), 16):
        reader.answer_many(questions[at : min(at + 16, TIMED)])
    took = 1000 * (time.perf_counter() - begin) / len(questions[:TIMED])

    place = {id(example.question): number for number, example in enumerate(part.examples)}

    def read(chunk: Sequence[Question]) -> list[Answer]:
        graphs = [[reader.ablate(g) for g in part.subgraphs[place[id(q)]]] for q in chunk]
        return reader.read(chunk, graphs)

    answers = answer_all(read, part.examples)
    values: dict[str, list[float]] = {}
    for example, answer in zip(part.examples, answers, strict=True):
        for name, value in _values(example, answer).items():
            values.setdefault(name, []).append(value)
    chance = np.mean([1 / len(q.choices) if q.choices else 0.0 for q in questions])
    return values, float(chance), took


def _values(example: Example, answer: Answer) -> dict[str, float]:
    if example.choice is not None:
        return {"accuracy": is_correct(example, answer.best)}
    rank = rank_of_gold([c.text for c in answer.candidates], example.golds, normalise) or math.inf
    return {"hits@1": float(rank <= 1), "hits@10": float(rank <= 10), "MRR": 1 / rank}


def recipe_of_row(recipe: ComparisonRecipe, row: str, seed: int) -> ReaderRecipe:
    """The recipe by which a row of the table is trained."""
    row_settings = ROWS[row]
    reading = {"ablation": row_settings.get("ablation", "none"), "facts": int(row_settings.get("facts", 0))}
    changed = {
        "name": f"{row}, seed {seed}",
        "reasoner": recipe.reasoner.model_copy(
            update={"name": row_settings["reasoner"], "prior": True if "prior" in row_settings else None}
        ),
        "input": recipe.input.model_copy(update=reading),
        "trainer": recipe.trainer.model_copy(update={"seed": seed}),
    }
    plain = {name: getattr(recipe, name) for name in ReaderRecipe.model_fields}
    return ReaderRecipe(**{**plain, **changed})


def parameters(export: Path) -> int:
    """Parameters of a stored reader, its encoder's included."""
    from safetensors import safe_open

    total = 0
    for path in [*export.glob("model*.safetensors"), export / "reader.safetensors"]:
        with safe_open(path, framework="np") as weights:
            total += sum(math.prod(weights.get_slice(key).get_shape()) for key in weights.keys())  # noqa: SIM118
    return total


BASELINE = "text-only, retriever prior"
"""The row that gains are measured over: what a graph network adds to the retriever's ranking."""


def table(outcomes: Sequence[Outcome]) -> str:
    """A row per reader: mean and standard deviation over seeds, in brackets the gain over `BASELINE`.

    The gain is over the seeds that both have; a star marks one whose 95 % interval of the paired bootstrap
    over questions lies above zero, a dagger one whose interval lies below. A seed counts as collapsed, and
    is counted but not left out, when `collapsed` says so.
    """
    shown = list(dict.fromkeys((o.column, name) for o in outcomes for name in o.values))
    tested = any(o.faithful for o in outcomes)
    head = [f"{Path(column).name}: {name}" for column, name in shown]
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
        measured: dict[str, Any] = {"by": row, "seeds": seeds, "parameters": mine[0].parameters}
        measured["minutes"] = float(np.mean([o.minutes for o in mine]))
        measured["ms"] = float(np.mean([o.ms_per_question for o in mine]))
        for column, name in dict.fromkeys((o.column, name) for o in mine for name in o.values):
            means = [float(np.mean(o.values[name])) for o in mine if o.column == column]
            spread = [float(np.std(means, ddof=1))] if seeds > 1 else []
            measured[f"{Path(column).stem}: {name}"] = [float(np.mean(means)), *spread]
        faithful = [value for o in mine for value in o.faithful]
        found.append({**measured, "deletion": float(np.mean(faithful))} if faithful else measured)
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
    """Gain over `BASELINE`; a question's values are averaged over the seeds first, then resampled."""
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

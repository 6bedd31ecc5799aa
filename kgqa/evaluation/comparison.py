"""The table: reasoners and ablations on the same encoder, data and budget, over several seeds."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from pydantic import Field

from kgqa.answering.answerer import Answerer
from kgqa.assets import cache_folder, write_whole
from kgqa.evaluation.baselines import RetrievalAlone
from kgqa.evaluation.deletion_test import deletion_test
from kgqa.evaluation.evaluation import answer_all
from kgqa.graph.linking.normalising import normalise
from kgqa.graph.opening import open_graph
from kgqa.metrics import is_correct, rank_of_gold
from kgqa.trainer.data.mixture import DataSettings, Part, data_hashes
from kgqa.trainer.finetuning.answering import train_reader
from kgqa.trainer.finetuning.answering_recipe import AnsweringRecipe, located
from kgqa.trainer.finetuning.preparing import prepare
from kgqa.trainer.fingerprint import claim
from kgqa.trainer.recipe import save_recipe
from kgqa.types import Answer, Example, KnowledgeGraph, Question

ROWS: dict[str, dict[str, str]] = {
    "text-only": {"reasoner": "text-only", "words": ""},
    "text-only, word vectors": {"reasoner": "text-only"},
    "retrieval alone": {},
    "gsc": {"reasoner": "gsc", "words": ""},
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


class ComparisonRecipe(AnsweringRecipe):
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

    All seeds of a row come before the next row. Returns what the folder holds afterwards, rows that were
    trained by earlier calls included.

    Raises:
        InputError: `folder` was made by another recipe.
        KeyboardInterrupt: a signal ended a training; the same call goes on from there.
    """
    columns = [located(column) for column in recipe.columns]
    claim(folder, recipe, **data_hashes([*map(located, recipe.data), *columns]))
    save_recipe(recipe, folder / "recipe.json")
    tests: list[tuple[Part, KnowledgeGraph]] | None = None
    # what does not learn gives the same with every seed
    cells = [(row, seed) for row in rows for seed in (seeds if ROWS[row] else seeds[:1])]
    for number, (row, seed) in enumerate(cells, 1):
        run = folder / f"{row.replace(', ', '-').replace(' ', '-')}-{seed}"
        if (run / "outcomes.json").exists():
            continue
        print(f"[{number}/{len(cells)}] {row}, seed {seed}", file=sys.stderr, flush=True)
        minutes = 0.0
        if ROWS[row]:
            result = train_reader(_recipe_of(recipe, row, seed), run)
            minutes = result.minutes
            if result.interrupted:
                raise KeyboardInterrupt
        if tests is None:
            tests = [(prepare(c, recipe, cache_folder("subgraphs")), open_graph(c.graph)) for c in columns]
        found: list[Outcome] = []
        for part, graph in tests:
            reader: Answerer | RetrievalAlone = RetrievalAlone(graph, recipe.reading.max_nodes)
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


def ask(reader: Answerer | RetrievalAlone, part: Part) -> tuple[dict[str, list[float]], float, float]:
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
    golds = example.golds
    if example.choice is not None:
        return {"accuracy": is_correct(example, answer.best)}
    rank = rank_of_gold([c.text for c in answer.candidates], golds, normalise) or math.inf
    return {"hits@1": float(rank <= 1), "hits@10": float(rank <= 10), "MRR": 1 / rank}


def _recipe_of(recipe: ComparisonRecipe, row: str, seed: int) -> AnsweringRecipe:
    told = ROWS[row]
    reading = {"ablation": told.get("ablation", "none"), "facts": int(told.get("facts", 0))}
    changed = {
        "name": f"{row}, seed {seed}",
        "reasoner": recipe.reasoner.model_copy(update={"name": told["reasoner"]}),
        "reading": recipe.reading.model_copy(update=reading),
        "words": told.get("words", recipe.words),
        "trainer": recipe.trainer.model_copy(update={"seed": seed}),
    }
    plain = {name: getattr(recipe, name) for name in AnsweringRecipe.model_fields}
    return AnsweringRecipe(**{**plain, **changed})


def parameters(export: Path) -> int:
    """Parameters of a stored reader, its encoder's included."""
    from safetensors import safe_open

    total = 0
    for path in [*export.glob("model*.safetensors"), export / "reader.safetensors"]:
        with safe_open(path, framework="np") as weights:
            total += sum(math.prod(weights.get_slice(key).get_shape()) for key in weights.keys())  # noqa: SIM118
    return total

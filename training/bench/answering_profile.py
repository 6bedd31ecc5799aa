"""Where the time of an answer goes: processor time by stage, one by one and by sixteen, and a flame graph.

    python training/bench/answering_profile.py [--questions 48] [--together 1 16] [--explained] [--svg OUT.svg]

Stages are counted without what they call: the time of the graph's layers, which the encoder visits, is not the
encoder's. `--svg` draws a flame graph of the same questions with py-spy (`pip install py-spy`); with another ending it
writes the file that speedscope reads. Everyday development questions, one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kgqa.types import Passage, Question

DEV = Path(__file__).parents[1] / "data" / "everyday_dev.jsonl"
PHASES = ("deletion",)
"""Stages within which the others are counted apart."""


class Stages:
    """Processor seconds of functions that are called within each other."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()
        self._open: list[str] = []
        self._since = 0.0

    def _switch(self) -> None:
        now = time.process_time()
        if self._open:
            phase = next((name for name in reversed(self._open) if name in PHASES), "first reading")
            stage = self._open[-1]
            self.spent[phase if stage == phase else f"{phase}: {stage}"] += now - self._since
        self._since = now

    def watch(self, owner: Any, attribute: str, stage: str) -> None:
        """Count every call of a function of a module or class as a stage."""
        function = getattr(owner, attribute)

        def timed(*arguments: Any, **options: Any) -> Any:
            self._switch()
            self._open.append(stage)
            try:
                return function(*arguments, **options)
            finally:
                self._switch()
                self._open.pop()

        setattr(owner, attribute, timed)


def watched() -> Stages:
    """The stages of answering, from now on counted."""
    from kgqa import answerer
    from kgqa.graph.linking.linker import Linker
    from kgqa.models.collation.collate import Collator
    from kgqa.models.encoders.stepping import Stepper
    from kgqa.models.reader import Reader
    from kgqa.models.reasoners.fused import FusedReasoner, FusionLayer

    stages = Stages()
    for owner, attribute, stage in (
        (answerer.Answerer, "_answer", "answers and evidence from scores"),
        (answerer, "by_deletion", "deletion"),
        (answerer.Answerer, "retrieve", "retrieval"),
        (Linker, "link_many", "linking"),
        (Collator, "__call__", "collation"),
        (Reader, "forward", "heads"),
        (FusedReasoner, "forward", "reasoner: labels and pooling"),
        (Stepper, "walk", "encoder"),
        (FusionLayer, "forward", "reasoner: layers"),
    ):
        stages.watch(owner, attribute, stage)
    return stages


def questions(count: int) -> list[Question]:
    """So many of the development questions, at equal distances."""
    rows = [json.loads(line) for line in DEV.read_text(encoding="utf-8").splitlines()]
    return [
        Question(
            row["question"],
            tuple(row.get("choices") or ()),
            Passage(row["passage"]) if row.get("passage") else None,
        )
        for row in rows[:: max(1, len(rows) // count)][:count]
    ]


def work(model: str, asked: list[Question], together: int, explained: bool) -> Callable[[], None]:
    """What is measured, with the reader loaded and warm."""
    from kgqa.answering import retrieving
    from kgqa.answering.answerer import Answerer

    answerer = Answerer.load(model, "everyday", device="cpu")
    answerer.answer(asked[0])
    retrieving.LONGEST_KEPT = 0  # each question as if it were new

    def run() -> None:
        for at in range(0, len(asked), together):
            if explained:
                for question in asked[at : at + together]:
                    answerer.answer(question)
            else:
                answerer.answer_many(asked[at : at + together])

    return run


def draw(path: Path, arguments: list[str]) -> None:
    """A flame graph of this script with other arguments."""
    form = "flamegraph" if path.suffix == ".svg" else "speedscope"
    spy = Path(sys.executable).with_name("py-spy")
    command = [str(spy if spy.exists() else "py-spy"), "record", "--rate", "100"]
    try:
        subprocess.run(
            [*command, "--format", form, "--output", str(path), "--", sys.executable, __file__, *arguments],
            check=True,
        )
    except FileNotFoundError:
        sys.exit("py-spy is not installed; pip install py-spy")


def main() -> None:
    """Print the table, or draw."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--questions", type=int, default=48)
    options.add_argument("--together", type=int, nargs="+", default=[1, 16])
    options.add_argument("--explained", action="store_true", help="with the deletion that orders evidence")
    options.add_argument("--model", default="kgqa-base")
    options.add_argument("--svg", type=Path, help="draw a flame graph of the last of --together instead")
    chosen = options.parse_args()
    if chosen.svg:
        same = ["--questions", str(chosen.questions), "--model", chosen.model]
        same += ["--explained"] * chosen.explained
        return draw(chosen.svg, [*same, "--together", str(chosen.together[-1])])
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import torch

    torch.set_num_threads(1)
    asked, columns, totals = questions(chosen.questions), [], []
    stages = watched()
    for together in chosen.together:
        run = work(chosen.model, asked, together, chosen.explained)
        stages.spent.clear()
        begin = time.process_time()
        run()
        totals.append(time.process_time() - begin)
        columns.append(Counter(stages.spent))
    print("| share of processor time |", " | ".join(f"{n} together" for n in chosen.together), "|")
    print("|---|" + "---|" * len(columns))
    for stage in sorted({name for column in columns for name in column}):
        shares = (
            f"{100 * column[stage] / total:.1f} %" for column, total in zip(columns, totals, strict=True)
        )
        print(f"| {stage} |", " | ".join(shares), "|")
    each = [round(1000 * total / len(asked)) for total in totals]
    print("| CPU ms a question |", " | ".join(map(str, each)), "|")
    print(json.dumps({f"together{n}": ms for n, ms in zip(chosen.together, each, strict=True)}))


if __name__ == "__main__":
    main()

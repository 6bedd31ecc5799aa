"""Smaller versions of the released reader: half and eighth precision, fewer concepts. How fast, and what is lost?

    python training/bench/small_versions.py [--model FOLDER] [--questions 598]

Each version answers the everyday development questions in batches of 16 on one thread. `network` is the processor
time of the network alone, `answer` that of the whole answer, in milliseconds a question.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from kgqa.data.datasets.load import load_dataset
from kgqa.evaluation import evaluate
from kgqa.qa.answerer import Answerer
from kgqa.types import Example

DEV = Path(__file__).parents[1] / "data" / "everyday" / "development" / "everyday_dev.jsonl"


class Timed:
    """A reader whose processor time is added up."""

    def __init__(self, reader: Any, context: Callable[[], Any]) -> None:
        self.reader, self.context, self.seconds = reader, context, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)

    def __call__(self, batch: Any) -> Any:
        """Scores of a batch."""
        begin = time.process_time()
        with self.context():
            scores = self.reader(batch)
        self.seconds += time.process_time() - begin
        return scores


def measure(answerer: Answerer, examples: list[Example], context: Callable[[], Any]) -> list[str]:
    """A row of the table."""
    whole = answerer.reader.network
    answerer.reader.network = timed = Timed(whole, context)  # type: ignore[assignment]
    begin = time.process_time()
    figures = evaluate(answerer.answer_many, examples)
    spent = time.process_time() - begin
    answerer.reader.network = whole
    names = ("exact_match", "source_accuracy", "hits@1")
    return [
        *(f"{100 * figures[name]:.1f}" for name in names),
        f"{1000 * timed.seconds / len(examples):.1f}",
        f"{1000 * spent / len(examples):.1f}",
    ]


def main() -> None:
    """Measure every version."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--model", default="kgqa-small")
    options.add_argument("--questions", type=int, default=598)
    chosen = options.parse_args()
    torch.set_num_threads(1)
    os.environ["KGQA_PRECISION"] = "fp32"  # each version says for itself how it multiplies
    examples = list(load_dataset(str(DEV)))[: chosen.questions]

    def half() -> Any:
        return torch.autocast("cpu", dtype=torch.bfloat16)

    print("| version | exact match | right source | hits@1 | network ms | answer ms |")
    print("|---|---|---|---|---|---|")
    answerer = Answerer.load(chosen.model)
    settings = answerer.retriever.settings
    most = settings.max_nodes
    print(f"| fp32, {most} concepts |", " | ".join(measure(answerer, examples, contextlib.nullcontext)), "|")
    print(f"| bf16, {most} concepts |", " | ".join(measure(answerer, examples, half)), "|")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        linear = {torch.nn.Linear}
        network = torch.ao.quantization.quantize_dynamic(answerer.reader.network, linear, dtype=torch.qint8)
        answerer.reader.network = network
        for count in (most, most // 2, most // 3):
            answerer.retriever.settings = settings.model_copy(update={"max_nodes": count})
            row = measure(answerer, examples, contextlib.nullcontext)
            print(f"| int8, {count} concepts |", " | ".join(row), "|")


if __name__ == "__main__":
    main()

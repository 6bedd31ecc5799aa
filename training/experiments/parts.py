"""What each part of a reader brings, for the app: `python -m training.experiments.parts QUESTIONS.jsonl ...`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgqa.data.datasets.json_lines import read_examples
from kgqa.evaluation import answer_all
from kgqa.graph.retrieval.ablation import ABLATIONS
from kgqa.metrics import is_correct
from kgqa.qa.answerer import Answerer
from kgqa.settings import PARTS, write_whole
from kgqa.types import Example, Subgraph

WAYS = {
    "full": ABLATIONS["none"],
    "shuffled": ABLATIONS["shuffled"],
    "no-facts": ABLATIONS["no-facts"],
    "text-only": lambda _: Subgraph(),
}
"""The full reader, and ablations with less and less input."""
BINS = 5


def measured(answerer: Answerer, examples: Sequence[Example]) -> dict[str, Any]:
    """Accuracy by ablation and question type, and by the full reader's confidence."""
    shares = []
    for way, ablation in WAYS.items():
        answers = answer_all(answerer.with_ablation(ablation).answer_many, examples, batch=8)
        right = [is_correct(e, answer.text) > 0 for answer, e in zip(answers, examples, strict=True)]
        kinds = {"all": right}
        for value, example in zip(right, examples, strict=True):
            kinds.setdefault(example.source.value, []).append(value)
        shares += [
            {"way": way, "kind": kind, "right": round(sum(values) / len(values), 3), "count": len(values)}
            for kind, values in kinds.items()
        ]
        if way == "full":
            sure = calibration([answer.confidence for answer in answers], right)
    return {"model": answerer.name, "count": len(examples), "shares": shares, "sure": sure}


def calibration(
    confidences: Sequence[float], right: Sequence[bool], bins: int = BINS
) -> list[dict[str, float]]:
    """Mean confidence and accuracy in bins of equal size, by increasing confidence."""
    pairs = sorted(zip(confidences, right, strict=True))
    size = -(-len(pairs) // bins)
    groups = [pairs[start : start + size] for start in range(0, len(pairs), size)] if pairs else []
    return [
        {
            "confidence": round(sum(p for p, _ in group) / len(group), 3),
            "right": round(sum(hit for _, hit in group) / len(group), 3),
        }
        for group in groups
    ]


def main(files: Sequence[str], target: Path = PARTS) -> None:
    """Measure the reader of the app, and replace the stored figures."""
    examples = [example for name in files for example in read_examples(Path(name))]
    found = measured(Answerer.load(), examples)
    write_whole(target, json.dumps(found, indent=1) + "\n")
    print(f"{target}: {found['count']} questions")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])

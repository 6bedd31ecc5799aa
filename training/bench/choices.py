"""The everyday development questions asked with choices: the answer among those of other questions of its kind.

    python training/bench/choices.py [--model FOLDER] [--choices 5]

Wrong choices are the answer to the same question in the other situation of a contrast pair and answers of the kind
(`kgqa/data/augment.py`).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from kgqa.data.augment import with_choices
from kgqa.data.datasets.load import load_dataset
from kgqa.metrics import exact_match
from kgqa.qa.answerer import Answerer
from kgqa.settings import DEFAULT_READER
from kgqa.types import Source

DEV = Path(__file__).parents[1] / "data" / "everyday" / "development" / "everyday_dev.jsonl"


def main() -> None:
    """Print the share of right choices."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default=DEFAULT_READER)
    parser.add_argument("--choices", type=int, default=5)
    chosen = parser.parse_args()
    known = [example for example in load_dataset(str(DEV)) if example.source == Source.KNOWLEDGE]
    asked = list(with_choices(known, count=chosen.choices, seed=0))
    answerer = Answerer.load(chosen.model)
    answers = answerer.answer_many([example.question for example in asked])
    right = sum(exact_match(a.text or "", e.golds) for e, a in zip(asked, answers, strict=True))
    print(f"{len(asked)} questions with {chosen.choices} choices: {right / len(asked):.1%} right")


if __name__ == "__main__":
    main()

"""Yes/no questions beside a passage that has nothing to do with them, and beside one that has.

    python training/bench/beside_passage.py [--model kgqa-base] [--unrelated 0 0.2]

`beside_passage.jsonl` holds 30 of common knowledge beside a passage that does not tell, 20 that nobody can know, and 15
that the passage settles without a word of the question. Told are, of each, the right ones, those alone, and those of
which the answer says that it was read in the passage. `--unrelated` tries what a reader's card may say
(`decision_config.py`).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from kgqa.data.datasets.load import load_dataset
from kgqa.qa.answerer import Answerer
from kgqa.types import Question, Source

DATA = Path(__file__).with_suffix(".jsonl")


def main() -> None:
    """Print a line for each setting and sort of question."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="kgqa-base")
    parser.add_argument("--unrelated", type=float, nargs="+", default=[])
    given = parser.parse_args()
    answerer, examples = Answerer.load(given.model), list(load_dataset(str(DATA)))
    print("unrelated  source     questions  right alone  right beside  told as read")
    for share in given.unrelated or [answerer.decision.unrelated]:
        answerer.decision = answerer.decision.model_copy(update={"unrelated": share})
        for source in (Source.KNOWLEDGE, Source.NONE, Source.PASSAGE):
            asked = [example for example in examples if example.source is source]
            beside = answerer.answer_many(example.question for example in asked)
            alone = answerer.answer_many(Question(example.question.text) for example in asked)
            right = [
                sum((answer.text,) == (e.golds or (None,)) for e, answer in zip(asked, output, strict=True))
                for output in (alone, beside)
            ]
            info = sum(answer.source is Source.PASSAGE for answer in beside)
            print(
                f"{share:9g}  {source:9}  {len(asked):9}  {right[0]:11}  {right[1]:12}  {info:12}", flush=True
            )


if __name__ == "__main__":
    main()

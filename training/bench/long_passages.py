"""How a reader finds an answer in a long passage, and says that there is none.

    python training/bench/long_passages.py [--model kgqa-base] [--characters 0 1200 3000] [--none-per-window mean 0 0.5]

Questions of a development set, 24 that their passage answers and 12 that it does not, each passage by itself and among
so many characters of other passages, at their beginning, middle and end. Told are the right ones of the answerable, how
many of them were left without an answer, their mean F1, the unanswerable that were left so, and the processor's seconds
a question. `--none-per-window` tries what a reader's card may say (`kgqa/models/reasoners/base.py`), `--windows` how
many windows are read (`kgqa/models/collation/input_config.py`); by default both are as in the card.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence

from kgqa.data.datasets.load import load_dataset
from kgqa.metrics import exact_match, f1
from kgqa.qa.answerer import Answerer
from kgqa.settings import DATA_SETS
from kgqa.types import Example, Question

ANSWERABLE, UNANSWERABLE = 24, 12


def chosen(examples: Sequence[Example], seed: int) -> list[Example]:
    """Answerable and unanswerable questions, drawn."""
    draw = random.Random(seed)
    answerable = [example for example in examples if example.spans]
    unanswerable = [example for example in examples if not example.golds]
    return draw.sample(answerable, ANSWERABLE) + draw.sample(unanswerable, UNANSWERABLE)


def among(passage: str, others: Sequence[str], characters: int, place: int, draw: random.Random) -> str:
    """A passage among others, so many characters in all; `place` is 0 for the beginning, 1 the middle, 2 the end."""
    left = draw.sample(others, len(others))
    taken: list[str] = []
    while left and sum(map(len, taken)) + len(passage) < characters:
        if (text := left.pop()) != passage:
            taken.append(text)
    taken.insert(place * len(taken) // 2, passage)
    return "\n".join(taken)


def main() -> None:
    """Print a line for each length and setting."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="kgqa-base")
    parser.add_argument("--data", default=str(DATA_SETS / "reading" / "development" / "reading_dev.jsonl"))
    parser.add_argument("--characters", type=int, nargs="+", default=[0, 1200, 3000])
    parser.add_argument("--none-per-window", nargs="+", default=[])
    parser.add_argument("--windows", type=int, nargs="+", default=[])
    parser.add_argument("--seed", type=int, default=47)
    given = parser.parse_args()
    answerer = Answerer.load(given.model)
    examples = list(load_dataset(given.data))
    asked, passages = chosen(examples, given.seed), sorted({e.question.passage_text for e in examples})
    answer_type, collator = answerer.reader.network.answer_type, answerer.reader.collator
    print("characters  none per window  windows  right  none  F1  left unanswered  seconds")
    for characters in given.characters:
        draw = random.Random(given.seed)
        texts = [
            among(e.question.passage_text, passages, characters, n % 3, draw) for n, e in enumerate(asked)
        ]
        for setting in given.none_per_window or [answer_type.none_per_window]:
            answer_type.none_per_window = None if setting in (None, "mean") else float(setting)
            for windows in given.windows or [collator.input.windows]:
                collator.input = collator.input.model_copy(update={"windows": windows})
                begin = time.process_time()
                output = [
                    answerer.answer(Question(e.question.text, passage=text)).text or ""
                    for e, text in zip(asked, texts, strict=True)
                ]
                spent = (time.process_time() - begin) / len(asked)
                golds = [(e.golds, text) for e, text in zip(asked, output, strict=True)]
                right = sum(exact_match(text, gold) for gold, text in golds if gold)
                lost = sum(not text for gold, text in golds if gold)
                overlap = sum(f1(text, gold) for gold, text in golds if gold) / ANSWERABLE
                kept = sum(not text for gold, text in golds if not gold)
                info = "mean" if answer_type.none_per_window is None else f"{answer_type.none_per_window:g}"
                print(
                    f"{characters:10}  {info:>15}  {windows or 'all':>7}  {right:5.0f}  {lost:4}  {100 * overlap:.0f}  "
                    f"{kept:15}  {spent:7.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()

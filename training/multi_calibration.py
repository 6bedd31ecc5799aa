"""Questions to which answer types and confidences of kgqa-multi are fitted: `python training/multi_calibration.py OUT`.

None is trained on: `everyday_calibration` (English), 400 questions in German, French, Spanish, Japanese and Korean,
Korean ones made of the everyday graph's facts with another seed than the training's, and KoBEST's validation part, as
it stands and as cloze questions.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

from kgqa.data.datasets.load import load_dataset
from kgqa.graph.load import open_graph
from kgqa.settings import write_whole
from kgqa.trainer.data.generated import KoreanQuestions, cloze_questions
from kgqa.types import Example

DATA = Path(__file__).parent / "data"
ENGLISH = str(DATA / "everyday" / "calibration" / "everyday_calibration.jsonl")
OTHERS = str(DATA / "languages" / "calibration" / "languages_calibration.jsonl")
SEED = 99
COUNTS = {"english": 90, "others": 395, "facts": 60, "cloze": 60, "statements": 40}


def row_of(example: Example) -> dict[str, Any]:
    """A line of a file of questions (`kgqa/data/datasets/json_lines.py`)."""
    question = example.question
    row: dict[str, Any] = {"question": question.text, "source": example.source.value}
    if question.passage_text:
        row["passage"] = question.passage_text
    if example.yes_no_label is not None:
        return {**row, "yes_no": example.yes_no_label}
    if example.spans:
        return {**row, "span": list(example.spans[0])}
    return {**row, "answers": list(example.concepts)}


def questions() -> list[Example]:
    """The questions, drawn at random where there are more."""
    draw = random.Random(SEED)
    statements = list(load_dataset("kobest-boolq-dev"))
    found = {
        "english": list(load_dataset(ENGLISH)),
        "others": list(load_dataset(OTHERS)),
        "facts": list(KoreanQuestions(open_graph("everyday"), SEED)(COUNTS["facts"])),
        "cloze": list(cloze_questions(statements, SEED)),
        "statements": statements,
    }
    return [example for name, rows in found.items() for example in draw.sample(rows, COUNTS[name])]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    lines = (json.dumps(row_of(example), ensure_ascii=False) + "\n" for example in questions())
    write_whole(parser.parse_args().out, "".join(lines))

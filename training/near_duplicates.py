"""Training rows that nearly repeat a row that is measured: `python training/near_duplicates.py [--remove]`.

Compares all files of `training/data` and `tests/graphs` that data cards mark for training with all others
(`kgqa/evaluation.py`), prints each pair, and with --remove takes the training row out of its file.
Run `python training/data_cards.py` afterwards.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from kgqa.data.datasets.cards import DataUse, shipped_cards
from kgqa.data.datasets.json_lines import question_of
from kgqa.data.datasets.load import load_dataset
from kgqa.data.files import read_json_lines
from kgqa.evaluation import SHARE, DuplicatePair, near_duplicates
from kgqa.settings import GRAPH_SUITE, ROOT
from kgqa.types import Example

REMOVED = 0.45
"""Share in common from which rows are removed: less than the test asks, since each new file shifts the weights."""
ANSWERED = {"answer", "answers", "choice", "span", "yes_no", "verdict"}


class Row(NamedTuple):
    """A row of a file, by its place among the rows that are not blank."""

    path: Path
    place: int
    example: Example


def rows(trained: bool) -> Iterator[Row]:
    """All rows with answers that may be trained on, or all others."""
    for card in shipped_cards():
        for path, part in card.files().items():
            if path.suffix != ".jsonl" or (part.role == DataUse.TRAIN) != trained:
                continue
            _, first = next(islice(read_json_lines(path), 1))
            if ANSWERED & first.keys():  # else what-ifs, or logical forms in place of answers
                # questions over graphs have answers of other forms than those that readers learn
                read = _over_graph(path) if path.is_relative_to(GRAPH_SUITE) else load_dataset(str(path))
                for place, example in enumerate(read):
                    yield Row(path, place, example)


def _over_graph(path: Path) -> Iterator[Example]:
    for number, row in read_json_lines(path):
        question = question_of(row, f"{path}:{number}", str(number))
        lists = (
            answer["all"] if isinstance(answer, dict) else [answer] for answer in row.get("answers") or ()
        )
        yield Example(question, concepts=tuple(str(text) for texts in lists for text in texts))


def pairs(least: float = SHARE) -> list[tuple[Row, Row, DuplicatePair]]:
    """Measured row, training row, and how much they share."""
    measured, trained = list(rows(trained=False)), list(rows(trained=True))
    found = near_duplicates([row.example for row in measured], [row.example for row in trained], least)
    return [(measured[pair.measured], trained[pair.trained], pair) for pair in found]


def remove(found: list[Row]) -> None:
    """Take rows out of their files."""
    places: dict[Path, set[int]] = defaultdict(set)
    for row in found:
        places[row.path].add(row.place)
    for path, gone in places.items():
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        kept = [line for place, line in enumerate(lines) if place not in gone]
        path.write_text("\n".join(kept) + "\n", encoding="utf-8")


def main() -> None:
    """Print the pairs and how many there are of each file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--remove", action="store_true", help="Take the training rows out of their files.")
    given = parser.parse_args()
    found = pairs(REMOVED)
    for measured, trained, pair in found:
        for row in (measured, trained):
            question = row.example.question
            print(f"{row.path.relative_to(ROOT)} {question.id}: {question.passage_text} {question.text}")
        print(f"  {pair.share:.2f} in common")
    gone = {(row.path, row.place): row for _, row, _ in found}
    for title, seen in (("measured", {(row.path, row.place) for row, _, _ in found}), ("trained", set(gone))):
        counts = Counter(path for path, _ in seen)
        for path, count in sorted(counts.items()):
            print(f"{title}: {count} rows of {path.relative_to(ROOT)}")
        print(f"{title}: {len(seen)} rows")
    if given.remove:
        remove(list(gone.values()))


if __name__ == "__main__":
    main()

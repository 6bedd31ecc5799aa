"""What a reader made of a benchmark's questions, kept in a file: reading takes minutes, a fit to it seconds."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from kgqa.answering.answerer import Answerer

Row = TypeVar("Row", bound=NamedTuple)


def read_or_kept(
    description: str | None, row: type[Row], read_all: Callable[[Answerer], dict[str, list[Row]]]
) -> dict[str, list[Row]]:
    """The rows of each data set, for a command with `--model` and `--keep FILE`.

    They are taken from FILE where it is there, else read by the model, and kept in FILE if one is named.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--model", default="kgqa-base")
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    if arguments.keep and arguments.keep.exists():
        kept = json.loads(arguments.keep.read_text(encoding="utf-8"))
        return {name: [row(*values) for values in rows] for name, rows in kept.items()}
    cases = read_all(Answerer.load(arguments.model))
    if arguments.keep:
        arguments.keep.write_text(json.dumps(cases), encoding="utf-8")
    return cases

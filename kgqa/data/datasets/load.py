"""Questions with answers by name or path: published data sets (`published.py`), or your own (`json_lines.py`)."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from kgqa.data.datasets import published
from kgqa.data.datasets.json_lines import NOBODY_KNOWS, example_of, read_examples, read_table
from kgqa.settings import data_folder
from kgqa.types import Example, InputError

DATASETS: dict[str, Callable[[Path], Iterator[Example]]] = published.READERS
"""Name -> reader of a data folder (what `KGQA_DATA` names)."""
TABLES = (".csv", ".tsv", ".parquet")
"""Suffixes of tables of questions."""
WORKBOOKS = (".xlsx", ".xls", ".ods")


def load_dataset(spec: str, data: Path | None = None) -> Iterator[Example]:
    """The examples of a data set, read lazily.

    Args:
        spec: a name in `DATASETS`, or the path of your own file: JSON lines (see `read_examples`) or SQuAD's JSON,
            which may be compressed with zstd, or a table (CSV, TSV, Parquet; see `table_examples`). A pattern
            ("mine_*.jsonl") names all matching files.
        data: folder of the published sets; by default the environment's KGQA_DATA, else ./data.

    Raises:
        InputError: the name is unknown, the file is missing, or a line cannot be used (file:line and remedy).
    """
    if spec in DATASETS:
        return DATASETS[spec](data or data_folder())
    return chain.from_iterable(_read(path) for path in files_of(spec))


def files_of(spec: str) -> list[Path]:
    """The files that a path or a pattern names.

    Raises:
        InputError: there are none.
    """
    path = Path(spec)
    if any(mark in spec for mark in "*?[") and not path.exists():
        found = sorted(path.parent.glob(path.name))
        if not found:
            raise InputError(f"{spec}: no such files; the pattern is looked for in {path.parent}")
        return found
    if not path.exists():
        near = difflib.get_close_matches(spec, DATASETS, n=1)
        hint = f"did you mean {near[0]}?" if near else "published sets are named in training/DATA.md"
        raise InputError(f"{spec}: no such file or data set; {hint}")
    return [path]


def _read(path: Path) -> Iterator[Example]:
    if path.name.removesuffix(".zst").endswith(".json"):
        return published.squad(path)
    if path.suffix.lower() in WORKBOOKS:
        raise InputError(f"{path}: questions are not read from a workbook; save the sheet as CSV")
    if path.suffix.lower() in TABLES:
        return table_examples(path)
    return read_examples(path)


def table_examples(path: Path) -> Iterator[Example]:
    """Questions with answers from a table whose first line names its columns.

    The columns are the fields of JSON lines: `question`, `passage`, `choices` and `answer` (several separated by |, or
    by ; if | separates the columns; "(none)" for an unanswerable question), `verdict` (yes or no), `source`, `kind`,
    `id`.

    Raises:
        InputError: naming file, line and remedy.
    """
    for row in read_table(str(path), path.read_bytes()):
        where, question = f"{path}:{row.number}", row.question
        if question is None:
            raise InputError(f"{where}: {row.error}")
        fields: dict[str, Any] = {name: row.cells[name] for name in ("source", "kind") if row.cells.get(name)}
        fields |= {
            "question": question.text,
            "passage": question.passage_text,
            "choices": list(question.choices),
        }
        if verdict := row.cells.get("verdict", "").strip().lower():
            fields["verdict"] = {"yes": True, "true": True, "no": False, "false": False}.get(verdict, verdict)
        elif row.golds is None:
            raise InputError(
                f"{where}: no answer; fill the column `answer`, with {NOBODY_KNOWS} where nobody can"
            )
        else:
            fields["answers"] = list(row.golds)
        yield example_of(fields, where, question.id)

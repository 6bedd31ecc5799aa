"""`kgqa predict`: a file of questions to a file of answers, resumable, and only by the same run.

Files may be tables (CSV, TSV), JSON lines or Parquet, or lie at any address that fsspec opens; then the answers are
gathered as JSON lines on this machine, and go there once all are given (`answer_files.py`).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kgqa.assets import find_model, output_file, replacing
from kgqa.checking import check_question
from kgqa.cli.asking.answer_files import find_place, unfinished
from kgqa.cli.asking.prompting import is_prompted, open_prompter
from kgqa.progress import bars
from kgqa.text.datasets.tables import read_table
from kgqa.types import InputError, Passage, Question, first_line, printable

MAX_LINE_BYTES = 16 << 20
MAX_ID_CHARACTERS = 200
MOST_TOLD = 10
"""Bad rows that are told one by one."""
_TABLES = (".csv", ".tsv", ".txt")
ASKED = ("id", "question", "passage", "choices")
"""Columns that are read; a table may have others."""


@dataclass(frozen=True, slots=True)
class Run:
    """Who answers a file, and where: in this process ("local") or by `workers` actors of a cluster ("ray")."""

    graph: str
    model: str
    batch: int
    """Questions read together."""
    device: str = "auto"
    language: str = "auto"
    engine: str = "local"
    workers: int = 2
    strict: bool = False
    """Stop at the first row that holds no question, instead of leaving it out."""
    none_above: float | None = None
    """Say none where that is likelier; None leaves it to the reader's card."""


def read_questions(source: Path | str, strict: bool = True) -> tuple[list[Question], list[str]]:
    """The questions of a file, here or at an address, and what is wrong with each row that holds none.

    JSON lines and Parquet are `id question passage? choices?` a row; tables (CSV, TSV) have a first line of such names.

    Raises:
        InputError: the file cannot be read, or `strict` and a row is bad; naming file and line.
    """
    name = str(source)
    is_table = Path(urlsplit(name).path if "://" in name else name).suffix.lower() in _TABLES
    found: list[Question] = []
    faults: list[str] = []
    for row in _table_rows(name) if is_table else _json_rows(name):
        if isinstance(row, Question):
            found.append(row)
        elif strict:
            raise InputError(row)
        else:
            faults.append(row)
    return found, faults


def _table_rows(name: str) -> Iterator[Question | str]:
    for row in read_table(name, b"".join(_lines(name))):
        yield row.question or f"{name}:{row.number}: {row.error}"


def _json_rows(name: str) -> Iterator[Question | str]:
    number, goes_on = 0, False
    for line in _lines(name):
        part, goes_on = goes_on, len(line) > MAX_LINE_BYTES and not line.endswith(b"\n")
        if part:  # of a line that was too long
            continue
        number += 1
        if len(line) > MAX_LINE_BYTES:
            yield f"{name}:{number}: longer than {MAX_LINE_BYTES:,} bytes; one question a line"
            continue
        try:
            if question := _question(line, f"{name}:{number}", number):
                yield question
        except InputError as error:
            yield str(error)


def _lines(name: str) -> Iterator[bytes]:
    """Lines of JSON; nothing is written down on the way, so that nothing is left where the run is killed."""
    if "://" not in name and not Path(name).is_file():
        wrong = "no regular file" if Path(name).exists() else "no such file"
        raise InputError(f"{name}: {wrong}; give a file with one question a line")
    try:
        with _opened(name) as file:
            if not name.endswith(".parquet"):
                yield from iter(lambda: file.readline(MAX_LINE_BYTES + 1), b"")
                return
            import pyarrow.parquet

            table = pyarrow.parquet.ParquetFile(file)
            columns = [name for name in ASKED if name in table.schema_arrow.names]
            for rows in table.iter_batches(1_000, columns=columns):
                for row in rows.to_pylist():
                    yield json.dumps({k: v for k, v in row.items() if v is not None}, default=_told).encode()
    except (OSError, ValueError, TypeError, ImportError) as error:
        raise InputError(f"{name}: cannot be read ({first_line(error)}); check address and form") from None


def _opened(name: str) -> Any:
    """A file here, or wherever fsspec finds it."""
    if "://" not in name:
        return Path(name).open("rb")
    import fsspec

    return fsspec.open(name, "rb")


def _told(value: object) -> str:
    """A date, a number of fixed places or bytes as text."""
    return value.decode() if isinstance(value, bytes) else str(value)


def _question(line: bytes, where: str, number: int) -> Question | None:
    """The question of a line, None of a blank one."""
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        if not text:
            return None
        row: Any = json.loads(text)
    except UnicodeDecodeError:
        raise InputError(f"{where}: not UTF-8; convert the file") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: not JSON ({error.msg}); write one object a line") from error
    except (ValueError, RecursionError):  # a number of thousands of digits; lists without end
        raise InputError(f"{where}: a number too long, or nested too deeply; write it as text") from None
    if not isinstance(row, dict) or not isinstance(row.get("question"), str):
        raise InputError(f'{where}: no "question"; write {{"id": ..., "question": ...}}')
    passage, choices, name = row.get("passage"), row.get("choices") or (), row.get("id", number)
    if not isinstance(choices, (list, tuple)) or not all(isinstance(c, str) for c in choices):
        raise InputError(f'{where}: "choices" is not a list of strings')
    if passage is not None and not isinstance(passage, str):
        raise InputError(f'{where}: "passage" is not a string')
    if not isinstance(name, (str, int)) or len(str(name)) > MAX_ID_CHARACTERS:
        raise InputError(f'{where}: "id" is no text or number of at most {MAX_ID_CHARACTERS} characters')
    question = Question(row["question"], tuple(choices), Passage(passage) if passage else None, id=str(name))
    try:
        check_question(question)
    except InputError as error:
        raise InputError(f"{where}: question {question.id}: {error}") from None
    return question


def predict(source: Path | str, target: Path | str, run: Run, overwrite: bool = False) -> None:
    """Answer a file of questions. A stopped run goes on where it was: its answers lie in `TARGET.part` until all are
    there, those for an address in the cache.

    Beside it, `.TARGET.run.json` tells of which questions, reader and graph they are the answers: a run over others
    does not go on there. Either engine writes the same file.

    Raises:
        InputError: a question cannot be read, the output is not this run's, or another run writes it now.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    from kgqa.checking import checked_language

    if not is_prompted(run.model):
        find_model(run.model)
    checked_language(run.language)
    place = find_place(str(source), str(target))
    questions, faults = read_questions(source, run.strict)
    if faults and not questions:
        raise InputError(faults[0])
    for fault in faults[:MOST_TOLD]:
        print(f"left out: {printable(fault)}", file=sys.stderr)
    if faults:
        print(f"{source}: {len(faults)} rows left out; --strict stops at the first", file=sys.stderr)
    with unfinished(place, questions, _run_of(questions, run), overwrite) as (out, done):
        if done == len(questions):
            print(f"{target}: all {done} answers are there", file=sys.stderr)
            return
        options = {"device": run.device, "language": run.language, "none_above": run.none_above}
        reading = (questions[done:], run.model, run.graph, run.batch, options)
        if run.engine == "ray":
            from kgqa.serving.cluster import answered

            answers = answered(*reading, workers=run.workers)
        else:
            answers = _answered(*reading)
        columns = (TextColumn("answering"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with bars(*columns) as progress:
            bar = progress.add_task("", total=len(questions), completed=done)
            for lines in answers:
                out.write("".join(lines))
                out.flush()
                os.fsync(out.fileno())
                progress.advance(bar, len(lines))


def _answered(
    questions: Sequence[Question], model: str, graph: str, batch: int, options: dict[str, Any]
) -> Iterator[list[str]]:
    """The answers of each batch, a line of JSON each; a causal language model is prompted and asks no graph."""
    from kgqa.answering.answerer import Answerer
    from kgqa.answering.presentation.answer_json import json_lines

    chunks = [questions[at : at + batch] for at in range(0, len(questions), batch)]
    if is_prompted(model):
        prompter = open_prompter(model, 0, None, "token", options["device"])
        yield from (json_lines(prompter.answer_many(chunk)) for chunk in chunks)
        return
    answerer = Answerer.load(model, graph, **options)
    yield from (json_lines(map(answerer.shown, answerer.answer_many(chunk))) for chunk in chunks)


def _run_of(questions: Sequence[Question], run: Run) -> dict[str, str]:
    """Fingerprints of what the answers depend on."""
    from kgqa.graph.opening import graph_fingerprint
    from kgqa.models.reader import fingerprint

    prompted = is_prompted(run.model)
    content = "" if prompted else graph_fingerprint(run.graph)
    asked = blake2b(digest_size=16)
    for question in questions:
        parts = [question.id, question.text, question.passage_text, *question.choices]
        asked.update(json.dumps(parts).encode())
    reader = fingerprint(Path(run.model), "config.json") if prompted else fingerprint(find_model(run.model))
    found = {"questions": asked.hexdigest(), "reader": reader, "graph": content}
    return {**found, "language": run.language, "threshold for none": str(run.none_above)}


def classify_file(
    source: Path, target: Path, folder: Path, batch: int, device: str = "auto", overwrite: bool = False
) -> None:
    """Label the rows of a JSON-lines file: each comes back with what was decided beside it, in the same order.

    Raises:
        InputError: a row cannot be used, the folder holds no classifier, or the output is there already.
    """
    from kgqa.models.classifiers import Classifier
    from kgqa.text.datasets.labelled import as_labelled
    from kgqa.text.files import rows_of

    output_file(target, overwrite, source)
    classifier = Classifier(folder, device)
    given = [
        (row, as_labelled(classifier.kind, row, f"{source}:{number}")) for number, row in rows_of(source)
    ]
    with replacing(target, overwrite) as part, part.open("w", encoding="utf-8") as out:
        for at in range(0, len(given), batch):
            chosen = given[at : at + batch]
            for (row, _), told in zip(chosen, classifier([read for _, read in chosen]), strict=True):
                kept = {name: value for name, value in row.items() if name not in told}
                out.write(json.dumps({**kept, **told}, ensure_ascii=False) + "\n")

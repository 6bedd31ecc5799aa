"""`kgqa predict`: answer a file of questions; an interrupted run resumes with the same questions, reader and graph.

Questions are tables (CSV, TSV), JSON lines or Parquet, answers JSON lines or Parquet; both are local or at
any URL that fsspec opens. Answers to a URL are collected in a local file of JSON lines, and uploaded when
complete.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from kgqa.cli.ask import is_prompted, open_prompter
from kgqa.data.datasets.json_lines import is_asked, read_table, usual_row
from kgqa.progress import bars
from kgqa.settings import (
    cache_folder,
    find_model,
    hold,
    output_file,
    put_in_place,
    replacing,
    taken,
    write_whole,
)
from kgqa.types import InputError, Question, first_line, printable, report_damage
from kgqa.validation import check_question

# Output files. Answers are collected in a part file next to the output (for a URL, in the cache), which
# becomes the output once complete. An existing output is kept if it answers this input line by line (an
# incomplete local file of JSON lines is continued) and replaced with `--overwrite`; otherwise the run fails
# before it starts.

PARQUET = ".parquet"
BEGIN_ANEW = "choose another output, or start over with --overwrite"


@dataclass(frozen=True, slots=True)
class Output:
    """The output, and the local file in which answers are collected as JSON lines."""

    name: str
    """As the user wrote it."""
    file: Path | None
    """The local file, with links resolved; None for a URL."""
    part: Path
    """Answers so far, from which an interrupted run resumes."""
    record: Path
    """File with fingerprints of questions, reader and graph, and settings."""


def find_output(source: str, target: str) -> Output:
    """The output for a target. Raises InputError if it is the input (also through links), or a URL that fsspec does not
    know.
    """
    here = on_this_machine(target)
    if here is not None:
        file = output_file(here, True, on_this_machine(source) or "")
        part, record = file.with_name(f"{file.name}.part"), file.with_name(f".{file.name}.run.json")
        return Output(target, file, part, record)
    if on_this_machine(source) is None and _address(source) == _address(target):
        raise InputError(f"{target}: is the input itself; choose another output file")
    key, folder = blake2b(target.encode(), digest_size=12).hexdigest(), cache_folder("predictions")
    folder.mkdir(parents=True, exist_ok=True)
    return Output(target, None, folder / f"{key}.jsonl", folder / f".{key}.jsonl.run.json")


def on_this_machine(name: str) -> Path | None:
    """The path given by a name; None for a URL."""
    scheme, separator, path = name.partition("://")
    if not separator:
        return Path(name)
    return Path(path) if scheme in ("file", "local") else None


def _address(name: str) -> tuple[Any, str]:
    """File system and path of a URL."""
    with report_damage(f"{name}: unknown kind of URL", "check it"):
        from fsspec.core import url_to_fs

        found: tuple[Any, str] = url_to_fs(name)
    return found


@contextmanager
def unfinished(
    output: Output, questions: Sequence[Question], run: dict[str, str], overwrite: bool
) -> Iterator[tuple[IO[str], int]]:
    """Context with the file to append answers to, and the number of answers in it (all, if the output is complete).

    If the block ends without an exception, all answers must be in the file, which then becomes the output. Raises
    InputError if an existing file is not from this run, another run is writing it, or it cannot be written.
    """
    with _owned(output) as out:
        finished = 0 if overwrite else _finished(output, questions, run)
        done = _begun(output, questions, run, overwrite)
        if finished == len(questions):
            yield out, finished
            return
        if done < finished:
            assert output.file is not None
            shutil.copyfile(output.file, output.part)
            done = finished
        if not done:
            write_whole(output.record, json.dumps(run) + "\n")
        yield out, done
        out.flush()
        if sys.platform == "win32":  # cannot rename an open file
            out.close()
        # the answers of an incomplete output are in the part file, so it may be replaced
        _bring(output, overwrite or finished > 0)


@contextmanager
def _owned(output: Output) -> Iterator[IO[str]]:
    """The unfinished file, opened for appending and locked."""
    held = InputError(f"{output.name}: another run is writing it; wait for it, or choose another output")
    if output.part.exists() and not output.part.is_file():
        raise InputError(f"{output.part}: not a regular file; {BEGIN_ANEW.partition(',')[0]}")
    try:
        out = output.part.open("a", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{output.name}: cannot be written ({error.strerror}); choose another output"
        ) from None
    with out:
        try:
            if not hold(out.fileno()) or not os.path.samefile(output.part, out.fileno()):
                raise held
        except ImportError:
            pass  # Windows has no such locks
        except FileNotFoundError:  # the other run has just finished
            raise held from None
        try:
            yield out
        finally:
            if output.part.exists() and not output.part.stat().st_size:
                output.part.unlink()


def _finished(output: Output, questions: Sequence[Question], run: dict[str, str]) -> int:
    """Number of answers in the output itself; 0 if it does not exist."""
    with report_damage(f"{output.name}: cannot be read", BEGIN_ANEW):
        if output.file is None:
            system, path = _address(output.name)
            if not system.exists(path):
                return 0
            with system.open(path, "rb") as file:
                return _checked(output, file, questions, run)
        if not output.file.exists():
            return 0
        with output.file.open("rb") as file:
            return _checked(output, file, questions, run)


def _checked(output: Output, file: IO[bytes], questions: Sequence[Question], run: dict[str, str]) -> int:
    """Number of answers in an existing output; raises InputError if they are not from this run."""
    _check_run(output.name, output.record, run)
    rows: Iterable[Any] = file
    if _is_parquet(output.name):
        rows = _parquet_rows(file)
    count = sum(1 for _ in _answering(output.name, rows, questions))
    if 0 < count < len(questions) and (output.file is None or _is_parquet(output.name)):
        raise InputError(f"{output.name}: has {count} answers of {len(questions)}; {BEGIN_ANEW}")
    return count


def _parquet_rows(
    file: IO[bytes], is_wanted: Callable[[str], bool] = lambda _name: True
) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file, with the columns that are wanted."""
    import pyarrow.parquet

    table = pyarrow.parquet.ParquetFile(file)
    columns = list(filter(is_wanted, table.schema_arrow.names))
    for batch in table.iter_batches(1_000, columns=columns):
        yield from batch.to_pylist()


def _answering(name: str, rows: Iterable[Any], questions: Sequence[Question]) -> Iterator[Any]:
    """The rows, each of which must be the answer to the question in its place."""
    for number, row in enumerate(rows):
        if number >= len(questions) or not _answers(row, questions[number]):
            raise InputError(
                f"{name}:{number + 1}: not the answer to question {number + 1} of the input; {BEGIN_ANEW}"
            )
        yield row


def _answers(line: Any, question: Question) -> bool:
    if isinstance(line, bytes):
        try:
            line = json.loads(line) if line.endswith(b"\n") else None
        except (ValueError, RecursionError):
            return False
    asked = {"id": question.id, "question": question.text}
    # the last condition: it has the question's id and text
    return isinstance(line, dict) and {"answer", "source"} <= line.keys() and line | asked == line


def _begun(output: Output, questions: Sequence[Question], run: dict[str, str], overwrite: bool) -> int:
    """Number of answers of an interrupted run; a truncated last line is dropped.

    Only a file with a record next to it is from a run, and only such a file is replaced with `--overwrite`.
    """
    size = output.part.stat().st_size
    if not size:
        return 0
    if not output.record.is_file():
        raise InputError(
            f"{output.part}: not from an interrupted run; move it away, or choose another output"
        )
    kept = count = 0
    try:
        _check_run(str(output.part), output.record, run)
        with output.part.open("rb") as lines:
            whole = takewhile(lambda line: line.endswith(b"\n"), lines)
            for line in _answering(str(output.part), whole, questions):
                kept, count = kept + len(line), count + 1
    except InputError:
        if not overwrite:
            raise
        kept = count = 0
    if kept < size:
        os.truncate(output.part, kept)
    return count


def _check_run(name: str, record: Path, run: dict[str, str]) -> None:
    """Raise InputError if answers are from another run; without a record (the file was moved), do nothing."""
    try:
        earlier = json.loads(record.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{record}: damaged ({first_line(error)}); {BEGIN_ANEW}") from None
    if earlier != run:
        changed = [key for key in run if not isinstance(earlier, dict) or earlier.get(key) != run[key]]
        raise InputError(
            f"{name}: has answers from before the {' and the '.join(changed)} changed; {BEGIN_ANEW}"
        )


def _bring(output: Output, overwrite: bool) -> None:
    """Move the answers to the output, in the format given by its name."""
    remedy = "check the address and your access rights; run the same command again to resume"
    with report_damage(f"{output.name}: cannot be written", remedy):
        if output.file is None:
            system, path = _address(output.name)
            with system.open(f"{path}.part", "wb") as out:
                _write(output, out)
            if not overwrite and system.exists(path):
                raise taken(output.name)
            system.mv(f"{path}.part", path)
        elif not _is_parquet(output.name):
            put_in_place(output.part, output.file, overwrite)
            return
        else:
            with replacing(output.file, overwrite) as part, part.open("wb") as out:
                _write(output, out)
    output.part.unlink()


def _write(output: Output, out: IO[bytes]) -> None:
    """Write the answers as JSON lines or Parquet; nested parts stay JSON, since their fields vary between questions."""
    with output.part.open("rb") as lines:
        if not _is_parquet(output.name):
            shutil.copyfileobj(lines, out)
            return
        import pyarrow
        import pyarrow.parquet

        rows = [json.loads(line) for line in lines]
    for row in rows:
        nested = {name: value for name, value in row.items() if isinstance(value, dict | list)}
        row |= {name: json.dumps(value, ensure_ascii=False) for name, value in nested.items()}
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), out)


MAX_LINE_BYTES = 16 << 20
MAX_ID_CHARACTERS = 200
MAX_TOLD = 10
"""Maximum number of malformed rows that are reported individually."""
_TABLES = (".csv", ".tsv", ".txt")
_LINES = (".jsonl", ".ndjson", ".json", "")


@dataclass(frozen=True, slots=True)
class PredictionRun:
    """Settings of a run."""

    graph: str
    model: str
    batch: int
    """Batch size."""
    device: str = "auto"
    language: str = "auto"
    engine: str = "local"
    """Where it runs: "local" (in this process) or "ray" (by `workers` actors of a cluster)."""
    workers: int = 2
    strict: bool = False
    """Stop at the first malformed row, instead of skipping it."""
    no_answer_threshold: float | None = None
    """No-answer threshold; None: that of the model card."""


def read_questions(source: Path | str, strict: bool = True) -> tuple[list[Question], list[str]]:
    """The questions of a local file or a URL, and an error message for each malformed row.

    Rows of JSON lines and Parquet have the field `question`, and may have `id`, `passage` and `choices`; tables (CSV,
    TSV) have a header with these names. Raises InputError, with file and line, if the file cannot be read or, with
    `strict`, a row is malformed.
    """
    name = str(source)
    suffix = check_form(name, (*_LINES, *_TABLES))
    is_table = suffix in _TABLES
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


def _suffix(name: str) -> str:
    return Path(urlsplit(name).path if "://" in name else name).suffix.lower()


def _is_parquet(name: str) -> bool:
    return _suffix(name) == PARQUET


def check_form(name: str, known: Sequence[str]) -> str:
    """The suffix of a file or URL, in lower case. Raises InputError if it is neither one of `known` nor Parquet, or
    Parquet without pyarrow.
    """
    suffix = _suffix(name)
    if suffix == PARQUET:
        if importlib.util.find_spec("pyarrow") is None:
            raise InputError(f"{name}: Parquet needs pyarrow; pip install 'kgqa[cluster]'")
    elif suffix not in known:
        forms = ", ".join(filter(None, (*known, PARQUET)))
        raise InputError(f"{name}: unsupported format; the name must end in one of {forms}")
    return suffix


def _table_rows(name: str) -> Iterator[Question | str]:
    for row in read_table(name, b"".join(_lines(name))):
        yield row.question or f"{name}:{row.number}: {row.error}"


def _json_rows(name: str) -> Iterator[Question | str]:
    number, goes_on = 0, False
    for line in _lines(name):
        part, goes_on = goes_on, len(line) > MAX_LINE_BYTES and not line.endswith(b"\n")
        if part:  # the rest of a line that was too long
            continue
        number += 1
        if len(line) > MAX_LINE_BYTES:
            yield f"{name}:{number}: longer than {MAX_LINE_BYTES:,} bytes; write one question per line"
            continue
        try:
            if question := _question(line, f"{name}:{number}", number):
                yield question
        except InputError as error:
            yield str(error)


def _lines(name: str) -> Iterator[bytes]:
    """Lines of a file, or rows of a Parquet file as lines of JSON.

    A remote file is streamed: if it were copied, a killed run would leave the copy behind.
    """
    if "://" not in name and not Path(name).is_file():
        wrong = "not a regular file" if Path(name).exists() else "no such file"
        raise InputError(f"{name}: {wrong}; give a file with one question per line")
    with report_damage(f"{name}: cannot be read", "check the URL and the format"), _opened(name) as file:
        if not _is_parquet(name):
            yield from iter(lambda: file.readline(MAX_LINE_BYTES + 1), b"")
            return
        for row in _parquet_rows(file, is_asked):
            kept = {name: value for name, value in row.items() if value is not None}
            yield json.dumps(kept, default=_as_text).encode()


def _as_text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _opened(name: str) -> Any:
    """Open a local file, or a URL with fsspec."""
    if "://" not in name:
        return Path(name).open("rb")
    import fsspec

    return fsspec.open(name, "rb")


def _question(line: bytes, where: str, number: int) -> Question | None:
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        if not text:
            return None
        row: Any = json.loads(text)
    except UnicodeDecodeError:
        raise InputError(f"{where}: not UTF-8; convert the file") from None
    except json.JSONDecodeError as error:
        over_lines = number == 1 and text[:1] in ("[", "{") and not text.endswith(("]", "}"))
        remedy = "`jq -c '.[]' FILE` does so with a list" if over_lines else 'as {"question": "..."}'
        raise InputError(f"{where}: not JSON ({error.msg}); write one object per line, {remedy}") from error
    except (ValueError, RecursionError):  # a number with thousands of digits; deep nesting
        raise InputError(f"{where}: a number is too long, or nesting too deep; write it as text") from None
    row = usual_row(row) if isinstance(row, dict) else {}
    if not isinstance(row.get("question"), str):
        raise InputError(f'{where}: no "question"; write {{"id": ..., "question": ...}}')
    passage, choices, name = row.get("passage"), row.get("choices") or (), row.get("id", number)
    if not isinstance(choices, (list, tuple)) or not all(isinstance(c, str) for c in choices):
        raise InputError(f'{where}: "choices" is not a list of strings')
    if passage is not None and not isinstance(passage, str):
        raise InputError(f'{where}: "passage" is not a string')
    if not isinstance(name, (str, int)) or len(str(name)) > MAX_ID_CHARACTERS:
        raise InputError(f'{where}: "id" is not a string or number of at most {MAX_ID_CHARACTERS} characters')
    question = Question(row["question"], choices, passage, str(name))
    try:
        check_question(question)
    except InputError as error:
        raise InputError(f"{where}: question {question.id}: {error}") from None
    return question


def predict_file(source: Path | str, target: Path | str, run: PredictionRun, overwrite: bool = False) -> None:
    """Answer a file of questions. An interrupted run resumes from the answers in `TARGET.part`, or in the
    cache for a URL.

    Next to that file, `.TARGET.run.json` records fingerprints of questions, reader and graph, so that only the same run
    can resume. Both engines write the same output. Raises InputError if a question cannot be read, the output is not
    from this run, or another run is writing it.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    from kgqa.validation import checked_language

    if not is_prompted(run.model):
        find_model(run.model)
    checked_language(run.language)
    check_form(str(target), _LINES)
    place = find_output(str(source), str(target))
    questions, faults = read_questions(source, run.strict)
    if faults and not questions:
        raise InputError(faults[0])
    for fault in faults[:MAX_TOLD]:
        print(f"left out: {printable(fault)}", file=sys.stderr)
    if faults:
        print(f"{source}: {len(faults)} rows left out; --strict stops at the first", file=sys.stderr)
    with unfinished(place, questions, _run_of(questions, run), overwrite) as (out, done):
        if done == len(questions):
            print(f"{target}: already complete, with {done} answers", file=sys.stderr)
            return
        options = {
            "device": run.device,
            "language": run.language,
            "no_answer_threshold": run.no_answer_threshold,
        }
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
    """The answers of each batch as lines of JSON; a causal language model is prompted, without a graph."""
    from kgqa.qa.answerer import Answerer
    from kgqa.qa.render import json_lines

    chunks = [questions[at : at + batch] for at in range(0, len(questions), batch)]
    if is_prompted(model):
        prompter = open_prompter(model, 0, None, "token", options["device"])
        yield from (json_lines(prompter.answer_many(chunk)) for chunk in chunks)
        return
    answerer = Answerer.load(model, graph, **options)
    yield from (json_lines(map(answerer.shown, answerer.answer_many(chunk))) for chunk in chunks)


def _run_of(questions: Sequence[Question], run: PredictionRun) -> dict[str, str]:
    """What the answers depend on: fingerprints and settings."""
    from kgqa.graph.load import graph_fingerprint
    from kgqa.models.reader import model_fingerprint

    prompted = is_prompted(run.model)
    content = "" if prompted else graph_fingerprint(run.graph)
    asked = blake2b(digest_size=16)
    for question in questions:
        parts = [question.id, question.text, question.passage_text, *question.choices]
        asked.update(json.dumps(parts).encode())
    reader = (
        model_fingerprint(Path(run.model), "config.json")
        if prompted
        else model_fingerprint(find_model(run.model))
    )
    found = {"questions": asked.hexdigest(), "reader": reader, "graph": content}
    return {**found, "language": run.language, "threshold for none": str(run.no_answer_threshold)}


def classify_file(
    source: Path, target: Path, folder: Path, batch: int, device: str = "auto", overwrite: bool = False
) -> None:
    """Label the rows of a JSON-lines file with a classifier; its output is added to each row, in the same order. Raises
    InputError if a row cannot be used, the folder contains no classifier, or the output exists already.
    """
    from kgqa.data.datasets.labelled import as_labelled
    from kgqa.data.files import read_json_lines
    from kgqa.models.classifiers import Classifier

    output_file(target, overwrite, source)
    classifier = Classifier(folder, device)
    given = [
        (row, as_labelled(classifier.kind, row, f"{source}:{number}"))
        for number, row in read_json_lines(source)
    ]
    with replacing(target, overwrite) as part, part.open("w", encoding="utf-8") as out:
        for at in range(0, len(given), batch):
            chosen = given[at : at + batch]
            for (row, _), labels in zip(chosen, classifier([read for _, read in chosen]), strict=True):
                kept = {name: value for name, value in row.items() if name not in labels}
                out.write(json.dumps({**kept, **labels}, ensure_ascii=False) + "\n")

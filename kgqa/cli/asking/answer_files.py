"""Where `kgqa predict` writes: unfinished answers lie beside the file, or in the cache, and take its place in the end.

What stands where the user points is never written into. It is kept where its every line is an answer to this input,
replaced where `--overwrite` says so, and else the run is refused before anything is read.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from kgqa.assets import cache_folder, hold, output_file, put_in_place, replacing, taken, write_whole
from kgqa.types import InputError, Question, first_line

PARQUET = ".parquet"
BEGIN_ANEW = "name another output, or begin anew with --overwrite"


@dataclass(frozen=True, slots=True)
class Place:
    """Where answers go, and where they gather meanwhile as JSON lines."""

    name: str
    """As the user wrote it."""
    file: Path | None
    """The file on this machine, links followed; None for an address."""
    part: Path
    """Answers so far; a run that was stopped goes on there."""
    record: Path
    """What the answers are made of: questions, reader, graph."""


def find_place(source: str, target: str) -> Place:
    """The place that a target names.

    Raises:
        InputError: it is the input, also through links, or neither a file nor an address that fsspec knows.
    """
    here = on_this_machine(target)
    if here is not None:
        file = output_file(here, True, on_this_machine(source) or "")
        part, record = file.with_name(f"{file.name}.part"), file.with_name(f".{file.name}.run.json")
        return Place(target, file, part, record)
    if on_this_machine(source) is None and _address(source) == _address(target):
        raise InputError(f"{target}: is the input itself; name another output file")
    key, folder = blake2b(target.encode(), digest_size=12).hexdigest(), cache_folder("predictions")
    folder.mkdir(parents=True, exist_ok=True)
    return Place(target, None, folder / f"{key}.jsonl", folder / f".{key}.jsonl.run.json")


def on_this_machine(name: str) -> Path | None:
    """The path that a name means; None for an address."""
    scheme, separator, path = name.partition("://")
    if not separator:
        return Path(name)
    return Path(path) if scheme in ("file", "local") else None


def _address(name: str) -> tuple[Any, str]:
    """File system and path of an address."""
    try:
        from fsspec.core import url_to_fs

        found: tuple[Any, str] = url_to_fs(name)
    except (OSError, ValueError, TypeError, ImportError) as error:
        raise InputError(f"{name}: no address that is known ({first_line(error)}); check it") from None
    return found


@contextmanager
def unfinished(
    place: Place, questions: Sequence[Question], run: dict[str, str], overwrite: bool
) -> Iterator[tuple[IO[str], int]]:
    """The file to add answers to and how many are there already, all of them where nothing is left to do.

    Once the block ends, and all are there, they are put where they belong.

    Raises:
        InputError: what is there is not this run's, another run writes it now, or it cannot be written.
    """
    with _owned(place) as out:
        finished = 0 if overwrite else _finished(place, questions, run)
        done = _begun(place, questions, run, overwrite)
        if finished == len(questions):
            yield out, finished
            return
        if done < finished:
            assert place.file is not None
            shutil.copyfile(place.file, place.part)
            done = finished
        if not done:
            write_whole(place.record, json.dumps(run) + "\n")
        yield out, done
        out.flush()
        if sys.platform == "win32":  # renames no open file
            out.close()
        _bring(place, overwrite or finished > 0)


@contextmanager
def _owned(place: Place) -> Iterator[IO[str]]:
    """The unfinished file, opened to go on at its end; nobody else writes it meanwhile."""
    held = InputError(f"{place.name}: another run is writing it; wait for it, or name another output")
    if place.part.exists() and not place.part.is_file():
        raise InputError(f"{place.part}: no regular file; {BEGIN_ANEW.partition(',')[0]}")
    try:
        out = place.part.open("a", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{place.name}: cannot be written ({error.strerror}); name another output") from None
    with out:
        try:
            if not hold(out.fileno()) or not os.path.samefile(place.part, out.fileno()):
                raise held
        except ImportError:
            pass  # Windows: nobody can be told from another
        except FileNotFoundError:  # the other run has just ended
            raise held from None
        try:
            yield out
        finally:
            if place.part.exists() and not place.part.stat().st_size:
                place.part.unlink()


def _finished(place: Place, questions: Sequence[Question], run: dict[str, str]) -> int:
    """How many answers stand at the place itself; none where nothing is there."""
    try:
        if place.file is None:
            system, path = _address(place.name)
            if not system.exists(path):
                return 0
            with system.open(path, "rb") as file:
                return _checked(place, file, questions, run)
        if not place.file.exists():
            return 0
        with place.file.open("rb") as file:
            return _checked(place, file, questions, run)
    except InputError:
        raise
    except (OSError, ValueError, TypeError, ImportError, NotImplementedError) as error:
        raise InputError(f"{place.name}: cannot be read ({first_line(error)}); {BEGIN_ANEW}") from None


def _checked(place: Place, file: IO[bytes], questions: Sequence[Question], run: dict[str, str]) -> int:
    _check_run(place.name, place.record, run)
    rows: Iterable[Any] = file
    if place.name.endswith(PARQUET):
        rows = _parquet_rows(file)
    count = 0
    for line in rows:
        if count >= len(questions) or not _answers(line, questions[count]):
            raise InputError(
                f"{place.name}:{count + 1}: not the answer to question {count + 1} of the input; {BEGIN_ANEW}"
            )
        count += 1
    if 0 < count < len(questions) and (place.file is None or place.name.endswith(PARQUET)):
        raise InputError(f"{place.name}: holds {count} answers of {len(questions)}; {BEGIN_ANEW}")
    return count


def _parquet_rows(file: IO[bytes]) -> Iterator[dict[str, Any]]:
    import pyarrow.parquet

    for batch in pyarrow.parquet.ParquetFile(file).iter_batches(1_000):
        yield from batch.to_pylist()


def _answers(line: Any, question: Question) -> bool:
    """Whether a row, or a whole line of JSON, is an answer to a question."""
    if isinstance(line, bytes):
        try:
            line = json.loads(line) if line.endswith(b"\n") else None
        except (ValueError, RecursionError):
            return False
    asked = {"id": question.id, "question": question.text}
    return isinstance(line, dict) and {"answer", "source"} <= line.keys() and line | asked == line


def _begun(place: Place, questions: Sequence[Question], run: dict[str, str], overwrite: bool) -> int:
    """How many answers a stopped run left; a last line that was cut off is dropped.

    Only a file with a record beside it is a run's, and `--overwrite` gives up no other.
    """
    size = place.part.stat().st_size
    if not size:
        return 0
    if not place.record.is_file():
        raise InputError(f"{place.part}: not what a stopped run left; move it away, or name another output")
    kept = count = 0
    try:
        _check_run(str(place.part), place.record, run)
        with place.part.open("rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                if count >= len(questions) or not _answers(line, questions[count]):
                    raise InputError(
                        f"{place.part}:{count + 1}: not the answer to question {count + 1} of the input; {BEGIN_ANEW}"
                    )
                kept, count = kept + len(line), count + 1
    except InputError:
        if not overwrite:
            raise
        kept = count = 0
    if kept < size:
        os.truncate(place.part, kept)
    return count


def _check_run(name: str, record: Path, run: dict[str, str]) -> None:
    """Raise where answers are those of another run; a file that was moved has no record."""
    try:
        earlier = json.loads(record.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{record}: damaged ({first_line(error)}); {BEGIN_ANEW}") from None
    if earlier != run:
        changed = [key for key in run if not isinstance(earlier, dict) or earlier.get(key) != run[key]]
        raise InputError(
            f"{name}: holds answers made before the {' and the '.join(changed)} changed; {BEGIN_ANEW}"
        )


def _bring(place: Place, overwrite: bool) -> None:
    """Put the answers where they are to be, in the form that the name says."""
    try:
        if place.file is None:
            system, path = _address(place.name)
            with system.open(f"{path}.part", "wb") as out:
                _write(place, out)
            if not overwrite and system.exists(path):
                raise taken(place.name)
            system.mv(f"{path}.part", path)
        elif not place.name.endswith(PARQUET):
            put_in_place(place.part, place.file, overwrite)
            return
        else:
            with replacing(place.file, overwrite) as part, part.open("wb") as out:
                _write(place, out)
    except InputError:
        raise
    except (OSError, ValueError, TypeError, ImportError, NotImplementedError) as error:
        raise InputError(
            f"{place.name}: cannot be written ({first_line(error)}); check address and rights; "
            "the same command goes on"
        ) from None
    place.part.unlink()


def _write(place: Place, out: IO[bytes]) -> None:
    """The answers as they lie, or as Parquet; nested parts stay JSON: of other questions they have other fields."""
    with place.part.open("rb") as lines:
        if not place.name.endswith(PARQUET):
            shutil.copyfileobj(lines, out)
            return
        import pyarrow
        import pyarrow.parquet

        rows = [json.loads(line) for line in lines]
    for row in rows:
        nested = {name: value for name, value in row.items() if isinstance(value, dict | list)}
        row |= {name: json.dumps(value, ensure_ascii=False) for name, value in nested.items()}
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), out)

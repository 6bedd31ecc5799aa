"""`kgqa ask`, `kgqa predict` and `kgqa evaluate`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from kgqa.types import Answer, Example, InputError, Passage, Question

_NO_ANSWER = ("(no answer)", "(답 없음)")
_CONFIDENCE = ("confidence", "확신")
_BECAUSE = ("because", "까닭:")
_OR = ("or:", "또는:")


def ask_one(
    question: str,
    passage: str,
    choices: tuple[str, ...],
    graph: str,
    model: str,
    as_json: bool,
    device: str = "auto",
    language: str = "auto",
) -> None:
    """Answer one question and print it."""
    from kgqa.answerer import Answerer, check_question
    from kgqa.explain import answer_json

    asked = Question(question, choices, Passage(_text(passage)) if passage else None)
    check_question(asked)
    answerer = Answerer.load(model, graph, device=device, language=language)
    answer = answerer.shown(answerer.answer(asked))
    if as_json:
        print(json.dumps(answer_json(answer), ensure_ascii=False))
    else:
        _show(answer, answerer.is_korean(asked))


def _text(passage: str) -> str:
    if not passage.startswith("@"):
        return passage
    path = Path(passage[1:])
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: the passage cannot be read ({error}); name a UTF-8 text file") from error


def _show(answer: Answer, korean: bool = False) -> None:
    from rich.console import Console
    from rich.text import Text

    from kgqa.explain import path_sentences, source_words

    console = Console()
    console.print(Text(answer.text or _NO_ANSWER[korean], style="bold"))
    console.print(
        Text(
            f"{source_words(answer, korean)}, {_CONFIDENCE[korean]} {answer.confidence:.0%}",
            style="dim",
        )
    )
    if answer.evidence.paths:
        facts = path_sentences(answer.evidence, answer.evidence.paths[0])
        console.print(Text(f"{_BECAUSE[korean]} {'; '.join(facts)}"))
    others = [f"{c.text} ({c.score:.0%})" for c in answer.runners_up[:3]]
    if others:
        console.print(Text(f"{_OR[korean]} {', '.join(others)}", style="dim"))


def read_questions(path: Path) -> Iterator[Question]:
    """Questions of a JSONL file: `id question passage? choices?` a line.

    Raises:
        InputError: naming file and line.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file; give a JSONL file with one question a line")
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row: Any = json.loads(line)
            except json.JSONDecodeError as error:
                raise InputError(
                    f"{path}:{number}: not JSON ({error.msg}); write one object a line"
                ) from error
            if not isinstance(row, dict) or not isinstance(row.get("question"), str):
                raise InputError(f'{path}:{number}: no "question"; write {{"id": ..., "question": ...}}')
            passage = row.get("passage")
            choices = row.get("choices") or ()
            if not isinstance(choices, (list, tuple)) or not all(isinstance(c, str) for c in choices):
                raise InputError(f'{path}:{number}: "choices" is not a list of strings')
            if passage is not None and not isinstance(passage, str):
                raise InputError(f'{path}:{number}: "passage" is not a string')
            yield Question(
                row["question"],
                tuple(choices),
                Passage(passage) if passage else None,
                id=str(row.get("id", number)),
            )


def predict_file(
    source: Path,
    target: Path,
    graph: str,
    model: str,
    batch: int,
    device: str = "auto",
    language: str = "auto",
) -> None:
    """Answer a file of questions. Lines already in `target` are kept, so a stopped run goes on.

    Raises:
        InputError: a question cannot be answered, or `target` holds answers to others.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from kgqa.answerer import Answerer, check_question
    from kgqa.explain import answer_json

    questions = list(read_questions(source))
    for question in questions:
        try:
            check_question(question)
        except InputError as error:
            raise InputError(f"{source}: question {question.id}: {error}") from error
    done = _finished(target, questions)
    if done == len(questions):
        print(f"{target}: all {done} answers are there", file=sys.stderr)
        return
    answerer = Answerer.load(model, graph, device=device, language=language)
    columns = (TextColumn("answering"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns) as progress, target.open("a", encoding="utf-8") as out:
        bar = progress.add_task("", total=len(questions), completed=done)
        rest = iter(questions[done:])
        while chunk := list(islice(rest, batch)):
            lines = [
                json.dumps(answer_json(answerer.shown(answer)), ensure_ascii=False) + "\n"
                for answer in answerer.answer_many(chunk)
            ]
            out.write("".join(lines))
            out.flush()
            os.fsync(out.fileno())
            progress.advance(bar, len(chunk))


def _finished(target: Path, questions: list[Question]) -> int:
    """How many answers a stopped run left; a last line that was cut off is dropped from the file."""
    if not target.exists():
        return 0
    kept = 0
    count = 0
    with target.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                break
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                row = None
            if not isinstance(row, dict) or count >= len(questions) or row.get("id") != questions[count].id:
                raise InputError(
                    f"{target}:{count + 1}: not the answer to question {count + 1} of the input; "
                    "name another output file"
                )
            kept += len(line)
            count += 1
    if kept < target.stat().st_size:
        with target.open("r+b") as file:
            file.truncate(kept)
    return count


def evaluate_task(
    task: str,
    data: Path | None,
    graph: str,
    model: str,
    limit: int | None,
    as_json: bool,
    deletion: int = 0,
    calibrate: bool = False,
    device: str = "auto",
    language: str = "auto",
) -> None:
    """Score a reader on a data set and print the figures, with a deletion test of some explanations.

    `calibrate` first fits its gate and its confidences to the data set and stores them in its folder.

    Raises:
        InputError: the data set, the reader or the graph cannot be found or used.
    """
    from rich.console import Console
    from rich.table import Table

    from kgqa.answerer import Answerer
    from kgqa.assets import find_model
    from kgqa.deletion import deletion_test
    from kgqa.evaluation.calibration import calibrate as fit
    from kgqa.evaluation.calibration import store_calibration
    from kgqa.evaluation.evaluation import evaluate
    from kgqa.text.datasets.loading import load_dataset

    examples: list[Example] = list(islice(load_dataset(str(data) if data else task), limit))
    if not examples:
        raise InputError(f"{data or task}: no questions found")
    answerer = Answerer.load(model, graph, device=device, language=language)
    if calibrate:
        store_calibration(find_model(model), fit(answerer, examples))
    figures = evaluate(answerer.answer_many, examples)
    if deletion:
        passed = deletion_test(answerer, [example.question for example in examples[:deletion]])
        figures["deletion_tests"] = float(len(passed))
        figures["deletion_passed"] = sum(passed) / max(len(passed), 1)
    if as_json:
        print(
            json.dumps({"task": task, "model": model, "graph": graph, "questions": len(examples), **figures})
        )
        return
    table = Table("figure", "value", title=f"{task}: {len(examples)} questions, {model} over {graph}")
    for name, value in figures.items():
        table.add_row(name, f"{value:.4g}")
    Console().print(table)

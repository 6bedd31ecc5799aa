"""Your own questions: JSON lines with answers, and tables of questions."""

from __future__ import annotations

import ast
import csv
import difflib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from kgqa.data.files import encoding_of, read_json_lines
from kgqa.limits.sandbox import SandboxLimits, run_sandboxed
from kgqa.renamed import current_row
from kgqa.types import Example, InputError, Passage, Question, Source, Span, first_line
from kgqa.validation import check_question


def read_examples(path: Path) -> Iterator[Example]:
    """Questions with answers from JSON lines: `{"id"?, "question", "passage"?, "choices"?}`, with the answer as one of

    - `"choice"`: index (from 0), letter or text of the correct choice;
    - `"yes_no"`: true or false (also yes, no, 1 or 0), or `"answer": "yes"` without a source, for a yes/no question;
    - `"span": [start, end]`: characters of the passage, half-open;
    - `"answer": "..."` or `"answers": ["...", ...]`, any of which is correct: with choices, the text of the correct
      one; else a span if the passage contains it verbatim, else a concept. An empty list means that the question is
      unanswerable.

    `question.schema.json` is the JSON schema of a line; `usual_row` says which other names and shapes are read.

    An optional `"source"` (passage, knowledge, choice, none) resolves ambiguity: for a yes/no answer beside a passage,
    whether it comes from the passage or from knowledge. An optional `"kind"` is kept, and so is `"same"`, the name
    shared by all paraphrases of one question. A line without an id gets its line number.
    """
    for number, row in read_json_lines(path):
        yield example_of(row, f"{path}:{number}", str(number))


ALIASES = {
    "context": "passage",
    "text": "passage",
    "options": "choices",
    "answerkey": "choice",
    "질문": "question",
    "지문": "passage",
    "선택지": "choices",
    "정답": "answer",
}
"""Other names of the fields; case is ignored."""
_LETTERED = re.compile(r"(?:(?:option|choice|answer)[ _]?)?([a-j])")
"""A column with one of the choices, such as `A` or `option_a`."""
_YES_NO = dict.fromkeys(("yes", "y", "true", "1"), True) | dict.fromkeys(("no", "n", "false", "0"), False)


def is_asked(column: str) -> bool:
    """Whether a column belongs to the question, not to its answer or to something else."""
    name = column.strip().casefold()
    return ALIASES.get(name, name) in ("id", "question", "passage", "choices") or bool(
        _LETTERED.fullmatch(name)
    )


def usual_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the usual fields, without empty ones. These are read too:

    - names in capitals, and those of `ALIASES`;
    - choices in columns A, B, C, ..., and as `{"label": [...], "text": [...]}`, as `datasets` of Hugging Face has them;
    - `yes_no` as a word or number, and the answer to a question without choices as true, false, yes or no;
    - a number as an answer: with choices the index of the right one, else its text.
    """
    names = {str(name).strip().casefold(): name for name in reversed(list(row)) if row[name] is not None}
    made = current_row(
        {ALIASES.get(key, key): row[name] for key, name in names.items() if ALIASES.get(key) not in names}
    )
    choices, lettered = made.get("choices"), {m[1]: made[n] for n in made if (m := _LETTERED.fullmatch(n))}
    if isinstance(choices, dict) and isinstance(choices.get("text"), list):
        made["choices"], labels = choices["text"], choices.get("label")
        if isinstance(labels, list) and made.get("choice") in labels:
            made["choice"] = labels.index(made["choice"])
    elif not choices and len(lettered) > 1:
        texts = takewhile(bool, (str(lettered.get(letter, "")).strip() for letter in "abcdefghij"))
        made["choices"] = list(texts)
    choice, answer, label = made.get("choice"), made.get("answer"), made.get("yes_no")
    known = made["choices"] if isinstance(made.get("choices"), list | str) else ()
    if isinstance(choice, str) and choice.isdecimal() and choice not in known:
        made["choice"] = int(choice)
    if type(answer) is int and made.get("choices"):
        made |= {"choice": answer, "answer": None}
    elif isinstance(answer, int | float):
        made["answer"] = str(answer)
    if isinstance(label, str | int):
        made["yes_no"] = _YES_NO.get(str(label).strip().casefold(), label)
    given = made.get("answers", made.get("answer"))
    said = given[0] if isinstance(given, list) and len(given) == 1 else given
    if said == NOBODY_KNOWS:
        made |= {"answer": None, "answers": []}
    elif isinstance(said, str) and label is None and not any(map(made.get, ("choices", "source", "span"))):
        label = _YES_NO.get(said.strip().casefold()) if len(said.strip()) > 1 else None
        if label is not None:
            made |= {"yes_no": label, "answer": None, "answers": None}
    return made


@lru_cache
def _meant(name: str) -> str | None:
    """The field without which a row would be read as another one, if a name is nearly its name."""
    known = ("passage", "context", "choices", "options")
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
    return near[0] if near else None


def question_of(row: Mapping[str, Any], where: str, default_id: str) -> Question:
    """The question of a row."""
    return _question(usual_row(row), where, default_id)


def _question(row: Mapping[str, Any], where: str, default_id: str) -> Question:
    text = row.get("question")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f'{where}: no question; write "question": "..."')
    passage, choices = row.get("passage"), row.get("choices") or []
    for name in row:
        if (meant := _meant(name)) and name != meant and not row.get(ALIASES.get(meant, meant)):
            raise InputError(f"{where}: unknown field {name!r}; did you mean {meant!r}?")
    if passage is not None and not isinstance(passage, str):
        raise InputError(f'{where}: the passage is not text; write "passage": "..." or leave it out')
    if not isinstance(choices, list) or not all(isinstance(c, str) and c.strip() for c in choices):
        raise InputError(f'{where}: the choices are not a list of texts; write "choices": ["...", "..."]')
    identity = str(row.get("id", default_id))
    question = Question(text, tuple(choices), Passage(passage) if passage else None, identity)
    try:
        check_question(question)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return question


def example_of(row: Mapping[str, Any], where: str, default_id: str) -> Example:
    """The question of a row, with its answer."""
    row = usual_row(row)
    example = _example(row, _question(row, where, default_id), where)
    return replace(example, same=str(row["same"])) if row.get("same") else example


def _example(row: Mapping[str, Any], question: Question, where: str) -> Example:
    kind, source = str(row.get("kind", "")), row.get("source")
    if source is not None and source not in list(Source):
        raise InputError(f"{where}: unknown source {source!r}; write one of {', '.join(Source)}")
    if row.get("yes_no") is not None:
        if not isinstance(row["yes_no"], bool) or question.choices:
            raise InputError(f'{where}: "yes_no" is true or false, for a question without choices')
        if row.get("answers", row.get("answer")) is not None:
            raise InputError(f'{where}: "yes_no" and "answers" are both given; leave one out')
        if source in (Source.CHOICE, Source.NONE) or (source == Source.PASSAGE and not question.passage):
            raise InputError(f"{where}: source {source} contradicts yes_no; correct one")
        return Example(question, kind=kind, yes_no_label=row["yes_no"], known=source == Source.KNOWLEDGE)
    if row.get("choice") is not None:
        return Example(question, choice=_choice(question, row["choice"], where), kind=kind)
    if row.get("span") is not None:
        return Example(question, spans=(_span(question, row["span"], where),), kind=kind)
    answers = row.get("answers")
    answers = row.get("answer") if answers is None else answers
    if (placed := _placed(answers)) is not None:
        return Example(question, spans=spans_at(question, placed, where), kind=kind)
    if answers is None and source != Source.NONE:
        raise InputError(f'{where}: no answer; write "answers": ["..."], or [] where nobody can answer')
    answers = [answers] if isinstance(answers, str) else (answers or [])
    if not isinstance(answers, list) or not all(isinstance(a, str) and a.strip() for a in answers):
        raise InputError(f'{where}: the answers are not a list of texts; write "answers": ["...", "..."]')
    if source == Source.NONE or not answers:
        if source not in (None, Source.NONE) or (source and answers):
            raise InputError(f"{where}: source {source} contradicts answers {answers}; correct one")
        return Example(question, kind=kind)
    if question.choices and source in (None, Source.CHOICE):
        return Example(question, choice=_choice(question, answers[0], where), kind=kind)
    spans = () if source == Source.KNOWLEDGE else spans_of(question.passage_text, answers)
    if source == Source.PASSAGE and not spans:
        raise InputError(f"{where}: {answers[0]!r} is not in the passage; copy it verbatim")
    return Example(question, spans=spans, concepts=() if spans else tuple(answers), kind=kind)


def _placed(answers: Any) -> list[tuple[str, int]] | None:
    """Answers with their offsets, as SQuAD has them: a list of objects, or an object of lists (`datasets`). Empty texts
    are no answers."""
    if isinstance(answers, dict):
        columns = [answers.get(name) for name in ("text", "answer_start")]
        pairs = list(zip(*columns, strict=False)) if all(isinstance(c, list) for c in columns) else None
    elif isinstance(answers, list) and answers and all(isinstance(answer, dict) for answer in answers):
        pairs = [(answer.get("text"), answer.get("answer_start")) for answer in answers]
    else:
        return None
    if pairs is None or not all(isinstance(t, str) and isinstance(s, int) for t, s in pairs):
        return None
    return [(text, start) for text, start in pairs if text]


def spans_at(question: Question, placed: Sequence[tuple[str, int]], where: str) -> tuple[Span, ...]:
    """The spans of answers at the given offsets. Raises InputError for an answer that is not there."""
    spans = [Span(start, start + len(text)) for text, start in placed]
    for (text, _), span in zip(placed, spans, strict=True):
        if question.passage_text[span.start : span.end].lower() != text.lower():
            raise InputError(f"{where}: answer {text!r} of question {question.id} is not at its offset")
    return tuple(dict.fromkeys(spans))


def spans_of(passage: str, answers: list[str]) -> tuple[Span, ...]:
    """Every place where one of the answers occurs in the passage as whole words, ignoring case.

    A Korean word may continue after the answer, with particles and endings; kana and Han have no blanks between words.

    >>> spans_of("スプーンで掘った。", ["スプーン"]), spans_of("spoons", ["spoon"])
    ((Span(start=0, end=4),), ())
    """
    folded, found = passage.lower(), []
    # a few letters change length in lower case (İ becomes two): offsets would be wrong
    if len(folded) != len(passage):
        folded = passage
    for answer in answers:
        wanted = answer.lower() if folded is not passage else answer
        start = folded.find(wanted)
        while wanted and start >= 0:
            end = start + len(wanted)
            in_hangul = all("가" <= letter <= "힣" for letter in passage[end - 1 : end + 1])
            before, after = passage[max(0, start - 1) : start + 1], passage[end - 1 : end + 1]
            if not (_is_in_word(before) or (_is_in_word(after) and not in_hangul)):
                found.append(Span(start, end))
            start = folded.find(wanted, start + 1)
    return tuple(dict.fromkeys(found))


def _is_in_word(pair: str) -> bool:
    """Whether two neighbouring characters are of one word of a script with blanks between words."""
    return len(pair) == 2 and pair.isalnum() and not any("\u3040" <= letter <= "\u9fff" for letter in pair)


def _choice(question: Question, given: Any, where: str) -> int:
    choices = question.choices
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < len(choices):
        return given
    if isinstance(given, str):
        if given in choices:
            return choices.index(given)
        if len(given) == 1 and 0 <= ord(given.upper()) - ord("A") < len(choices):
            return ord(given.upper()) - ord("A")
    raise InputError(f"{where}: {given!r} is none of the {len(choices)} choices; give index, letter or text")


def _span(question: Question, given: Any, where: str) -> Span:
    length = len(question.passage_text)
    if isinstance(given, list) and len(given) == 2 and all(type(v) is int for v in given):
        start, end = given
        if 0 <= start < end <= length:
            return Span(start, end)
    raise InputError(
        f"{where}: {given!r} is no span of the passage ({length} characters); write [start, end]"
    )


# Files of questions: tables, JSON lines or Parquet; an invalid row carries its error message.

SEPARATORS = ",;\t|"
NOBODY_KNOWS = "(none)"
"""Marks an unanswerable question in a column of answers."""
TABLES = ("csv", "tsv", "txt", "jsonl", "ndjson", "parquet")
"""Suffixes of the files that are read."""
SANDBOX_LIMITS = SandboxLimits(memory_bytes=2 << 30, time_s=60.0)
"""For reading Parquet."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a file: its cells, and the question in it, or what is wrong with it.

    `golds` are the accepted answers (empty: unanswerable), None if the file gives no answers.
    """

    number: int
    cells: dict[str, str] = field(default_factory=dict)
    question: Question | None = None
    golds: tuple[str, ...] | None = None
    error: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    """The row as `usual_row` has it."""


def read_table(name: str, content: bytes, most: int | None = None) -> list[TableRow]:
    """Rows of a table with a header (any separator), of JSON lines, or of Parquet."""
    if name.lower().endswith(".parquet"):
        content = str(
            run_sandboxed(f"{__name__}:parquet_to_json_lines", name, SANDBOX_LIMITS, content, name=name)
        ).encode()
    text = decoded(name, content)
    is_lines = name.lower().endswith((".jsonl", ".ndjson", ".parquet"))
    rows = []
    for row in _json_rows(text) if is_lines else _csv_rows(name, text):
        rows.append(row)
        if most is not None and len(rows) > most:
            raise InputError(f"{name}: more than {most:,} questions; use `kgqa predict` for so many")
    if not rows:
        raise InputError(f"{name}: no questions in it; write one a line")
    if not any(row.question for row in rows):
        raise InputError(f"{name}:{rows[0].number}: {rows[0].error}")
    return rows


def decoded(name: str, content: bytes) -> str:
    """A text as spreadsheets save it."""
    if encoding := encoding_of(content):
        return content.decode(encoding)
    raise InputError(f"{name}: not UTF-8; save it as UTF-8")


def parquet_to_json_lines(content: bytes, name: str) -> str:
    """The rows of a Parquet file as JSON lines; `name` is for error messages."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            f"{name}: Parquet is read with pyarrow; pip install pyarrow, or save the table as CSV"
        ) from None
    try:
        rows = pyarrow.parquet.read_table(pyarrow.BufferReader(content)).to_pylist()
        kept = [{k: v for k, v in row.items() if v is not None} for row in rows]
        return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in kept)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise InputError(
            f"{name}: no Parquet that can be read ({first_line(error)}); save the table as CSV"
        ) from None


def separator_of(line: str) -> str:
    """The column separator of a table, detected in its first line."""
    return max(SEPARATORS, key=lambda mark: len(next(csv.reader([line], delimiter=mark), [])))


def _csv_rows(name: str, text: str) -> Iterator[TableRow]:
    lines = text.splitlines()
    try:
        separator = separator_of(lines[0]) if lines else ","
        table = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        columns = table.fieldnames or ()
    except csv.Error as error:
        raise InputError(f"{name}:1: not CSV ({error}); check its quotes") from None
    among = ";" if separator == "|" else "|"
    if "question" not in usual_row(dict.fromkeys(columns, "")):
        raise InputError(f"{name}:1: no column `question`; the first line names the columns")
    try:
        for row in table:
            beyond: Sequence[str] = row.pop(None, [])
            cells = {column: value or "" for column, value in row.items()}
            if not any(cells.values()):
                continue
            if beyond:
                wrong = (
                    f"{len(beyond)} cells more than columns; put quotes around a cell with a separator in it"
                )
                yield TableRow(table.line_num, cells, error=wrong)
                continue
            fields = usual_row({column: cell.strip() for column, cell in cells.items() if cell.strip()})
            for key in ("choices", "answer", "answers"):
                if isinstance(fields.get(key), str):
                    fields[key] = list(_parts(fields[key], among))
            yield _row(table.line_num, cells, fields)
    except csv.Error as error:
        raise InputError(f"{name}:{table.line_num}: not CSV ({error}); check its quotes") from None


def _parts(cell: str, separator: str) -> tuple[str, ...]:
    if cell.startswith("["):  # a list as pandas writes it
        try:
            return tuple(map(str, ast.literal_eval(cell)))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            pass
    return tuple(part.strip() for part in cell.split(separator) if part.strip())


def _json_rows(text: str) -> Iterator[TableRow]:
    # not splitlines(): it also splits at characters that JSON allows within a string (U+2028)
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError):
            yield TableRow(number, error="not JSON; write one object a line")
            continue
        fields = usual_row(row) if isinstance(row, dict) else {}
        if not isinstance(fields.get("question"), str):
            yield TableRow(number, error='no "question"; write {"question": "..."}')
            continue
        given = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in row.items()
            if value is not None
        }
        choices = fields.get("choices") or []
        if not isinstance(choices, list) or not all(isinstance(c, str) for c in choices):
            yield TableRow(number, given, error='"choices" is not a list of texts')
            continue
        yield _row(number, given, fields)


def _row(number: int, cells: dict[str, str], fields: dict[str, Any]) -> TableRow:
    """A row with its cells as they are in the file, and its fields by `usual_row`."""
    golds, label = fields.get("answers", fields.get("answer")), fields.get("yes_no")
    if isinstance(label, bool):
        golds = "yes" if label else "no"
    elif (placed := _placed(golds)) is not None:
        golds = [text for text, _ in placed]
    golds = [golds] if isinstance(golds, str) else golds
    known = tuple(map(str, golds)) if isinstance(golds, list) else None
    passage = str(fields.get("passage") or "")
    question = Question(
        fields.get("question", ""),
        tuple(fields.get("choices") or ()),
        Passage(passage) if passage.strip() else None,
        id=str(fields.get("id") or number),
    )
    try:
        check_question(question)
    except InputError as error:
        return TableRow(number, cells, golds=known, error=str(error))
    return TableRow(number, cells, question, known, fields=fields)

"""Your own questions with answers from JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgqa.text.files import rows_of
from kgqa.types import Example, InputError, Passage, Question, Source, Span


def read_examples(path: Path) -> Iterator[Example]:
    """Questions with answers from JSON lines: `{"id"?, "question", "passage"?, "choices"?}`, with the answer as one of

    - `"choice"`: index (from 0), letter or text of the right choice;
    - `"verdict"`: true or false, for a question that is answered with yes or no;
    - `"span": [start, end]`: characters of the passage, half-open;
    - `"answer": "..."` or `"answers": ["...", ...]`, any of them right: with choices, the text of the right
      one; else a stretch of the passage where it stands there verbatim, else a concept. An empty list means
      that the question cannot be answered.

    An optional `"source"` (passage, knowledge, choice, none) settles which of these is meant, and an optional
    `"kind"` is kept. A line without an id gets its number.

    Raises:
        InputError: naming file, line and remedy.
    """
    for number, row in rows_of(path):
        yield _example(row, f"{path}:{number}", str(number))


def question_of(row: dict[str, Any], where: str, default_id: str) -> Question:
    """The question of a line's fields.

    Raises:
        InputError: naming `where` and remedy.
    """
    text = row.get("question")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f'{where}: no question; write "question": "..."')
    passage, choices = row.get("passage"), row.get("choices") or []
    if passage is not None and not isinstance(passage, str):
        raise InputError(f'{where}: the passage is not text; write "passage": "..." or leave it out')
    if not isinstance(choices, list) or not all(isinstance(c, str) and c.strip() for c in choices):
        raise InputError(f'{where}: the choices are not a list of texts; write "choices": ["...", "..."]')
    identity = str(row.get("id", default_id))
    return Question(text, tuple(choices), Passage(passage) if passage else None, identity)


def _example(row: dict[str, Any], where: str, default_id: str) -> Example:
    question = question_of(row, where, default_id)
    kind, source = str(row.get("kind", "")), row.get("source")
    if source is not None and source not in set(Source):
        raise InputError(f"{where}: unknown source {source!r}; write one of {', '.join(Source)}")
    if row.get("verdict") is not None:
        if not isinstance(row["verdict"], bool) or question.choices:
            raise InputError(f'{where}: "verdict" is true or false, for a question without choices')
        return Example(question, kind=kind, verdict=row["verdict"])
    if row.get("choice") is not None:
        return Example(question, choice=_choice(question, row["choice"], where), kind=kind)
    if row.get("span") is not None:
        return Example(question, spans=(_span(question, row["span"], where),), kind=kind)
    answers = row.get("answers", row.get("answer"))
    if answers is None and source != Source.NONE:
        raise InputError(f'{where}: no answer; write "answers": ["..."], or [] where nobody can answer')
    answers = [answers] if isinstance(answers, str) else (answers or [])
    if not isinstance(answers, list) or not all(isinstance(a, str) and a.strip() for a in answers):
        raise InputError(f'{where}: the answers are not a list of texts; write "answers": ["...", "..."]')
    if source == Source.NONE or not answers:
        if source not in (None, Source.NONE) or (source and answers):
            raise InputError(f"{where}: source {source} contradicts answers {answers}; mend one")
        return Example(question, kind=kind)
    if question.choices and source in (None, Source.CHOICE):
        return Example(question, choice=_choice(question, answers[0], where), kind=kind)
    spans = () if source == Source.KNOWLEDGE else spans_of(question.passage_text, answers)
    if source == Source.PASSAGE and not spans:
        raise InputError(f"{where}: {answers[0]!r} does not stand in the passage; copy it verbatim")
    return Example(question, spans=spans, concepts=() if spans else tuple(answers), kind=kind)


def spans_of(passage: str, answers: list[str]) -> tuple[Span, ...]:
    """Every place where one of the answers stands in the passage as whole words, letter case ignored.

    A Korean word may go on after the answer: its particles and endings are written to it.
    """
    folded, found = passage.lower(), []
    if len(folded) != len(passage):  # a few letters change length when lowered: offsets would be wrong
        folded = passage
    for answer in answers:
        wanted = answer.lower() if folded is not passage else answer
        start = folded.find(wanted)
        while wanted and start >= 0:
            end = start + len(wanted)
            in_hangul = all("가" <= letter <= "힣" for letter in passage[end - 1 : end + 1])
            goes_on = passage[end : end + 1].isalnum() and not in_hangul
            if not (passage[start - 1 : start].isalnum() or goes_on):
                found.append(Span(start, end))
            start = folded.find(wanted, start + 1)
    return tuple(dict.fromkeys(found))


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

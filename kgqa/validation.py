"""Input validation, before anything heavy is imported."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from kgqa.types import Answer, ArgumentError, InputError, Passage, Question

MAX_PASSAGE_CHARACTERS = 200_000
MAX_QUESTION_CHARACTERS = 2_000
MAX_CHOICES = 20
WORDINGS = Path(__file__).with_name("language") / "wordings"
"""Wordings of answers, one file per language."""
LANGUAGES = ("auto", *sorted(path.stem for path in WORDINGS.glob("*.toml")))


def checked_language(language: str) -> str:
    """Check the language of questions; raises InputError for an unsupported one."""
    if language not in LANGUAGES:
        raise InputError(f"{language}: unsupported language; choose one of {', '.join(LANGUAGES)}")
    return language


def checked_threshold(threshold: float | None) -> float | None:
    """Check a no-answer threshold (None: that of the reader's card); raises InputError if it is not in 0..1."""
    if threshold is not None and not (isinstance(threshold, int | float) and 0 <= threshold <= 1):
        raise InputError(f"the no-answer threshold is {threshold!r:.40}; give a number from 0 to 1, or None")
    return threshold


def checked_answer(answer: Answer) -> Answer:
    """Check that an object is an `Answer`; raises InputError for anything else, such as its text."""
    if not isinstance(answer, Answer):
        raise ArgumentError(
            f"an Answer is expected, not {type(answer).__name__}; pass the result of `answer`"
        )
    return answer


def asked(
    question: Question | str, passage: Passage | str | None = None, choices: Iterable[str] = ()
) -> Question:
    """A `Question` unchanged, or one made from text, passage and choices."""
    if not isinstance(question, Question):
        return Question(question, choices, passage)
    beside = Question("", choices, passage)
    if beside.passage or beside.choices:
        raise InputError(
            "a Question has its own passage and choices; set them there, or pass the question as text"
        )
    return question


_SENTENCE_END = re.compile(
    r"(?<!\b\w)(?<!\b[MDJS]r)(?<!\bMs)(?<!\bSt)(?<!\bNo)(?<!\bvs)(?<!\bMrs)(?<!\bProf)[.!…][\"'”’)]*\s+"
    r"|[。！][”’」』)]*\s*"
)
"""The end of a sentence, which initials ("J. R.") and abbreviations ("Mr.", "St.", "No.") are not."""
_IS_ASKED = re.compile(
    r"\W*(?:who|whom|whose|what|which|where|when|why|how|is|are|was|were|do|does|did|can|could)\b",
    re.IGNORECASE,
)


def with_stated_passage(question: Question) -> Question:
    """A question that follows what it is about, "It began to rain. What did he open?", with those sentences as its
    passage, whose characters count as in the text given. A question with choices or a passage is unchanged, as is one
    that is no single question after statements.

    >>> with_stated_passage(Question("It began to rain. What did he open?")).passage_text
    'It began to rain.'
    """
    text = question.text.rstrip("\"'”’」』) \n")
    ends = list(_SENTENCE_END.finditer(text)) if text.endswith(("?", "？")) else []
    if question.passage or question.choices or not ends:
        return question
    stated, asked = question.text[: ends[-1].end()].rstrip(), question.text[ends[-1].end() :]
    if _IS_ASKED.match(stated) or re.search(r"[?？]", stated + asked.rstrip("\"'”’」』) \n?？")):
        return question
    return Question(asked, passage=stated, id=question.id)


def check_question(question: Question) -> None:
    """Raise InputError for an invalid question, such as an empty or too long one."""
    if not question.text.strip():
        raise InputError("the question is empty; write what you want to know")
    if len(question.text) > MAX_QUESTION_CHARACTERS:
        raise InputError(f"the question has more than {MAX_QUESTION_CHARACTERS:,} characters; shorten it")
    if len(question.passage_text) > MAX_PASSAGE_CHARACTERS:
        raise InputError(
            f"the passage has {len(question.passage_text):,} characters, "
            f"at most {MAX_PASSAGE_CHARACTERS:,} are read; pass the part that matters"
        )
    if len(question.choices) > MAX_CHOICES:
        raise InputError(f"{len(question.choices)} choices, at most {MAX_CHOICES} are read; leave some out")
    try:
        "".join((question.text, question.passage_text, question.id, *question.choices)).encode()
    except UnicodeEncodeError:
        raise InputError(
            "the text contains half a character (a lone surrogate, \\ud800 to \\udfff); write it as UTF-8"
        ) from None
    if any(not choice.strip() for choice in question.choices):
        raise InputError("a choice is empty; leave it out or write it")

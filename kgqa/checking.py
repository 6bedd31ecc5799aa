"""What may be asked: bad input is refused here, before anything heavy is loaded."""

from __future__ import annotations

from kgqa.types import InputError, Question

MAX_PASSAGE_CHARACTERS = 200_000
MAX_QUESTION_CHARACTERS = 2_000
MAX_CHOICES = 20
LANGUAGES = ("auto", "en", "ko")


def checked_language(language: str) -> str:
    """A language that questions may have; raises InputError for any other."""
    if language not in LANGUAGES:
        raise InputError(f"{language}: no such language; write one of {', '.join(LANGUAGES)}")
    return language


def check_question(question: Question) -> None:
    """Raise InputError for a question that cannot be answered: empty, or far too long."""
    if not question.text.strip():
        raise InputError("the question is empty; write what you want to know")
    if len(question.text) > MAX_QUESTION_CHARACTERS:
        raise InputError(f"the question has more than {MAX_QUESTION_CHARACTERS:,} characters; ask it shorter")
    if len(question.passage_text) > MAX_PASSAGE_CHARACTERS:
        raise InputError(
            f"the passage has {len(question.passage_text):,} characters, "
            f"at most {MAX_PASSAGE_CHARACTERS:,} are read; pass the part that matters"
        )
    if len(question.choices) > MAX_CHOICES:
        raise InputError(f"{len(question.choices)} choices, at most {MAX_CHOICES} are read; leave some out")
    texts = (question.text, question.passage_text, question.id, *question.choices)
    if any(not _is_unicode(text) for text in texts):
        raise InputError(
            "the text holds half a letter (a lone surrogate, \\ud800 to \\udfff); write it as UTF-8"
        )
    if any(not choice.strip() for choice in question.choices):
        raise InputError("a choice is empty; leave it out or write it")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

from kgqa.qa.evidence import sentence_around
from kgqa.types import Span


def test_the_sentence_around_a_span_is_quoted() -> None:
    text = 'It was late. "The driver rang Dr. Bo," he said. Then they left.\nAll slept'
    at = text.index("he said")
    whole = sentence_around(text, Span(at, at + 7))
    assert text[whole.start : whole.end].endswith("he said.")
    at = text.index("late")
    assert sentence_around(text, Span(at, at + 4)) == Span(0, len("It was late."))
    at = text.index("left.\nAll")
    assert text[slice(*sentence_around(text, Span(at, at + 9)))] == "Then they left.\nAll slept"
    assert sentence_around(text, Span(0, len(text))) == Span(0, len(text))

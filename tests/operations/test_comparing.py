import pytest

from kgqa.types import Source


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which is longer, Gull or Tern?", "Gull"),
        ("Which ship is older, Gull or Tern?", "Gull"),
        ("Which was built later, Gull or Tern?", "Tern"),
        ("Is Tern older than Gull?", "no"),
        ("Which is the shortest ship?", "Tern"),
    ],
)
def test_values_are_put_in_order(reader, question: str, expected: str) -> None:
    answer = reader.ask(question)
    assert answer.text == expected and answer.source is Source.KNOWLEDGE


def test_what_cannot_be_compared_stays_unanswered(reader) -> None:
    assert reader.ask("Which is longer, Gull or the East Pier?").text is None

import pytest

from kgqa.types import Source


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many ships does the Island Line own?", "2"),
        ("How many ships are there?", "2"),
        ("How many people does the Island Line employ?", "40"),
    ],
)
def test_things_are_counted_and_stored_numbers_are_told(reader, question: str, expected: str) -> None:
    answer = reader.ask(question)
    assert answer.text == expected and answer.source is Source.KNOWLEDGE


def test_how_many_there_are_in_a_passage_is_no_count_of_facts(reader) -> None:
    answer = reader.ask("How many ships are there?", "Nobody knew how many ships the Island Line had lost.")
    assert answer.text is None and answer.source is not Source.KNOWLEDGE


def test_the_kind_that_is_asked_for_is_counted_alone(reader) -> None:
    answer = reader.ask("How many ships does the Island Line own?")
    tails = {fact.tail.rsplit("/", 1)[1] for fact in answer.evidence.triples(answer.evidence.paths[0])}
    assert tails == {"Gull", "Tern"}

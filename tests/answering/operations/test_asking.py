import pytest

from kgqa.answering.operations.asking import Operation, asked


@pytest.mark.parametrize(
    ("question", "operation"),
    [
        ("How many pupils did Basil have?", Operation.COUNT),
        ("At how many places does the line stop?", Operation.COUNT),
        ("Is a trowel a tool?", Operation.EXISTS),
        ("Doesn't Rui work there?", Operation.EXISTS),
        ("Which film is longer, Up or Down?", Operation.COMPARE),
        ("Which came out first, Up or Down?", Operation.COMPARE),
        ("Is Up longer than Down?", Operation.COMPARE),
        ("Who directed Up?", None),
        ("How much does it cost?", None),
        ("Is it Up or Down?", None),
        ("Isle of whom?", None),
    ],
)
def test_the_grammar_tells_the_operation(question: str, operation: Operation | None) -> None:
    found = asked(question)
    assert (found and found.operation) == operation


@pytest.mark.parametrize(
    ("question", "base", "low"),
    [
        ("Which line is longer, A or B?", "long", False),
        ("Which is the cheapest cake?", "cheap", True),
        ("Who joined earlier, A or B?", "early", True),
        ("Which hall has fewer seats, A or B?", "seats", True),
        ("Which has the better rating, A or B?", "good", False),
    ],
)
def test_a_comparison_knows_its_scale(question: str, base: str, low: bool) -> None:
    found = asked(question)
    assert found and (found.base, found.low) == (base, low)


def test_what_is_counted_stands_before_the_verb() -> None:
    text = "How many snowy owls does the zoo have?"
    found = asked(text)
    assert found and text[slice(*found.noun)] == "snowy owls"
    assert asked("Which has the better rating, A or B?").quality == "rating"

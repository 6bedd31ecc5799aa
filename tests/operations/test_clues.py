import pytest
from ship import said

from kgqa.operations.clues import clues, nested_in
from kgqa.operations.ways import sources_of, ways


def test_a_kind_beside_a_name_says_what_is_asked_for() -> None:
    question = "Which person sails the Gull?"
    asked = said(question, "Gull", "person")
    assert sources_of(asked) == [0]
    found = ways(asked)
    fits = dict(zip([way.ends for way in found], clues(question, asked, found).fits.tolist(), strict=True))
    assert fits[(1,)] == 1 and fits[(4,)] == -1
    assert sources_of(said("Which ship?", "ship")) == [3]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does the captain of the Gull live?", ("captain", "live")),
        ("Who lives in the port the Gull left?", ("port left", "lives")),
        ("Where was the Gull's captain born?", ("captain", "born")),
        ("Who is the captain of the Gull?", ("", "")),
        ("Who built the Gull?", ("", "")),
    ],
)
def test_a_thing_named_by_what_it_is_to_another(question: str, expected: tuple[str, str]) -> None:
    assert nested_in(question, said(question, "Gull"), [0]) == expected

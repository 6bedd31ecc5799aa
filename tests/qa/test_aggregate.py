import pytest

from kgqa.qa.decide import aggregate, parts
from kgqa.qa.state import QAState
from kgqa.types import Candidate, Item, Passage, Question, Source, Span


def test_a_span_that_joins_several_things_is_several_things() -> None:
    text = "Plants need light, water and carbon dioxide."

    def spans(*found: str) -> list[str]:
        candidates = tuple(
            Candidate(one, Source.PASSAGE, 0.5, Span(text.index(one), text.index(one) + len(one)))
            for one in found
        )
        asked = QAState(
            Question("What do plants need?", passage=Passage(text)),
            candidates=candidates,
            best=candidates[0],
            source=Source.PASSAGE,
        )
        (gathered,) = aggregate((asked,))
        assert all(text[item.span.start : item.span.end] == item.text for item in gathered.items)
        return [item.text for item in gathered.items]

    assert spans("light, water and carbon dioxide") == ["light", "water", "carbon dioxide"]
    assert spans("water and carbon dioxide", "light") == []  # the reader has not found either by itself
    assert spans("water and carbon dioxide", "water") == ["water", "carbon dioxide"]


def test_several_things_that_were_computed_stay_together() -> None:
    computed = QAState(Question("what"), source=Source.KNOWLEDGE, items=(Item("a"), Item("b")))
    assert aggregate((computed,)) == (computed,)


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("light, water and carbon dioxide", ["light", "water", "carbon dioxide"]),
        ("bread, cheese, or jam", ["bread", "cheese", "jam"]),
        ("bread and juice", ["bread", "juice"]),
        ("a wooden spoon", []),
        ("Paris, France", []),
        ("1,200", []),
        ("Anna gave a party. Paul, Julia and Karin", []),
        ("the old keeper climbed the steep stairs and lit the lamp", []),
    ],
)
def test_what_commas_and_a_last_and_join_is_several_things(text: str, things: list[str]) -> None:
    assert [text[start:end] for start, end in parts(text)] == things

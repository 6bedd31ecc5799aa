import random

import pytest

from kgqa.text.augment import unanswerable
from kgqa.types import Example, Passage, Question, Source, Span

FIRST = Passage(
    "In 1906 Marie Curie became the first woman to teach in Paris. Anna Lind taught there.", "Curie/0"
)
OTHER = Passage(
    "Later the woman moved. She met Jean Perrin in Brussels, where Jean Perrin taught.", "Curie/1"
)


def example(text: str, passage: Passage = FIRST, answer: str = "Paris") -> Example:
    start = passage.text.index(answer)
    return Example(Question(text, (), passage, "q"), spans=(Span(start, start + len(answer)),))


@pytest.mark.parametrize(
    ("move", "text", "made"),
    [
        ("reversed", "Who was the first woman?", "Who was the last woman?"),
        ("renamed", "Where did Marie Curie teach?", "Where did Jean Perrin teach?"),
        ("negated", "Where did Marie Curie teach?", "Where did Marie Curie not teach?"),
        ("negated", "Who was in Paris?", "Who was not in Paris?"),
        ("negated", "Who teaches there?", "Who never teaches there?"),
        ("negated", "Who was not there?", None),
        ("renamed", "Where did she teach?", None),
        ("renumbered", "Who taught?", None),
        ("moved", "Why?", None),
    ],
)
def test_moves(move: str, text: str, made: str | None) -> None:
    result = unanswerable.MOVES[move](example(text), [FIRST, OTHER], random.Random(0))
    assert (result[0] if result else None) == made


def test_numbers_change() -> None:
    result = unanswerable.renumbered(example("Who taught in 1906?"), [FIRST], random.Random(0))
    assert result and "1906" not in result[0] and result[0].startswith("Who taught in 1")


def test_moved_passage_lacks_the_answer() -> None:
    question = "Where did the first woman teach when she moved?"
    result = unanswerable.moved(example(question), [FIRST, OTHER], random.Random(0))
    assert result == (question, OTHER)
    assert unanswerable.moved(example(question, answer="Anna"), [FIRST], random.Random(0)) is None


def test_made_questions_have_no_answer_and_repeat_by_seed() -> None:
    examples = [example("Where did Marie Curie teach first?") for _ in range(30)]
    first, again = (list(unanswerable.unanswerable(examples, seed=3, share=0.8)) for _ in range(2))
    assert first == again
    assert 15 < len(first) < 30
    assert {e.source for e in first} == {Source.NONE}
    assert all(e.question.id == f"q-{e.kind}" for e in first)
    assert all(e.question.text != "Where did Marie Curie teach first?" or e.kind == "moved" for e in first)

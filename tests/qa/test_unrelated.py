import pytest
import torch

from kgqa.qa.decide import DecisionConfig, decide, disregard
from kgqa.qa.state import ComputedAnswer, HeadScores, QAState, QAStates
from kgqa.types import Candidate, Question, Source, Span

PASSAGE = "Anna read a book."
SPANS = (Candidate("a book", Source.PASSAGE, 0.9, span=Span(10, 16)),)
READ_NO = (-9.0, -9.0, 0.0, 0.0, 1.0)
NONE = (-9.0, -9.0, 5.0, 0.0, 0.0)
KNOWN_YES = (-1e4, -9.0, -9.0, 3.0, 0.0)
UNSURE = (-1e4, -9.0, 2.0, 0.0, 0.0)


def state(text: str, answer_type: tuple[float, ...], **more: object) -> QAState:
    return QAState(
        Question(text, passage=PASSAGE), scores=HeadScores(torch.tensor(answer_type), SPANS), **more
    )  # type: ignore[arg-type]


def alone(answer_type: tuple[float, ...], seen: list[QAState]):  # type: ignore[no-untyped-def]
    def read(states: QAStates) -> QAStates:
        seen.extend(states)
        return tuple(QAState(d.question, scores=HeadScores(torch.tensor(answer_type))) for d in states)

    return read


def output(found: QAState) -> tuple[str, Source, Span | None]:
    (decided,) = decide((found,), DecisionConfig())
    return decided.best.text, decided.source, decided.best.span


def test_a_yes_that_the_passage_has_nothing_to_do_with_is_known_and_rests_on_no_sentence() -> None:
    seen: list[QAState] = []
    beside = state("Is Paris in France?", READ_NO)
    assert output(beside) == ("no", Source.PASSAGE, Span(0, 17))
    (found,) = disregard((beside,), alone(KNOWN_YES, seen), 0.2)
    assert output(found) == ("yes", Source.KNOWLEDGE, None)
    assert found.question.passage_text == PASSAGE and not seen[0].question.passage_text


def test_none_stays_where_both_readings_together_say_so() -> None:
    (found,) = disregard((state("Was it raining?", NONE),), alone(UNSURE, []), 0.2)
    assert output(found)[1] is Source.NONE
    for none in (1.5, -0.2):  # likelier than yes, or than both together alone
        answer_type = (-9.0, -9.0, none, 0.0, -2.0)
        (found,) = disregard((state("Is Paris in France?", answer_type),), alone(KNOWN_YES, []), 0.2)
        assert output(found)[0] == "yes"


@pytest.mark.parametrize(
    ("given", "share"),
    [
        (state("Did Anna read?", READ_NO), 0.2),  # the passage is about it
        (state("Is Paris in France?", READ_NO), 0.0),
        (state("What is that?", (5.0, 0.0, 0.0, 0.0, 0.0)), 0.2),  # a span answers
        (state("Is that so?", READ_NO, computed=ComputedAnswer(SPANS[0])), 0.2),
        (QAState(Question("Is it?"), scores=HeadScores(torch.tensor(KNOWN_YES))), 0.2),
    ],
)
def test_other_questions_are_not_read_again(given: QAState, share: float) -> None:
    seen: list[QAState] = []
    assert disregard((given,), alone(KNOWN_YES, seen), share) == (given,) and not seen

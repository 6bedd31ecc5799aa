from kgqa.answering.decision import Verdicts
from kgqa.answering.inference.verdicts import verified
from kgqa.types import Passage, Question, Subgraph


def odds(question: str, passage: str) -> float:
    asked = Question(question, passage=Passage(passage))
    return verified(asked, Subgraph(), lambda one, other: 0.0).signs.odds(Verdicts())


def test_what_is_said_and_not_denied_is_likelier_true() -> None:
    assert (
        odds("Did the baby sleep?", "The baby slept.")
        > 0
        > odds("Did the baby sleep?", "The baby did not sleep.")
    )
    assert odds("Did the cat chase the dog?", "The dog chased the cat.") < 0


def test_the_sentence_of_a_long_passage_stands_where_it_was() -> None:
    text = "The weather was fine all day. " * 30 + "I want to plant flowers so I dug the ground."
    question = Question("Did I dig the ground?", passage=Passage(text))
    found = verified(question, Subgraph(), lambda one, other: 0.0)
    assert text[slice(*found.sentence)].startswith("I want to plant flowers")

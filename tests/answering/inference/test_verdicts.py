from kgqa.answering.inference.matching import matched
from kgqa.answering.inference.verdicts import Signs, open_questions, probability, verdict
from kgqa.types import Passage, Question, Subgraph


def opened(question: str, passage: str) -> list[str]:
    return [text for _, text in open_questions(question, matched(question, passage, Subgraph()))]


def test_a_question_without_each_of_the_words_that_the_passage_says() -> None:
    assert opened("Did Tom eat the bread?", "Tom ate the soup and left the bread.") == [
        "Who did eat the bread?",
        "What did Tom the bread?",
        "What did Tom eat?",
    ]
    assert opened("Was it raining?", "Tom ate the soup.") == []


def test_what_is_said_and_not_denied_is_likelier_true() -> None:
    said = Signs(0, 0, 0, 0, 0, 3.0)
    assert probability(said) > 0.7 > 0.5 > probability(said._replace(contrary=1, denied=1, found=-3.0))


def test_the_sentence_of_a_shortened_passage_stands_where_it_was() -> None:
    short = Question("Did I dig the ground?", passage=Passage("I want to plant flowers so I dug the ground."))
    long = Question(short.text, passage=Passage("The weather was fine all day. " * 30 + short.passage_text))
    match = matched(short.text, short.passage_text, Subgraph())
    found = verdict(match, long, short, [], lambda one, other: 0.0)
    assert long.passage_text[slice(*found.sentence)].startswith("I want to plant flowers")

from __future__ import annotations

import numpy as np

from kgqa.answering.inference.matching import Match, coverage, matched, number_of
from kgqa.types import Link, NodeRole, Relation, Subgraph


def match(question: str, passage: str, graph: Subgraph | None = None) -> Match:
    return matched(question, passage, graph or Subgraph())


def nothing_alike(one: str, other: str) -> float:
    return 0.0


def test_a_passage_that_says_it_and_one_that_denies_it() -> None:
    assert match("Did the baby sleep?", "The baby slept, but the twins did not.").signs() == (False, False)
    assert match("Did the twins sleep?", "The baby slept, but the twins did not.").signs() == (True, True)


def test_two_denials_make_an_assertion() -> None:
    contrary, _ = match("Did he not pay?", "He did not pay.").signs()
    assert not contrary


def test_who_did_what_to_whom() -> None:
    assert match("Did the cat chase the dog?", "The dog chased the cat.").swapped()
    assert not match("Did the dog chase the cat?", "The dog chased the cat.").swapped()
    assert not match("Was the cat chased by the dog?", "The dog chased the cat.").swapped()
    assert match("Did Ada teach Ben to drive?", "Ben taught Ada to drive.").swapped()
    assert match("Is the dog bigger than the cat?", "The cat is bigger than the dog.").swapped()
    assert not match("Is the cat bigger than the dog?", "The cat is bigger than the dog.").swapped()


def test_asked_of_all_where_the_passage_speaks_of_some() -> None:
    assert match("Did all the guests leave?", "Most of the guests left.").asks_for_all()
    assert not match("Did all the guests leave?", "All the guests left.").asks_for_all()


def test_another_number_is_a_rival_and_the_same_in_words_is_none() -> None:
    passage = "Maya is nine."
    assert match("Is Maya twelve?", passage).rivalry(nothing_alike) == 1
    assert match("Is Maya 9?", passage).rivalry(nothing_alike) == 0
    assert number_of("twelve") == "12" and number_of("ninth") is None


def test_a_fact_of_the_graph_makes_a_word_the_contrary_of_another() -> None:
    graph = Subgraph(
        nodes=("awake", "asleep"),
        labels=("awake", "asleep"),
        edges=np.array([[0, 0, 1]], dtype=np.int32),
        relations=(Relation("https://kgqa.org/relation/Antonym", "opposite of"),),
        links=(Link(NodeRole.QUESTION, 13, 18, 0), Link(NodeRole.PASSAGE, 13, 19, 1)),
    )
    assert match("Was the lion awake?", "The lion was asleep.").signs() == (False, False)
    assert match("Was the lion awake?", "The lion was asleep.", graph).signs() == (True, False)


def test_the_sentence_that_says_most_of_it() -> None:
    passage = "It rained. My sister had two scoops. I only drank water."
    span = match("Did my sister have two scoops?", passage).span
    assert passage[slice(*span)] == "My sister had two scoops"


def test_the_share_of_a_question_that_a_text_says() -> None:
    assert coverage("What did Anna lend Ben?", "Anna lent Ben a tent.") == 1
    assert coverage("What did Anna lend Carla?", "Anna lent Ben a tent.") == 2 / 3
    assert coverage("Who?", "Anna lent Ben a tent.") == 0

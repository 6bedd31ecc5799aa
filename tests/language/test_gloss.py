from __future__ import annotations

import pytest
import torch

from kgqa.graph.storage.store import GraphStore
from kgqa.language.head_final import Mentioned, in_english_order
from kgqa.language.wording import english_words
from kgqa.models.heads import FIRST_YES_NO_CLASS
from kgqa.qa.gloss import gloss
from kgqa.qa.state import HeadScores, QAState
from kgqa.types import Question, Triple

pytest.importorskip("kiwipiepy")


def said(text: str, asking: bool = False, **labels: str) -> str:
    """The gloss of a text in which the words `labels` are mentioned."""
    places = [(text.index(word), word, label) for word, label in labels.items()]
    mentions = [Mentioned(at, at + len(word), label) for at, word, label in sorted(places)]
    return " ".join(word.text for word in in_english_order(text, mentions, english_words("ko"), asking))


@pytest.mark.parametrize(
    ("text", "labels", "english"),
    [
        ("땅을 무엇으로 팠니?", {"땅을": "ground", "팠니": "dig"}, "with what dig ground ?"),
        ("누가 창문을 깼을까?", {"창문을": "window", "깼을까": "break"}, "who break window ?"),
        ("아이는 어디에 있을까요?", {"아이는": "child"}, "where is child ?"),
        ("기분이 어땠을까?", {"기분이": "mood"}, "how is mood ?"),
        ("손을 왜 씻었니?", {"손을": "hand", "씻었니": "wash"}, "why wash hand ?"),
        ("아이의 이름은 무엇입니까?", {"아이의": "child", "이름은": "name"}, "what is child 's name ?"),
        (
            "형은 서랍에서 무엇을 찾으려고 했니?",
            {"서랍에서": "drawer"},
            "what did hyeong look for in drawer ?",
        ),
    ],
)
def test_a_question_begins_with_its_question_word(text: str, labels: dict[str, str], english: str) -> None:
    assert said(text, asking=True, **labels) == english


@pytest.mark.parametrize(
    ("text", "labels", "english"),
    [
        (
            "집을 지으려고 땅을 팠다.",
            {"집을 지으려고": "build a house", "팠다": "dig"},
            "to build a house dig ttang .",
        ),
        ("비가 오면 우산을 쓴다.", {"비가": "rain", "우산을": "umbrella"}, "if rain come use umbrella ."),
        ("뜨거운 국을 먹지 않았다.", {"국을": "soup", "먹지": "eat"}, "not eat hot soup ."),
        ("밥을 먹기 전에 손을 씻었다.", {"손을": "hand", "씻었다": "wash"}, "before eat rice wash hand ."),
    ],
)
def test_verbs_come_before_their_objects(text: str, labels: dict[str, str], english: str) -> None:
    assert said(text, **labels) == english


def test_words_keep_their_place_and_an_unknown_one_its_sound() -> None:
    words = in_english_order("민지가 땅을 팠다.", [Mentioned(4, 6, "ground")], {}, asking=False)
    assert words == [("Minji", 0, 2), ("pa", 7, 8), ("ground", 4, 6), (".", 0, 0)]


@pytest.mark.parametrize(("question", "is_open"), [("땅을 무엇으로 팠니?", True), ("땅을 팠니?", False)])
def test_yes_and_no_answer_no_open_question(question: str, is_open: bool) -> None:
    graph = GraphStore.from_triples([Triple("a", "r", "b")], name="g")
    state = QAState(Question(question), scores=HeadScores(answer_type=torch.zeros(5)))
    (read,) = gloss((state,), reading=lambda states: states, graph=graph, language=lambda _: "ko", share=0.0)
    assert (read.scores.answer_type[FIRST_YES_NO_CLASS:] < 0).all().item() is is_open

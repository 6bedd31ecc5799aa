from __future__ import annotations

import pytest

from kgqa.graph.retrieval.question_types import asked, vague_relations
from kgqa.types import Relation

RELATIONS = [
    Relation("ex:atLocation", "at location", "is found at"),
    Relation("ex:causes", "causes", "causes"),
    Relation("ex:hasInstrument", "has instrument", "is done with"),
    Relation("ex:usedFor", "used for", "is used for"),
    Relation("ex:hasAgent", "has agent", "is done by"),
    Relation("ex:hasEmotion", "has emotion", "makes one feel"),
    Relation("ex:relatedTo", "related to", ""),
]
HEAD, TAIL = 0, 1


@pytest.mark.parametrize(
    ("question", "relation", "end"),
    [
        ("Where do you find a trowel?", "ex:atLocation", TAIL),
        ("In which room is this happening?", "ex:atLocation", TAIL),
        ("Why did she cry?", "ex:causes", HEAD),
        ("What will happen next?", "ex:causes", TAIL),
        ("What did I dig with?", "ex:hasInstrument", TAIL),
        ("Which tool was it?", "ex:usedFor", HEAD),
        ("What was the straw for?", "ex:usedFor", TAIL),
        ("What does she need for it?", "ex:usedFor", HEAD),
        ("Who was sent for?", "ex:hasAgent", TAIL),
        ("How did Rosa feel?", "ex:hasEmotion", TAIL),
        ("어디에 있나?", "ex:atLocation", TAIL),
        ("무엇으로 팠나?", "ex:hasInstrument", TAIL),
    ],
)
def test_questions_ask_for_an_end_of_a_relation(question, relation, end):
    wanted = asked(question, RELATIONS)
    row = [r.name for r in RELATIONS].index(relation)
    assert wanted.leads[row, end] and not wanted.leads[row, 1 - end]
    assert not wanted.leads[-1].any()
    assert (wanted.fills | ~wanted.leads).all(), "what leads to an answer, an answer of that kind fills"


def test_a_question_without_cues_asks_for_nothing():
    assert not asked("", RELATIONS).leads.any() and not asked("A trowel?", RELATIONS).fills.any()
    assert asked("Where?", []).leads.shape == (0, 2)


def test_vague_relations_say_that_words_belong_together():
    assert vague_relations(RELATIONS).tolist() == [False] * 6 + [True]

from __future__ import annotations

import pytest

from kgqa.graph.cues import asked_relations, vague_relations
from kgqa.types import Relation

RELATIONS = [
    Relation("ex:atLocation", "at location", "is found at"),
    Relation("ex:causes", "causes", "causes"),
    Relation("ex:hasInstrument", "has instrument", "is done with"),
    Relation("ex:usedFor", "used for", "is used for"),
    Relation("ex:relatedTo", "related to", ""),
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where do you find a trowel?", "ex:atLocation"),
        ("Why did she cry?", "ex:causes"),
        ("What did I dig with?", "ex:hasInstrument"),
        ("Which tool was it?", "ex:usedFor"),
        ("어디에 있나?", "ex:atLocation"),
        ("무엇으로 팠나?", "ex:hasInstrument"),
    ],
)
def test_questions_ask_for_relations(question, expected):
    asked = asked_relations(question, RELATIONS)
    assert expected in {r.name for r, wanted in zip(RELATIONS, asked, strict=True) if wanted}
    assert not asked[4]


def test_a_question_without_cues_asks_for_nothing():
    assert not asked_relations("", RELATIONS).any()
    assert len(asked_relations("Where?", [])) == 0


def test_vague_relations_say_that_words_belong_together():
    assert vague_relations(RELATIONS).tolist() == [False, False, False, False, True]

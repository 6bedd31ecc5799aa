from dataclasses import replace

import numpy as np

from kgqa.evaluation.retrieval_baseline import RetrievalAlone, closeness
from kgqa.types import NodeRole, Question, Source, Subgraph


def test_open_questions_are_answered_by_relevance(digging: Subgraph) -> None:
    reader = object.__new__(RetrievalAlone)
    answer = reader.read([Question("what did i dig with")], [[digging]])[0]
    assert [c.text for c in answer.candidates] == ["trowel", "excavator", "dig foundation"]
    assert reader.read([Question("what")], [[Subgraph()]])[0].source is Source.NONE


def test_the_choice_with_closer_ties_is_taken(digging: Subgraph) -> None:
    trowel = replace(digging, roles=np.array([1, 1, int(NodeRole.CHOICE), 3, 3], dtype=np.int32))
    excavator = replace(digging, roles=np.array([1, 1, 3, int(NodeRole.CHOICE), 3], dtype=np.int32))
    assert closeness(trowel) == 2.0  # one direct fact of weight 2
    assert 0 < closeness(excavator) < 2.0 and closeness(Subgraph()) == 0.0  # over the foundation
    reader = object.__new__(RetrievalAlone)
    question = Question("what", ("an excavator", "a trowel"))
    assert reader.read([question], [[excavator, trowel]])[0].text == "a trowel"

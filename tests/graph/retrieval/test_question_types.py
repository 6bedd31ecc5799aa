from __future__ import annotations

import numpy as np
import pytest

from kgqa.graph.linking.linker import Linker
from kgqa.graph.retrieval.ranking import asked_ends, asked_in_english, type_likelihood, vague_relations
from kgqa.graph.retrieval.subgraph import retrieve
from kgqa.graph.storage.store import GraphStore
from kgqa.graph.storage.writer import write_store
from kgqa.types import Label, Question, Relation, Triple

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
        (asked_in_english("어디에 있나?", "ko"), "ex:atLocation", TAIL),
        (asked_in_english("무엇으로 팠나?", "ko"), "ex:hasInstrument", TAIL),
        (asked_in_english("Womit gräbt sie den Garten um?", "de"), "ex:usedFor", HEAD),
        (asked_in_english("¿Dónde está la pala?", "es"), "ex:atLocation", TAIL),
        (asked_in_english("Que ressent-elle ?", "fr"), "ex:hasEmotion", TAIL),
        (asked_in_english("なぜ泣いた？", "ja"), "ex:causes", HEAD),
    ],
)
def test_questions_ask_for_an_end_of_a_relation(question, relation, end):
    wanted = asked_ends(question, RELATIONS)
    row = [r.name for r in RELATIONS].index(relation)
    assert wanted.leads[row, end] and not wanted.leads[row, 1 - end]
    assert not wanted.leads[-1].any()
    assert (wanted.fills | ~wanted.leads).all(), "what leads to an answer, an answer of that kind fills"


def test_a_question_without_cues_asks_for_nothing():
    assert not asked_ends("", RELATIONS).leads.any() and not asked_ends("A trowel?", RELATIONS).fills.any()
    assert asked_ends("Where?", []).leads.shape == (0, 2)


def test_vague_relations_say_that_words_belong_together():
    assert vague_relations(RELATIONS).tolist() == [False] * 6 + [True]


KINDS = ("clothing", "feeling", "person", "place", "tool")


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What did she dig with?", "tool"),
        ("Where was he?", "place"),
        ("Who did it?", "person"),
        ("How did they feel?", "feeling"),
        ("What did he put on his head? What did he wear?", "clothing"),
        (asked_in_english("그는 어디에 있었을까?", "ko"), "place"),
        (asked_in_english("누가 도왔을까?", "ko"), "person"),
    ],
)
def test_the_words_of_a_question_tell_the_kind_of_its_answer(question: str, kind: str) -> None:
    found = type_likelihood(question, KINDS, np.arange(5, dtype=np.int32))
    assert KINDS[int(found.argmax())] == kind
    assert found.max() > 0 > found.min()


def test_unknown_words_and_unknown_kinds_tell_nothing() -> None:
    assert not type_likelihood("xyzzy", KINDS, np.arange(5, dtype=np.int32)).any()
    found = type_likelihood("Where was he?", KINDS, np.array([3, -1, 2], dtype=np.int32))
    assert found[1] == 0 and found[0] > 0 > found[2]
    assert type_likelihood("Where was he?", KINDS, np.zeros(0, dtype=np.int32)).shape == (0,)


def test_what_is_of_the_kind_asked_for_is_retrieved_first(tmp_path) -> None:  # type: ignore[no-untyped-def]
    facts = [Triple("bread", "goes with", thing) for thing in ("cook", "oven", "kitchen", "joy")]
    facts += [Triple("bread", "goes with", f"thing {number}") for number in range(20)]
    names = sorted({end for fact in facts for end in (fact.head, fact.tail)})
    kinds = {"cook": "person", "oven": "tool", "kitchen": "place", "joy": "feeling"}
    store = tmp_path / "store"
    write_store([*facts, *(Label(name, name) for name in names)], store, entity_types=kinds)
    graph = GraphStore.open(store)
    assert graph.type_names == ("feeling", "person", "place", "tool")
    reported = graph.types_of(graph.ids(["kitchen", "thing 3"]))
    assert reported.tolist() == [2, -1]
    linker = Linker(graph)
    for question, first in (("Where is the bread?", "kitchen"), ("Who has the bread?", "cook")):
        (subgraph,) = retrieve(Question(question), graph, linker, max_nodes=4)
        assert first in subgraph.labels

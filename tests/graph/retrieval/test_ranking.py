from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kgqa.graph.linking.linker import Linker
from kgqa.graph.retrieval.expansion import expand, locate
from kgqa.graph.retrieval.ranking import (
    asked_ends,
    asked_in_english,
    connection_features,
    filling,
    ranker,
    score_bridges,
    score_context,
    type_likelihood,
    vague_relations,
    weights_for,
)
from kgqa.graph.retrieval.subgraph import retrieve_subgraphs
from kgqa.graph.storage.store import GraphStore
from kgqa.graph.storage.writer import write_store
from kgqa.types import Label, Question, Relation, Triple

EDITED, TYPED, GATHERED = map(ranker, ("edited", "typed", "gathered"))


def reached(toy, context: str, choice: str):
    ids = np.array(sorted({toy.id(context), toy.id(choice)}), dtype=np.int32)
    mass = np.zeros((2, 2))
    mass[np.searchsorted(ids, toy.id(context)), 0] = 1.0
    mass[np.searchsorted(ids, toy.id(choice)), 1] = 1.0
    return expand(toy, ids, mass)


def test_the_bridge_stands_between_both_sides(toy):
    walked = reached(toy, "build a house", "excavator")
    score = score_bridges(walked, 0)
    labels = toy.labels(walked.ids)
    inner = [
        label
        for label in (labels[i] for i in np.argsort(-score))
        if label not in {"build a house", "excavator"}
    ]
    assert inner[0] == "dig the foundation"


def asking(toy, text: str):
    return asked_ends(text, toy.relations), vague_relations(toy.relations)


def test_scores_are_bounded(toy):
    walked = reached(toy, "build a house", "excavator")
    mass = np.array([1.0, 0.0])
    for score in (score_context(walked, mass, *asking(toy, "Where?"), EDITED), score_bridges(walked, 0)):
        assert score.min() >= 0 and score.max() == 1


def test_the_question_word_turns_the_ranking(toy):
    ids = np.array([toy.id("plant flowers")], dtype=np.int32)
    walked = expand(toy, ids, np.ones((1, 1)))
    labels = toy.labels(walked.ids)

    def place(text: str, label: str) -> int:
        score = score_context(walked, np.ones(1), *asking(toy, text), EDITED)
        return [labels[i] for i in np.argsort(-score)].index(label)

    assert place("Where?", "garden") < place("With which tool?", "garden")
    assert place("With which tool?", "trowel") < place("Where?", "trowel")


def test_what_fills_the_asked_end_of_many_facts_is_of_the_asked_kind(toy):
    trowel, flowers = toy.id("trowel"), toy.id("plant flowers")
    ids = np.array([trowel, flowers], dtype=np.int32)
    facts = toy.neighbours(ids)
    own = facts._replace(head=locate(facts.head, ids), tail=locate(facts.tail, ids))
    tool, event = filling(own, 2, asked_ends("Which tool?", toy.relations), EDITED)
    assert tool > event
    assert not filling(own, 2, asked_ends("", toy.relations), EDITED).any()


def test_relations_met_later_do_not_count(toy):
    wanted = asked_ends("Which tool?", toy.relations[:1])
    facts = toy.neighbours(np.array([toy.id("trowel")], dtype=np.int32))
    assert filling(facts, 1000, wanted, EDITED).shape == (1000,)


def test_the_concepts_own_facts_settle_their_kind(toy):
    walked = reached(toy, "build a house", "excavator")
    ids: list[int] = []

    def paths_text(wanted):
        ids.extend(wanted.tolist())
        return toy.neighbours(wanted)

    score = score_context(
        walked, np.array([1.0, 0.0]), *asking(toy, "With which tool?"), EDITED, paths_text, 2
    )
    assert len(ids) == 2 and ids == sorted(ids) and score.max() == 1


def test_every_feature_has_a_finite_value_for_every_concept(toy):
    walked = reached(toy, "build a house", "excavator")
    for value in connection_features(walked, np.array([1.0, 0.0]), *asking(toy, "Why?")).values():
        assert value.shape == walked.ids.shape and np.all(np.isfinite(value))


def test_nothing_reached_scores_nothing(toy):
    walked = expand(toy, np.zeros(0, dtype=np.int32), np.zeros((0, 2)))
    assert len(score_context(walked, np.zeros(0), *asking(toy, "Why?"), EDITED)) == 0
    assert len(score_bridges(walked, 0)) == 0


def test_weights_go_by_the_size_of_a_graph(toy):
    assert weights_for(toy) is EDITED
    assert weights_for(SimpleNamespace(entity_count=300_000, type_names=())) is GATHERED
    # an endpoint tells no size
    assert weights_for(SimpleNamespace(entity_count=None, type_names=())) is EDITED
    assert weights_for(SimpleNamespace(entity_count=300, type_names=("tool",))) is TYPED
    assert GATHERED.keys() == EDITED.keys() == TYPED.keys() - {"kind"}


def test_other_weights_rank_otherwise(toy):
    walked = reached(toy, "build a house", "excavator")
    asking_for = asking(toy, "With which tool?")
    edited = score_context(walked, np.array([1.0, 0.0]), *asking_for, EDITED)
    gathered = score_context(walked, np.array([1.0, 0.0]), *asking_for, GATHERED)
    assert gathered.max() == 1 and not np.allclose(edited, gathered)


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
        (subgraph,) = retrieve_subgraphs(Question(question), graph, linker, max_nodes=4)
        assert first in subgraph.labels

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from kgqa.graph.retrieval.expansion import ExpansionSettings, expand, locate
from kgqa.graph.retrieval.ranking import (
    asked_ends,
    features,
    filling,
    ranker,
    score_bridges,
    score_context,
    vague_relations,
    weights_for,
)

EDITED, TYPED, GATHERED = map(ranker, ("edited", "typed", "gathered"))


def reached(toy, context: str, choice: str):
    ids = np.array(sorted({toy.id(context), toy.id(choice)}), dtype=np.int32)
    mass = np.zeros((2, 2))
    mass[np.searchsorted(ids, toy.id(context)), 0] = 1.0
    mass[np.searchsorted(ids, toy.id(choice)), 1] = 1.0
    return expand(toy, ids, mass, ExpansionSettings())


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
    walked = expand(toy, ids, np.ones((1, 1)), ExpansionSettings())
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
    for value in features(walked, np.array([1.0, 0.0]), *asking(toy, "Why?")).values():
        assert value.shape == walked.ids.shape and np.all(np.isfinite(value))


def test_nothing_reached_scores_nothing(toy):
    walked = expand(toy, np.zeros(0, dtype=np.int32), np.zeros((0, 2)), ExpansionSettings())
    assert len(score_context(walked, np.zeros(0), *asking(toy, "Why?"), EDITED)) == 0
    assert len(score_bridges(walked, 0)) == 0


def test_weights_go_by_the_size_of_a_graph(toy):
    assert weights_for(toy) is EDITED
    assert weights_for(SimpleNamespace(entity_count=300_000, type_names=())) is GATHERED
    assert (
        weights_for(SimpleNamespace(entity_count=None, type_names=())) is EDITED
    )  # an endpoint tells no size
    assert weights_for(SimpleNamespace(entity_count=300, type_names=("tool",))) is TYPED
    assert GATHERED.keys() == EDITED.keys() == TYPED.keys() - {"kind"}


def test_other_weights_rank_otherwise(toy):
    walked = reached(toy, "build a house", "excavator")
    asking_for = asking(toy, "With which tool?")
    edited = score_context(walked, np.array([1.0, 0.0]), *asking_for, EDITED)
    gathered = score_context(walked, np.array([1.0, 0.0]), *asking_for, GATHERED)
    assert gathered.max() == 1 and not np.allclose(edited, gathered)

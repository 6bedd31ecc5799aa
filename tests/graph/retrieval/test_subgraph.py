from __future__ import annotations

import numpy as np
import pytest

from kgqa.graph.linking.linker import Linker
from kgqa.graph.retrieval.subgraph import retrieve_subgraphs, word_overlap
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError, Label, NodeRole, Passage, Question, Relation, Triple

FLOWERS = Passage("I want to plant flowers, so I dug the ground.")
HOUSE = Passage("I want to build a house, so I dug the ground.")
ASK = "What did I dig with?"


def one(toy, question: Question, **options):
    (subgraph,) = retrieve_subgraphs(question, toy, Linker(toy), **options)
    return subgraph


def others(subgraph) -> list[str]:
    return [x for x, r in zip(subgraph.labels, subgraph.roles, strict=True) if r == NodeRole.OTHER]


def test_the_context_decides_which_tool_is_near(toy):
    house = others(one(toy, Question(ASK, passage=HOUSE)))
    flowers = others(one(toy, Question(ASK, passage=FLOWERS)))
    assert house.index("excavator") < 6 and flowers.index("trowel") < 6
    assert "trowel" not in house or house.index("excavator") < house.index("trowel")
    assert "excavator" not in flowers or flowers.index("trowel") < flowers.index("excavator")


def test_nodes_are_ranked_by_part_then_score(toy):
    subgraph = one(toy, Question(ASK, ("a trowel",), FLOWERS))
    assert np.all(np.diff(subgraph.roles) >= 0)
    others_ = subgraph.scores[subgraph.roles == NodeRole.OTHER]
    assert np.all(np.diff(others_) <= 0)
    assert np.all((subgraph.scores >= 0) & (subgraph.scores <= 1))
    assert len(set(subgraph.nodes)) == len(subgraph.nodes) == len(subgraph.labels)


def test_links_align_text_and_nodes(toy):
    question = Question("What did the person dig with?", ("an excavator",), HOUSE)
    (subgraph,) = retrieve_subgraphs(question, toy, Linker(toy))
    texts = {
        NodeRole.QUESTION: question.text,
        NodeRole.PASSAGE: HOUSE.text,
        NodeRole.CHOICE: question.choices[0],
    }
    output = {
        (link.part, texts[link.part][link.start : link.end], subgraph.labels[link.node])
        for link in subgraph.links
    }
    assert (NodeRole.CHOICE, "excavator", "excavator") in output
    assert (NodeRole.PASSAGE, "build a house", "build a house") in output
    assert (NodeRole.QUESTION, "person", "person") in output


def test_a_concept_of_two_parts_takes_the_strongest_role_and_keeps_its_links(toy):
    (subgraph,) = retrieve_subgraphs(Question("Who digs?", ("dig",), Passage("I dug.")), toy, Linker(toy))
    node = subgraph.labels.index("dig")
    assert subgraph.roles[node] == NodeRole.CHOICE
    assert {link.part for link in subgraph.links if link.node == node} == {
        NodeRole.QUESTION,
        NodeRole.PASSAGE,
        NodeRole.CHOICE,
    }


def test_facts_are_all_facts_among_the_nodes(toy):
    subgraph = one(toy, Question(ASK, passage=HOUSE), max_nodes=10)
    kept = {node: i for i, node in enumerate(subgraph.nodes)}
    everything = toy.edges()
    expected = {
        (kept[h], toy.relations[r].name, kept[t])
        for h, r, t in zip(
            toy.names(everything.head), everything.relation, toy.names(everything.tail), strict=True
        )
        if h in kept and t in kept
    }
    found = [(h, subgraph.relations[r].name, t) for h, r, t in subgraph.edges.tolist()]
    assert set(found) == expected and len(found) == len(expected)
    assert subgraph.edges.dtype == np.int32 and subgraph.weights.shape == (len(found),)
    assert len(subgraph.relations) == len({r for _, r, _ in found})


def test_one_subgraph_a_choice_and_few_questions_to_the_graph(toy):
    subgraphs = retrieve_subgraphs(
        Question(ASK, ("a trowel", "an excavator", "zzz", ""), HOUSE), toy, Linker(toy)
    )
    assert len(subgraphs) == 4
    assert toy.asked.count("find") == toy.asked.count("labels") == 1
    assert toy.asked.count("neighbours") + toy.asked.count("facts_among") <= 3
    assert [NodeRole.CHOICE in s.roles for s in subgraphs] == [True, True, False, False]
    assert all("dig" in s.labels for s in subgraphs)
    bridge = subgraphs[1]
    assert "dig the foundation" in bridge.labels


@pytest.mark.parametrize("max_nodes", [1, 2, 5, 12])
def test_the_cut_holds(toy, max_nodes):
    for subgraph in retrieve_subgraphs(
        Question(ASK, ("a trowel", "an excavator"), HOUSE), toy, Linker(toy), max_nodes=max_nodes
    ):
        assert len(subgraph.nodes) <= max_nodes
        assert NodeRole.CHOICE in subgraph.roles
        assert len(subgraph.edges) == 0 or subgraph.edges[:, [0, 2]].max() < len(subgraph.nodes)
        assert all(link.node < len(subgraph.nodes) for link in subgraph.links)


def test_a_long_passage_leaves_room_for_the_answer(graph_of):
    facts = [(f"thing{i}", "IsA", "object") for i in range(40)] + [("dig", "HasInstrument", "spade")]
    passage = Passage(" and ".join(f"thing{i}" for i in range(40)))
    graph = graph_of(facts)
    (subgraph,) = retrieve_subgraphs(
        Question("What do I dig with?", passage=passage), graph, Linker(graph), max_nodes=20
    )
    assert "spade" in subgraph.labels and "dig" in subgraph.labels


def test_nothing_known_gives_an_empty_subgraph(toy):
    subgraph = one(toy, Question("Xyzzy?"))
    assert subgraph.nodes == () and subgraph.edges.shape == (0, 3) and subgraph.roles.dtype == np.int32


def test_it_is_deterministic(toy):
    def output():
        return [
            (s.nodes, s.scores.tolist(), s.edges.tolist(), s.links)
            for s in retrieve_subgraphs(
                Question(ASK, ("a trowel", "spade"), HOUSE), toy, Linker(toy), max_nodes=9
            )
        ]

    assert output() == output()


def test_relevance_is_heard(toy):
    def love_hammers(text, labels):
        assert "dug" in text and "dig" in text
        return np.array([label == "hammer" for label in labels], dtype=np.float32)

    subgraph = one(toy, Question(ASK, passage=HOUSE), relevance=love_hammers)
    assert others(subgraph)[0] == "hammer"


def test_a_bad_bound_is_said_in_one_line(toy):
    with pytest.raises(InputError, match="max_nodes=0") as error:
        retrieve_subgraphs(Question(ASK), toy, Linker(toy), max_nodes=0)
    assert "\n" not in str(error.value)


def test_a_choice_is_found_among_half_as_many() -> None:
    from kgqa.graph.retrieval.subgraph import node_budget

    assert node_budget(Question("what"), 100) == 100
    assert node_budget(Question("what", ("a", "b")), 100) == 50


# What is asked about by its name is answered by its facts, however much else the words of the question touch.


def crowd() -> GraphStore:
    """A house that thousands of facts touch, and a lady of whom two are told."""
    facts = [Triple("house", "http://x/has", f"room {i}") for i in range(5_000)]
    facts += [Triple("live", "http://x/at", f"room {i}") for i in range(0, 5_000, 2)]
    facts += [
        Triple("x:senna", "http://x/memberOf", "x:brine"),
        Triple("x:brine", "http://x/hasSigil", "x:fish"),
    ]
    facts += [Triple("x:brine", "http://x/feared", f"room {i}") for i in range(200)]
    labels = [("senna", "Lady Senna"), ("brine", "House Brine"), ("fish", "silver herring")]
    return GraphStore.from_triples(facts, [Label(f"x:{name}", text) for name, text in labels])


def test_two_facts_from_a_name() -> None:
    graph = crowd()
    question = Question("What is the sigil of the house where Lady Senna may live?")
    (subgraph,) = retrieve_subgraphs(question, graph, Linker(graph), max_nodes=40)
    assert {"Lady Senna", "House Brine", "silver herring"} <= set(subgraph.labels)
    assert len(subgraph.nodes) <= 40


def test_words_of_relations_in_the_question() -> None:
    relations = [Relation("a", "designed by"), Relation("b", "has sigil"), Relation("c", "located at")]
    assert word_overlap("Who designed the sigil?", relations).tolist() == [1.0, 1.0, 0.0]

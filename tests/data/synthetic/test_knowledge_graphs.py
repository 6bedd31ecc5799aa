from collections import Counter

from kgqa.data.synthetic.knowledge_graphs import SyntheticGraph, synthetic_graphs
from kgqa.graph.linking.label_keys import default_label


def test_a_seed_makes_the_same_worlds_again() -> None:
    assert (
        list(synthetic_graphs(3, seed=1))
        == list(synthetic_graphs(3, seed=1))
        != list(synthetic_graphs(3, seed=2))
    )


def test_gold_answers_are_ends_of_facts() -> None:
    for world in synthetic_graphs(20, seed=0):
        ends = {default_label(end) for fact in world.triples for end in (fact.head, fact.tail)}
        for example in world.examples:
            assert set(example.concepts) <= ends, example
            assert bool(example.concepts) == (example.kind != "unanswerable")


def test_every_kind_of_question_is_asked() -> None:
    kinds = Counter(example.kind for world in synthetic_graphs(40, seed=0) for example in world.examples)
    asked = {"one-hop", "reverse", "two-hop", "literal", "several", "with-passage", "unanswerable"}
    assert set(kinds) == asked
    assert min(kinds.values()) > 10


def test_values_are_stored_as_graphs_have_them() -> None:
    tails = {fact.tail for world in synthetic_graphs(40, seed=0) for fact in world.triples}
    for datatype in ("date", "gYear", "integer", "decimal"):
        assert any(tail.endswith(f"#{datatype}>") for tail in tails), datatype
    shown = {
        answer for world in synthetic_graphs(40, seed=0) for e in world.examples for answer in e.concepts
    }
    assert not any(answer.startswith('"') for answer in shown)


def test_some_questions_share_no_letters_with_the_relation_they_ask_for() -> None:
    apart = asked = 0
    for world in synthetic_graphs(30, seed=5):
        of_end = {default_label(f.tail): f for f in world.triples} | {f.head: f for f in world.triples}
        for example in world.examples:
            if example.kind == "literal" and (fact := of_end.get(example.concepts[0])):
                asked += 1
                words = {word[:4] for word in fact.relation.lower().split() if len(word) > 3}
                apart += not any(word in example.question.text.lower() for word in words)
    assert apart > 0.3 * asked > 5


def test_two_facts_are_asked_for_in_several_ways() -> None:
    texts = [
        e.question.text
        for world in synthetic_graphs(60, seed=2)
        for e in world.examples
        if e.kind == "two-hop"
    ]
    for form in ("the person who ", " that ", " of ", "'s "):
        assert any(form in text for text in texts), form


def test_a_one_hop_answer_is_joined_with_what_was_asked_about() -> None:
    for world in synthetic_graphs(20, seed=3):
        for example in world.examples:
            if example.kind == "one-hop":
                assert any(_joins(world, example.question.text, answer) for answer in example.concepts), (
                    example
                )


def _joins(world: SyntheticGraph, asked: str, answer: str) -> bool:
    text = asked.lower()
    return any(
        (fact.head == answer and fact.tail.lower() in text)
        or (fact.tail == answer and fact.head.lower() in text)
        for fact in world.triples
    )

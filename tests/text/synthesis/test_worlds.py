from collections import Counter

from kgqa.text.synthesis.worlds import World, worlds


def test_a_seed_makes_the_same_worlds_again() -> None:
    assert list(worlds(3, seed=1)) == list(worlds(3, seed=1)) != list(worlds(3, seed=2))


def test_gold_answers_are_ends_of_facts() -> None:
    for world in worlds(20, seed=0):
        ends = {end for fact in world.triples for end in (fact.head, fact.tail)}
        for example in world.examples:
            assert set(example.concepts) <= ends, example
            assert bool(example.concepts) == (example.kind != "unanswerable")


def test_every_kind_of_question_is_asked() -> None:
    kinds = Counter(example.kind for world in worlds(40, seed=0) for example in world.examples)
    assert set(kinds) == {"one-hop", "reverse", "two-hop", "literal", "with-passage", "unanswerable"}
    assert min(kinds.values()) > 10


def test_a_one_hop_answer_is_joined_with_what_was_asked_about() -> None:
    for world in worlds(20, seed=3):
        for example in world.examples:
            if example.kind == "one-hop":
                assert any(_joins(world, example.question.text, answer) for answer in example.concepts), example


def _joins(world: World, asked: str, answer: str) -> bool:
    text = asked.lower()
    return any(
        (fact.head == answer and fact.tail.lower() in text) or (fact.tail == answer and fact.head.lower() in text)
        for fact in world.triples
    )

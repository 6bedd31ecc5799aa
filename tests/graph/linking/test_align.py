import itertools

import pytest

from kgqa.graph.storage.store import GraphStore
from kgqa.trainer.data.generated import GAP, aligned
from kgqa.types import Triple

TOOLS = ("trowel", "spade", "rake", "hoe", "fork", "excavator")
SENTENCES = [
    "She took a trowel from the shed for digging holes in the bed.",
    "With the spade he was quick at digging holes all day long.",
    "Too short.",
    "Nobody in this sentence of nine words has any tool.",
]


@pytest.fixture(scope="module")
def graph() -> GraphStore:
    facts = [Triple(tool, "UsedFor", "digging holes") for tool in TOOLS]
    return GraphStore.from_triples([*facts, Triple("trowel", "RelatedTo", "spade")], name="tools")


def test_the_hidden_end_is_the_right_choice(graph: GraphStore) -> None:
    made = list(aligned(graph, SENTENCES, count=10))
    assert len(made) == 2
    for example, tool in zip(made, ("trowel", "spade"), strict=True):
        text, choices = example.question.text, example.question.choices
        assert choices[example.choice] == tool and tool not in text and GAP in text
        assert len(set(choices)) == 5 and set(choices) <= set(TOOLS)


def test_a_fact_is_asked_twice_at_most_and_a_seed_gives_the_same(graph: GraphStore) -> None:
    made = list(aligned(graph, SENTENCES * 5, count=10, seed=3))
    assert len(made) == 4
    assert made == list(aligned(graph, SENTENCES * 5, count=10, seed=3))
    assert list(aligned(graph, itertools.cycle(SENTENCES), count=1, seed=3)) == made[:1]


def test_few_rivals_make_no_question(graph: GraphStore) -> None:
    assert list(aligned(graph, SENTENCES, count=10, choices=7)) == []

"""What kind of thing a question asks for."""

from __future__ import annotations

import numpy as np
import pytest

from kgqa.graph.linking.linker import Linker
from kgqa.graph.retrieval.kinds_asked import kind_likelihood
from kgqa.graph.retrieval.retrieval import retrieve
from kgqa.graph.storage.store import GraphStore
from kgqa.graph.storage.writer import write_store
from kgqa.types import Label, Question, Triple

KINDS = ("clothing", "feeling", "person", "place", "tool")


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What did she dig with?", "tool"),
        ("Where was he?", "place"),
        ("Who did it?", "person"),
        ("How did they feel?", "feeling"),
        ("What did he put on his head? What did he wear?", "clothing"),
        ("그는 어디에 있었을까?", "place"),
        ("누가 도왔을까?", "person"),
    ],
)
def test_the_words_of_a_question_tell_the_kind_of_its_answer(question: str, kind: str) -> None:
    found = kind_likelihood(question, KINDS, np.arange(5, dtype=np.int32))
    assert KINDS[int(found.argmax())] == kind
    assert found.max() > 0 > found.min()


def test_unknown_words_and_unknown_kinds_tell_nothing() -> None:
    assert not kind_likelihood("xyzzy", KINDS, np.arange(5, dtype=np.int32)).any()
    found = kind_likelihood("Where was he?", KINDS, np.array([3, -1, 2], dtype=np.int32))
    assert found[1] == 0 and found[0] > 0 > found[2]
    assert kind_likelihood("Where was he?", KINDS, np.zeros(0, dtype=np.int32)).shape == (0,)


def test_what_is_of_the_kind_asked_for_is_retrieved_first(tmp_path) -> None:  # type: ignore[no-untyped-def]
    facts = [Triple("bread", "goes with", thing) for thing in ("cook", "oven", "kitchen", "joy")]
    facts += [Triple("bread", "goes with", f"thing {number}") for number in range(20)]
    names = sorted({end for fact in facts for end in (fact.head, fact.tail)})
    kinds = {"cook": "person", "oven": "tool", "kitchen": "place", "joy": "feeling"}
    store = tmp_path / "store"
    write_store([*facts, *(Label(name, name) for name in names)], store, kinds=kinds)
    graph = GraphStore.open(store)
    assert graph.kind_names == ("feeling", "person", "place", "tool")
    told = graph.kinds(graph.ids(["kitchen", "thing 3"]))
    assert told.tolist() == [2, -1]
    linker = Linker(graph)
    for question, first in (("Where is the bread?", "kitchen"), ("Who has the bread?", "cook")):
        (subgraph,) = retrieve(Question(question), graph, linker, max_nodes=4)
        assert first in subgraph.labels

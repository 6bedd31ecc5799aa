import numpy as np

from kgqa.data.synthetic.passages import Facts
from kgqa.types import Edges, Ints, Relation

LABELS = ["plant flowers", "trowel", "bat (animal)", "cave", "dig a hole", "water"]


class Graph:
    name, hash, entity_count = "toy", "0", len(LABELS)
    relations = [
        Relation("http://x/HasInstrument", ""),
        Relation("AtLocation", ""),
        Relation("rel:UsedFor", ""),
    ]

    def neighbours(self, entities: Ints, limit: int | None = None) -> Edges:
        rows = np.array([[0, 0, 1], [2, 1, 3], [1, 2, 4], [1, 2, 0]], dtype=np.int32)
        return Edges(rows[:, 0], rows[:, 1], rows[:, 2], np.array([2, 1, 1, 1], dtype=np.float32))

    def labels(self, entities: Ints) -> list[str]:
        return [LABELS[e] for e in entities]


def test_facts_by_relation() -> None:
    facts = Facts(Graph())  # type: ignore[arg-type]
    at = facts.texts.index
    assert facts.tails(at("plant flowers"), "HasInstrument") == {at("trowel"): 2.0}
    assert facts.tails(at("trowel"), "~HasInstrument") == {at("plant flowers"): 2.0}
    assert facts.tails(at("cave"), "HasInstrument") == {}
    assert "bat" in facts.texts and "bat (animal)" in facts.labels
    assert (facts.verb(at("plant flowers")), facts.verb(at("cave"))) == ("plant", "")


def test_held_out_is_decided_by_the_label() -> None:
    facts = Facts(Graph())  # type: ignore[arg-type]
    assert [facts.is_dev(i) for i in range(5)] == [facts.is_dev(i) for i in range(5)]

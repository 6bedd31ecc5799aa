"""A small graph for tests of ways: a ship's captain, where he lives, and what kind of thing it is."""

import numpy as np

from kgqa.types import Link, NodeRole, Relation, Subgraph

LABELS = ("Gull", "Ada Moss", "Port Ellin", "ship", "1902", "person")
RELATIONS = (
    Relation("captain", "captain", "has captain"),
    Relation("home", "home", "lives in"),
    Relation("type", "is a", "is a"),
    Relation("launched", "launched", "was launched in"),
)
FACTS = ((0, 0, 1), (1, 1, 2), (0, 2, 3), (0, 3, 4), (1, 2, 5))


def graph(*mentioned: tuple[int, int, int]) -> Subgraph:
    """The subgraph of a question that mentions nodes at character ranges."""
    roles = np.full(len(LABELS), int(NodeRole.OTHER), dtype=np.int32)
    for node, _, _ in mentioned:
        roles[node] = int(NodeRole.QUESTION)
    names = tuple(f'"{label}"' if label.isdigit() else label for label in LABELS)
    return Subgraph(
        names,
        LABELS,
        roles,
        np.full(len(LABELS), 0.5, dtype=np.float32),
        np.array(FACTS, dtype=np.int32),
        np.ones(len(FACTS), dtype=np.float32),
        RELATIONS,
        tuple(Link(NodeRole.QUESTION, start, end, node) for node, start, end in mentioned),
    )


def said(question: str, *names: str) -> Subgraph:
    places = [(LABELS.index(name), question.index(name), question.index(name) + len(name)) for name in names]
    return graph(*places)
